"""Reading a coordinator's log, and replaying it into a fresh machine a slice at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from odradek.broker.coordinator.machine import LogRecord, Machine, NewRecord, Producer
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch, parse_control_record
from odradek.protocol.record_batch import RecordBatch, build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partition import Partition

SLICE_BYTES = 128 * 1024
"""How much of the log is replayed without a break: a few milliseconds' worth."""


class Journal(Protocol):
    """The log partition as a shard sees it."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get."""

    @property
    def leader_epoch(self) -> int:
        """Grows with each change of the partition's leader."""

    @property
    def max_batch_bytes(self) -> int:
        """The largest batch the partition takes."""

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> int:
        """Append one batch; returns the offset of its first record. Raises `KafkaError`, then nothing is written."""

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """Append a transaction marker; returns its offset."""

    def slices(self) -> Iterator[Iterator[RecordBatch]]:
        """All batches from the start of the log to its end, in slices of about `SLICE_BYTES`.

        The end is looked at before each slice: what is appended while a reader is under way is read too.
        """


class PartitionJournal:
    """A partition of this broker as a journal."""

    def __init__(self, partition: Partition, *, base_sequence: int = -1) -> None:
        self._partition = partition
        self._base_sequence = base_sequence

    @property
    def end_offset(self) -> int:
        """See `Journal`."""
        return self._partition.log.log_end_offset

    @property
    def leader_epoch(self) -> int:
        """See `Journal`."""
        return self._partition.leader_epoch

    @property
    def max_batch_bytes(self) -> int:
        """See `Journal`."""
        return self._partition.log.config.max_message_bytes

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> int:
        """See `Journal`."""
        batch = build_coordinator_batch(records, now_ms, producer, self._base_sequence)
        return self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).base_offset

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """See `Journal`."""
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        return self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).base_offset

    def slices(self) -> Iterator[Iterator[RecordBatch]]:
        """See `Journal`."""
        log = self._partition.log
        position = log.log_start_offset
        while position < log.log_end_offset:
            parts = log.read(position, max_bytes=SLICE_BYTES, up_to_offset=log.log_end_offset).parts
            batches = [batch for part in parts for batch in iter_batches(part)]
            if not batches:
                return
            position = batches[-1].next_offset
            yield iter(batches)


def build_coordinator_batch(
    records: Sequence[NewRecord], now_ms: int, producer: Producer | None, base_sequence: int
) -> bytes:
    """One record batch as a coordinator writes it: transactional when it is written in the name of a producer."""
    entries = [Record(i, now_ms, key, value) for i, (key, value) in enumerate(records)]
    if producer is None:
        return build_batch(entries, base_sequence=base_sequence)
    return build_batch(
        entries, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=base_sequence, transactional=True
    )


def load(journal: Journal, machine: Machine) -> Iterator[int]:
    """Replay the whole log into ``machine``; a generator that pauses after each slice and yields the next offset."""
    replay = machine.replay
    for batches in journal.slices():
        position = 0
        for batch in batches:
            _replay_batch(batch, machine, replay)
            position = batch.next_offset
        yield position


def _replay_batch(batch: RecordBatch, machine: Machine, replay: Callable[[LogRecord], None]) -> None:
    if batch.is_control:
        for record in batch.records():
            marker = parse_control_record(record)
            if isinstance(marker, EndTxnMarker):
                machine.replay_marker(batch.producer_id, batch.producer_epoch, marker.commit)
        return
    transactional = batch.is_transactional
    producer_id = batch.producer_id if transactional else -1
    producer_epoch = batch.producer_epoch if transactional else -1
    for offset, _, key, value, _ in batch.records():
        if key is not None:
            replay(LogRecord(key, value, offset, producer_id, producer_epoch))
