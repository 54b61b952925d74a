"""Batches as they lie in a `.log` file, read by the rules of Kafka's own file reader.

A file is read more leniently than a request: a batch with a valid length and checksum is accepted. A magic above 2 is
read as format 2, since neither of them covers the magic. The caller checks the checksum (`RecordBatch.is_crc_valid`).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

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
