"""Loads an existing log: offsets, leader epochs and producers from the backend or from the batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from odradek.protocol.errors import CorruptDataError
from odradek.storage.backend import LoadedLog, LogStore, StorageError
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.producer_state import ProducerStates
from odradek.storage.segment import Segment


class Tier(NamedTuple):
    """The part of a log in the remote tier: everything up to `highest_offset` (-1: nothing). Local segments begin at
    `local_start`.
    """

    local_start: int
    highest_offset: int = -1


class OpenLog(Protocol):
    """A `PartitionLog`, for the modules that it imports: loading, truncation, retention, compaction."""

    name: str
    segments: list[Segment]
    active: Segment
    store: LogStore
    leader_epochs: LeaderEpochs
    producers: ProducerStates
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    recovery_point: int
    cleaner_offset: int
    uncleanable: bool
    tier: Tier | None

    @property
    def config(self) -> LogConfig: ...

    @property
    def last_stable_offset(self) -> int: ...

    @property
    def size_bytes(self) -> int: ...

    def roll(self, now_ms: int) -> Segment: ...

    def drop_oldest(self, count: int) -> None: ...

    def swap_segments(self, old: Sequence[Segment], new: Segment) -> None: ...


def segments_of(loaded: LoadedLog, now_ms: int, jitter_ms: Callable[[], int]) -> list[Segment]:
    """The segments with their end offsets, largest timestamps and ages."""
    segments = []
    for stores, following in zip(loaded.segments, [*loaded.segments[1:], None], strict=True):
        segment = Segment(stores, now_ms, jitter_ms())
        modified = loaded.last_modified_ms.get(stores.base_offset, now_ms)
        try:
            segment.restore(following.base_offset if following else None, modified)
        except CorruptDataError as error:
            raise StorageError(str(error)) from error
        segments.append(segment)
    return segments


def take_over(log: OpenLog, loaded: LoadedLog) -> None:
    """Set a log's offsets, epochs and producers. Producers are read from the batches unless the backend has them."""
    log.log_start_offset = max(loaded.log_start_offset, log.segments[0].base_offset)
    log.log_end_offset = log.high_watermark = max(log.segments[-1].next_offset, log.log_start_offset)
    log.recovery_point = loaded.recovery_point
    log.cleaner_offset = loaded.cleaner_offset
    log.leader_epochs = LeaderEpochs(loaded.leader_epochs)
    if _fit_epochs(log):
        log.store.save_leader_epochs(log.leader_epochs)
    if loaded.producers is not None:
        log.producers = loaded.producers
    else:
        rebuild_producers(log)


def _fit_epochs(log: OpenLog) -> bool:
    """Remove epochs of lost records; returns whether there were any. An epoch that begins at the log's end stays."""
    cut = log.leader_epochs.truncate_from_end(log.log_end_offset + 1)
    return log.leader_epochs.truncate_from_start(log.log_start_offset) or cut


def rebuild_producers(log: OpenLog) -> None:
    """Build the producer state from all batches, as if they were appended again."""
    log.producers.clear()
    for segment in log.segments:
        for _, batch in segment.iter_batches():
            log.producers.replay(batch)
