"""The `.index`, `.timeindex` and `.txnindex` files.

Offset index: 8 bytes an entry, int32 offset relative to the segment's base, int32 position. Time index: 12 bytes, int64
timestamp, int32 relative offset. Transaction index: 34 bytes, int16 version 0, int64 producer id, first offset, last
offset, last stable offset. A running Kafka keeps the first two preallocated and zero-filled behind the last entry, so
reading stops where entries stop ascending.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from odradek.protocol.errors import CorruptDataError

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
