"""Control records: the markers that end a transaction on a partition.

Key: int16 version 0, int16 type (0 abort, 1 commit). Value of an end-transaction marker: int16 version 0, int32
coordinator epoch. Source: KIP-98.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from odradek.protocol.record_batch import CONTROL_FLAG, NO_SEQUENCE, TRANSACTIONAL_FLAG, RecordBatch, assemble
from odradek.protocol.records import InvalidRecordError, Record, encode_records, iter_records

_KEY = struct.Struct(">hh")
_VALUE = struct.Struct(">hi")
_MARKER_FLAGS = TRANSACTIONAL_FLAG | CONTROL_FLAG


class ControlRecordType(IntEnum):
    """The type in a control record's key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTxnMarker(NamedTuple):
    """The end of a transaction: committed or aborted, and the epoch of the coordinator that wrote it."""

    commit: bool
    coordinator_epoch: int


def end_txn_record(marker: EndTxnMarker, timestamp: int) -> Record:
    """The marker as a record (offset 0)."""
    kind = ControlRecordType.COMMIT if marker.commit else ControlRecordType.ABORT
    return Record(0, timestamp, _KEY.pack(0, kind), _VALUE.pack(0, marker.coordinator_epoch))


def build_end_txn_batch(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = 0,
) -> bytes:
    """The control batch (TRANSACTIONAL and CONTROL bits, no sequence) that ends a producer's transaction."""
    header = (_MARKER_FLAGS, 0, timestamp, timestamp, producer_id, producer_epoch, NO_SEQUENCE, 1)
    return assemble(base_offset, leader_epoch, header, _marker_body(marker))


@lru_cache(maxsize=64)
def _marker_body(marker: EndTxnMarker) -> bytes:
    """The record of a marker. Its offset and timestamp are those of the batch, so all of a coordinator are alike."""
    return encode_records([end_txn_record(marker, 0)], 0, 0)


def read_end_txn_batch(batch: RecordBatch) -> EndTxnMarker | None:
    """The marker in a control batch; None for control records of another type, and where compaction left none.

    Raises InvalidRecordError or CompressionError on malformed data.
    """
    return _read_marker_body(bytes(batch.body()), batch.record_count)


@lru_cache(maxsize=64)
def _read_marker_body(body: bytes, record_count: int) -> EndTxnMarker | None:
    """Markers of one coordinator have the same bytes."""
    return next(map(parse_control_record, iter_records(body, record_count, 0, 0)), None)


def control_record_type(record: Record) -> int:
    """The type number of a control record (it may be one that this release does not know)."""
    key = record.key
    if key is None or len(key) < _KEY.size:
        raise InvalidRecordError("a control record's key is shorter than four bytes")
    return int(_KEY.unpack_from(key)[1])


def parse_control_record(record: Record) -> EndTxnMarker | None:
    """Decode an end-transaction marker; None for a control record of another type."""
    kind = control_record_type(record)
    if kind not in (ControlRecordType.ABORT, ControlRecordType.COMMIT):
        return None
    value = record.value
    if value is None or len(value) < _VALUE.size:
        raise InvalidRecordError("an end-transaction marker's value is shorter than six bytes")
    return EndTxnMarker(kind == ControlRecordType.COMMIT, _VALUE.unpack_from(value)[1])
