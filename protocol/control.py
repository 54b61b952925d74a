"""Control records: the markers that end a transaction on a partition, and what they mean for readers.

Key: int16 version 0, int16 type (0 abort, 1 commit). Value of an end-transaction marker: int16 version 0, int32
coordinator epoch. Source: KIP-98.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

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


# -- The filter of a read_committed reader: it skips the data of aborted transactions, by the rule of Kafka's consumer.
#
# A transaction is on from its first offset until its producer's next abort marker. All transactional data of the
# producer in between is aborted. Source: KIP-98.


T = TypeVar("T", bound=tuple[Any, ...])


class AbortedTransactions(Generic[T]):
    """The aborted transactions of a range of a log, followed while its batches are read in order.

    An entry is a tuple that begins with the producer id and the transaction's first offset.
    """

    __slots__ = ("_ahead", "on")

    def __init__(self, entries: Iterable[T]) -> None:
        self._ahead = sorted(entries, key=_first_offset, reverse=True)
        self.on: dict[int, T] = {}
        """The transactions that are on at the batch read last, by producer id."""

    def begin_up_to(self, offset: int) -> None:
        """Take up the transactions whose first offset is `offset` or smaller."""
        while self._ahead and self._ahead[-1][1] <= offset:
            entry = self._ahead.pop()
            self.on[entry[0]] = entry

    def hide(self, batch: RecordBatch) -> bool:
        """Whether the batch is aborted data. To be called with every batch, markers too."""
        if not batch.has_producer_id:
            return False
        self.begin_up_to(batch.last_offset)
        if batch.is_control:
            if self.on and is_abort_marker(batch):
                self.on.pop(batch.producer_id, None)
            return False
        return batch.is_transactional and batch.producer_id in self.on


def committed_batches(batches: Iterable[RecordBatch], aborted: Iterable[tuple[int, int]]) -> Iterator[RecordBatch]:
    """The batches without aborted data; markers stay.

    `aborted`: (producer id, first offset) of each aborted transaction with records in the batches, as in the answer to
    a fetch.
    """
    transactions = AbortedTransactions(aborted)
    return (batch for batch in batches if not transactions.hide(batch))


def is_abort_marker(batch: RecordBatch) -> bool:
    """Whether a control batch is the marker of an aborted transaction."""
    first = next(batch.records(), None)
    return first is not None and control_record_type(first) == ControlRecordType.ABORT


def _first_offset(entry: tuple[Any, ...]) -> int:
    return int(entry[1])
