"""Producer snapshots: the `.snapshot` files beside the segments.

Version 1, the one that Kafka 4.4.0 writes: int16 version, uint32 CRC-32C of what follows it, int32 count, then 48 bytes
a producer: id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, first offset of the open
transaction (-1: none). Only the last batch of a producer is kept, so after a restart only that one is recognised as a
duplicate, as in Kafka.
"""

from __future__ import annotations

import struct

from odradek.protocol.checksum import crc32c
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import NO_SEQUENCE
from odradek.storage.producer_state import BatchMetadata, ProducerState, ProducerStates

_HEAD = struct.Struct(">hIi")
_ENTRY = struct.Struct(">qhiqiqiq")
_CRC_END = 6
_VERSION = 1


class SnapshotFormatError(CorruptDataError):
    """The bytes are no valid producer snapshot; the text says why."""


def format_snapshot(producers: ProducerStates) -> bytes:
    """All producers of a partition as the bytes of a `.snapshot` file."""
    entries = b"".join(_entry(state) for state in producers)
    body = struct.pack(">i", len(producers)) + entries
    return struct.pack(">hI", _VERSION, crc32c(body)) + body


def _entry(state: ProducerState) -> bytes:
    last = state.batches[-1] if state.batches else None
    first = state.current_txn_first_offset
    return _ENTRY.pack(
        state.producer_id,
        state.producer_epoch,
        state.last_sequence,
        state.last_data_offset,
        last.last_offset - last.base_offset if last else 0,
        state.last_timestamp,
        state.coordinator_epoch,
        -1 if first is None else first,
    )


def parse_snapshot(data: bytes) -> list[ProducerState]:
    """The producers of a `.snapshot` file, in its order."""
    if len(data) < _HEAD.size:
        raise SnapshotFormatError(f"{len(data)} bytes are too few for a snapshot")
    version, crc, count = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise SnapshotFormatError(f"snapshot version {version} is not {_VERSION}")
    if crc32c(memoryview(data)[_CRC_END:]) != crc:
        raise SnapshotFormatError("the checksum does not match")
    if len(data) != _HEAD.size + count * _ENTRY.size:
        raise SnapshotFormatError(f"{count} producers do not fill {len(data)} bytes")
    return [_state(entry) for entry in _ENTRY.iter_unpack(memoryview(data)[_HEAD.size :])]


def _state(entry: tuple[int, ...]) -> ProducerState:
    producer_id, epoch, last_sequence, last_offset, delta, timestamp, coordinator_epoch, first = entry
    state = ProducerState(producer_id)
    state.producer_epoch = epoch
    state.coordinator_epoch = coordinator_epoch
    state.last_timestamp = timestamp
    state.current_txn_first_offset = None if first < 0 else first
    if last_offset >= 0 and last_sequence != NO_SEQUENCE:
        first_sequence = _first_sequence(last_sequence, delta)
        state.batches.append(BatchMetadata(first_sequence, last_sequence, last_offset - delta, last_offset, timestamp))
    return state


def _first_sequence(last_sequence: int, delta: int) -> int:
    first = last_sequence - delta
    return first if first >= 0 else first + (1 << 31)
