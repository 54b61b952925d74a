"""A partition of this broker as the journal of a coordinator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from odradek.broker.runtime.coordinator_batch import GrowingBatch, build_coordinator_batch, split, stored
from odradek.broker.runtime.held_appends import HeldAppends
from odradek.broker.runtime.loader import SLICE_BYTES, load
from odradek.broker.runtime.machine import Machine, Producer
from odradek.broker.runtime.records import LogRecord, NewRecord
from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import Buffer
from odradek.storage.partition_log import AppendOrigin

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition

_LARGEST_HELD: Final = 16 * 1024
"""Bytes of a batch of held appends."""
_NO_BATCH: Final = GrowingBatch(0, 0, 0)


class PartitionJournal:
    """A partition of this broker as a journal.

    `_batch`: what is held back, while `Partition.held` is this journal. `_request`: the number of the request that has
    put the latest into it.
    """

    def __init__(
        self,
        partition: Partition,
        *,
        base_sequence: int = -1,
        keyed: bool = True,
        held_appends: HeldAppends | None = None,
    ) -> None:
        """`keyed`: of the records of one key only the last one counts. A log that stores changes is not.

        `held_appends`: tells when appends may be held back; never without it.
        """
        self._partition = partition
        self._base_sequence = base_sequence
        self._keyed = keyed
        self._held_appends = held_appends or HeldAppends()
        self._batch = _NO_BATCH
        self._request = -1

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
        if self._held_appends.in_turn and producer is None:
            offset = self._hold(records, now_ms)
            if offset >= 0:
                return stored(records, offset, None)
        batch = build_coordinator_batch(records, now_ms, producer, self._base_sequence)
        info = self._partition.append(batch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
        return stored(records, info.base_offset, producer)

    def _hold(self, records: Sequence[NewRecord], now_ms: int) -> int:
        """Hold records back; returns the offset that the first one is going to get, -1 if they have to be appended."""
        partition = self._partition
        request = self._held_appends.request
        is_other_request = self._request != request
        self._request = request
        if is_other_request and partition.held is self:
            offset = self._batch.add(records, now_ms)
            if offset >= 0:
                return offset
        if not partition.may_hold:
            return -1
        log = partition.log
        limit = min(_LARGEST_HELD, log.config.max_message_bytes, log.config.segment_bytes)
        batch = GrowingBatch(log.log_end_offset, now_ms, limit)
        offset = batch.add(records, now_ms)
        if offset >= 0:
            self._batch = batch
            partition.held = self
            self._held_appends.note(partition)
        return offset

    def write(self) -> None:
        """See `HoldsRecords`."""
        batch, self._batch = self._batch, _NO_BATCH
        data = batch.built(self._base_sequence)
        info = self._partition.append(data, now_ms=batch.now_ms, origin=AppendOrigin.COORDINATOR)
        assert info.base_offset == batch.base_offset, "nobody appends while records are held back"

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
