"""The metadata log in memory: `__cluster_metadata-0` as the records that it consists of, and what a log must offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from odradek.broker.controller.machine import MAX_BATCH_RECORDS, StoredRecord
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.runtime.machine import Journal, Machine, Producer
from odradek.protocol.message import MetadataRecord


class MetadataLog(Journal[MetadataRecord, StoredRecord], Protocol):
    """The log behind the controller's shard. Offsets count records; each controller's time is an epoch.

    A snapshot stands for everything before its end offset, so the log may begin there.
    """

    @property
    def start_offset(self) -> int:
        """The first offset that is still in the log."""

    @property
    def kraft_version(self) -> int:
        """The level of `kraft.version`: 1 where the log itself names the voters (KIP-853)."""

    def begin_epoch(self, leader_id: int, now_ms: int) -> None:
        """A controller takes over: a higher epoch begins with a LeaderChangeMessage."""

    def take_snapshot_if_due(self, image: MetadataImage, copied: Callable[[], MetadataImage], now_ms: int) -> None:
        """Take a snapshot of `image` if the log has grown enough since the last one, and drop older snapshots and
        records. `copied` makes a copy that stays as it is.
        """


class Batch(NamedTuple):
    """Records that were written together."""

    base_offset: int
    epoch: int
    records: Sequence[MetadataRecord]


class MemoryMetadataLog:
    """See `MetadataLog`. Keeps the records themselves: nothing is encoded that nobody reads.

    `max_records`: so many behind the last snapshot make the next one due. One snapshot replaces the other.
    """

    apart = False

    def __init__(self, max_records: int = 200_000, kraft_version: int = 1) -> None:
        self.batches: list[Batch] = []
        self.snapshot: MetadataImage | None = None
        self.start_offset = 0
        self.end_offset = 0
        self.leader_epoch = 0
        self.kraft_version = kraft_version
        self._max_records = max_records

    def append(
        self, records: Sequence[MetadataRecord], now_ms: int, producer: Producer | None = None
    ) -> list[StoredRecord]:
        first, epoch = self.end_offset, self.leader_epoch
        self.batches.append(Batch(first, epoch, records))
        self.end_offset = first + len(records)
        return [StoredRecord(record, offset, epoch) for offset, record in enumerate(records, first)]

    def split(self, records: Sequence[MetadataRecord]) -> Iterator[Sequence[MetadataRecord]]:
        return runs(records)

    def load(self, machine: Machine) -> Iterator[int]:
        if self.snapshot is not None:
            # The records of a snapshot have no offsets in the log: all stand for the last one that it covers.
            from odradek.broker.metadata.snapshot import records_of

            for record in records_of(self.snapshot):
                machine.replay(StoredRecord(record, self.start_offset - 1, self.snapshot.epoch))
        for batch in self.batches:
            for offset, record in enumerate(batch.records, batch.base_offset):
                machine.replay(StoredRecord(record, offset, batch.epoch))
        yield self.end_offset

    def begin_epoch(self, leader_id: int, now_ms: int) -> None:
        self.leader_epoch += 1
        self.end_offset += 1

    def take_snapshot_if_due(self, image: MetadataImage, copied: Callable[[], MetadataImage], now_ms: int) -> None:
        if self.end_offset - self.start_offset > self._max_records:
            self.snapshot = copied()
            self.batches.clear()
            self.start_offset = self.end_offset

    def close(self, *, clean: bool = True) -> None:
        """Nothing outlives the process."""


def runs(records: Sequence[MetadataRecord]) -> Iterator[Sequence[MetadataRecord]]:
    """Records in runs of what one batch holds."""
    for first in range(0, len(records), MAX_BATCH_RECORDS):
        yield records[first : first + MAX_BATCH_RECORDS]
