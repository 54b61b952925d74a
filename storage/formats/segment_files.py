"""The files of a segment: their names, their batches, their indexes.

The names are Kafka's: the base offset in 20 digits, then `.log`, `.index`, `.timeindex` or `.txnindex`; `.snapshot` for
the producer state at an offset. `.cleaned` stands behind it while compaction writes, `.swap` while it swaps, `.deleted`
until the file is removed.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from odradek.protocol.errors import CorruptDataError, ErrorCode
from odradek.protocol.record_batch import (
    HEADER_SIZE,
    LEGACY_MIN_LENGTH,
    LOG_OVERHEAD,
    CorruptBatchError,
    RecordBatch,
    read_batch,
)
from odradek.protocol.records import Buffer

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TXN_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
INDEXES = (OFFSET_INDEX, TIME_INDEX, TXN_INDEX)
SEGMENT_PARTS = (*INDEXES, LOG)
"""The files of a segment in the order of renaming: the `.log` comes last, so it shows whether a rename was complete."""

CLEANED = ".cleaned"
SWAP = ".swap"
DELETED = ".deleted"

_NAME = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.cleaned|\.swap|\.deleted)?")


def file_name(offset: int, kind: str, suffix: str = "") -> str:
    """The name of a segment's file: a kind (LOG, ...) and optionally CLEANED, SWAP or DELETED."""
    return f"{offset:020d}{kind}{suffix}"


def parse_file_name(name: str) -> tuple[int, str, str] | None:
    """(offset, kind, suffix or ""), or None for a file that belongs to no segment."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), match[2], match[3] or "") if match else None


# -- Batches as they lie in a `.log` file, read by the rules of Kafka's own file reader.
#
# A file is read more leniently than a request: a batch with a valid length and checksum is accepted. A magic above 2
# is read as format 2, since neither of them covers the magic. The caller checks the checksum
# (`RecordBatch.is_crc_valid`).

_LENGTH_CRC_MAGIC = struct.Struct(">8xiIb")
"""The first fields of formats 0 and 1: offset, length, CRC-32 of everything after it, magic. Format 2 has length and
magic at the same places.
"""
_LEGACY_CRC_FROM = 16


class OldFormatError(CorruptDataError):
    """An undamaged batch of message format 0 or 1, as Kafka wrote it before 0.11. odradek cannot serve it."""

    code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT


def stored_batch_at(data: Buffer, position: int) -> RecordBatch | None:
    """The batch at a byte position of a `.log` file; None when no whole batch is left there.

    Raises CorruptBatchError for a length that no batch can have, OldFormatError for an older message format.
    """
    left = len(data) - position
    if left <= _LENGTH_CRC_MAGIC.size:
        return None
    length, crc, magic = _LENGTH_CRC_MAGIC.unpack_from(data, position)
    if length < LEGACY_MIN_LENGTH:
        raise CorruptBatchError(f"the batch at position {position} claims {length} bytes")
    end = position + LOG_OVERHEAD + length
    if end > len(data):
        return None
    if magic < 2:
        if magic >= 0 and zlib.crc32(data[position + _LEGACY_CRC_FROM : end]) == crc:
            raise OldFormatError(f"the batch at position {position} is of message format {magic}")
        raise CorruptBatchError(f"the batch at position {position} has magic {magic} and a wrong checksum")
    if LOG_OVERHEAD + length < HEADER_SIZE:
        raise CorruptBatchError(f"the batch at position {position} is smaller than its header")
    return read_batch(data, position)


def stored_batches(data: Buffer, position: int = 0) -> Iterator[tuple[int, RecordBatch]]:
    """(position, batch) of the whole batches from a byte position on. Raises as `stored_batch_at` does."""
    while (batch := stored_batch_at(data, position)) is not None:
        yield position, batch
        position += batch.size_bytes


# -- The `.index`, `.timeindex` and `.txnindex` files.
#
# Offset index: 8 bytes an entry, int32 offset relative to the segment's base, int32 position. Time index: 12 bytes,
# int64 timestamp, int32 relative offset. Transaction index: 34 bytes, int16 version 0, int64 producer id, first
# offset, last offset, last stable offset. A running Kafka keeps the first two preallocated and zero-filled behind the
# last entry, so reading stops where entries stop ascending.

OFFSET_ENTRY = struct.Struct(">ii")
TIME_ENTRY = struct.Struct(">qi")
TXN_ENTRY = struct.Struct(">hqqqq")
TXN_INDEX_VERSION = 0


class IndexEntry(NamedTuple):
    """One entry of the offset index: a batch's last offset and its position."""

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """One entry of the time index: a largest timestamp so far and the last offset of the batch that has it."""

    timestamp: int
    offset: int


class AbortedTxn(NamedTuple):
    """One aborted transaction on a partition: first data offset, offset of its marker, LSO when it was written."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class IndexFormatError(CorruptDataError):
    """The bytes are no valid index; the text says why."""


def parse_offset_index(data: bytes, base_offset: int) -> list[IndexEntry]:
    """Entries with absolute offsets; the zero-filled rest of a preallocated file is left out."""
    entries: list[IndexEntry] = []
    last = (0, -1)
    whole = len(data) - len(data) % OFFSET_ENTRY.size
    for relative, position in OFFSET_ENTRY.iter_unpack(memoryview(data)[:whole]):
        if position <= last[1] or relative < last[0] or (position == 0 and relative == 0):
            break
        last = (relative, position)
        entries.append(IndexEntry(base_offset + relative, position))
    return entries


def parse_time_index(data: bytes, base_offset: int) -> list[TimeEntry]:
    """Entries with absolute offsets; the zero-filled rest of a preallocated file is left out."""
    entries: list[TimeEntry] = []
    last = -1
    whole = len(data) - len(data) % TIME_ENTRY.size
    for timestamp, relative in TIME_ENTRY.iter_unpack(memoryview(data)[:whole]):
        if timestamp < last or relative < 0 or (timestamp == 0 and relative == 0):
            break
        if timestamp > last:
            entries.append(TimeEntry(timestamp, base_offset + relative))
        last = timestamp
    return entries


def parse_txn_index(data: bytes) -> list[AbortedTxn]:
    """The aborted transactions of a `.txnindex` file; IndexFormatError for anything else."""
    if len(data) % TXN_ENTRY.size:
        raise IndexFormatError(f"{len(data)} bytes are not a whole number of entries")
    entries: list[AbortedTxn] = []
    for number, (version, *fields) in enumerate(TXN_ENTRY.iter_unpack(data)):
        if version != TXN_INDEX_VERSION:
            raise IndexFormatError(f"entry {number} has version {version}")
        entry = AbortedTxn(*fields)
        if entries and entry.last_offset <= entries[-1].last_offset:
            raise IndexFormatError(
                f"entry {number} ends at offset {entry.last_offset}, as the one before it or earlier"
            )
        entries.append(entry)
    return entries
