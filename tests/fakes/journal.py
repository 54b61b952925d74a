"""A coordinator's log partition in a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from odradek.broker.runtime.journal import build_coordinator_batch, load, split, stored
from odradek.broker.runtime.machine import LogRecord, Machine, NewRecord, Producer
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch, parse_control_record
from odradek.protocol.errors import KafkaError
from odradek.protocol.record_batch import RecordBatch, assign_offsets, build_batch, parse_batch
from odradek.protocol.records import Record


class FakeJournal:
    """See `odradek.broker.runtime.machine.KeyedJournal`. ``refuse``: an error that the next appends raise."""

    def __init__(self) -> None:
        self.batches: list[RecordBatch] = []
        self.start_offset = 0
        self.end_offset = 0
        self.leader_epoch = 0
        self.apart = False
        self.max_batch_bytes = 1024 * 1024
        self.refuse: KafkaError | None = None
        self.batches_per_slice = 10
        self.on_append: Callable[[], None] | None = None

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> list[LogRecord]:
        return stored(records, self._put(build_coordinator_batch(records, now_ms, producer, 0)), producer)

    def split(self, records: Sequence[NewRecord]) -> Iterator[Sequence[NewRecord]]:
        return split(records, self.max_batch_bytes)

    def load(self, machine: Machine) -> Iterator[int]:
        return load(self, machine)

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        return self._put(
            build_end_txn_batch(
                EndTxnMarker(commit, coordinator_epoch),
                producer_id=producer.id,
                producer_epoch=producer.epoch,
                timestamp=now_ms,
            )
        )

    def _put(self, data: bytes) -> int:
        if self.refuse is not None:
            raise self.refuse
        placed = bytearray(data)
        assign_offsets(placed, self.end_offset, self.leader_epoch)
        batch = parse_batch(placed)
        self.batches.append(batch)
        first = self.end_offset
        self.end_offset = batch.next_offset
        if self.on_append is not None:
            self.on_append()
        return first

    def read(self, offset: int) -> Sequence[bytes]:
        later = [batch for batch in self.batches if batch.base_offset >= offset][: self.batches_per_slice]
        return [b"".join(bytes(batch.data) for batch in later)] if later else []

    def copy(self) -> FakeJournal:
        """Another journal with the same batches."""
        other = FakeJournal()
        other.batches = list(self.batches)
        other.end_offset = self.end_offset
        return other

    def compacted(self) -> FakeJournal:
        """Another journal as the log cleaner leaves it after the tombstones' time is over.

        Like the cleaner it stops before the first open transaction, drops what aborted, and treats what committed like
        anything else.
        """
        aborted, stable = self._transactions()
        last: dict[bytes, int] = {}
        for batch in self.batches:
            if batch.base_offset < stable and not batch.is_control and batch.base_offset not in aborted:
                last.update({record.key or b"": record.offset for record in batch.records()})
        other = FakeJournal()
        other.end_offset = self.end_offset
        for batch in self.batches:
            if batch.base_offset >= stable or batch.is_control:
                other.batches.append(batch)
            elif batch.base_offset not in aborted:
                kept = [r for r in batch.records() if last[r.key or b""] == r.offset and r.value is not None]
                if kept:
                    other.batches.append(_with_records(batch, kept))
        return other

    def _transactions(self) -> tuple[set[int], int]:
        """Base offsets of aborted batches, and where the first open transaction begins."""
        open_batches: dict[int, list[int]] = {}
        aborted: set[int] = set()
        for batch in self.batches:
            if batch.is_control:
                bases = open_batches.pop(batch.producer_id, [])
                marker = parse_control_record(next(iter(batch.records())))
                if marker is not None and not marker.commit:
                    aborted.update(bases)
            elif batch.is_transactional:
                open_batches.setdefault(batch.producer_id, []).append(batch.base_offset)
        firsts = [bases[0] for bases in open_batches.values()]
        return aborted, min(firsts, default=self.end_offset)


def _with_records(batch: RecordBatch, kept: list[Record]) -> RecordBatch:
    data = build_batch(
        kept,
        base_offset=batch.base_offset,
        keep_offsets=True,
        last_offset=batch.last_offset,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=0,
        transactional=batch.is_transactional,
    )
    return parse_batch(data)
