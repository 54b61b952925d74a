"""The filter of a read_committed reader: it skips the data of aborted transactions, by the rule of Kafka's consumer.

A transaction is on from its first offset until its producer's next abort marker. All transactional data of the producer
in between is aborted. Source: KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.record_batch import RecordBatch

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
