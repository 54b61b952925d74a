"""A partition of this broker as the journal of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from odradek.broker.runtime.coordinator_batch import build_coordinator_batch, split, stored
from odradek.broker.runtime.loader import SLICE_BYTES, load
from odradek.broker.runtime.machine import Machine, Producer
from odradek.broker.runtime.records import LogRecord, NewRecord
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import Buffer
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition


class PartitionJournal:
    """A partition of this broker as a journal."""

    def __init__(self, partition: Partition, *, base_sequence: int = -1, keyed: bool = True) -> None:
        """`keyed`: of the records of one key only the last one counts. A log that stores changes is not."""
        self._partition = partition
        self._base_sequence = base_sequence
        self._keyed = keyed

    @property
    def end_offset(self) -> int:
        """See `Journal`."""
        return self._partition.log.log_end_offset

    @property
    def leader_epoch(self) -> int:
        """See `Journal`."""
        return self._partition.leader_epoch

    @property
    def apart(self) -> bool:
        """See `Journal`."""
        return self._partition.replica_set is not None

    @property
    def committed_offset(self) -> int:
        """See `ReplicatedJournal`."""
        return self._partition.log.high_watermark

    def check_in_sync(self) -> None:
        """See `ReplicatedJournal`."""
        if self._partition.under_min_isr:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """See `ReplicatedJournal`."""
        from odradek.broker.partitions.waiters import Waiter

        waiter, waiters = Waiter(1 << 62, on_change), self._partition.waiters
        waiters.add(waiter)
        return lambda: waiters.discard(waiter)

    def append(self, records: Sequence[NewRecord], now_ms: int, producer: Producer | None) -> list[LogRecord]:
        """See `Journal`."""
        batch = build_coordinator_batch(records, now_ms, producer, self._base_sequence)
        info = self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
        return stored(records, info.base_offset, producer)

    def split(self, records: Sequence[NewRecord]) -> Iterator[Sequence[NewRecord]]:
        """See `Journal`."""
        return split(records, self._partition.log.config.max_message_bytes)

    def load(self, machine: Machine) -> Iterator[int]:
        """See `Journal`."""
        return load(self, machine, keyed=self._keyed)

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """See `KeyedJournal`."""
        marker = EndTxnMarker(commit, coordinator_epoch)
        batch = build_end_txn_batch(marker, producer_id=producer.id, producer_epoch=producer.epoch, timestamp=now_ms)
        return self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR).base_offset

    @property
    def start_offset(self) -> int:
        """See `KeyedJournal`."""
        return self._partition.log.log_start_offset

    def read(self, offset: int) -> Sequence[Buffer]:
        """See `KeyedJournal`."""
        log = self._partition.log
        return log.read(offset, max_bytes=SLICE_BYTES, up_to_offset=log.log_end_offset).parts
