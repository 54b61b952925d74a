"""Forks a log: a replica whose history diverges, or a copy of a broker's state."""

from __future__ import annotations

from odradek.storage.backend import LoadedLog, LogBackend
from odradek.storage.broken_log import unbroken
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.memory_backend import MemoryBackend, MemoryLogStore
from odradek.storage.partition_log import AppendOrigin, PartitionLog, Tier


def fork(
    log: PartitionLog, backend: LogBackend, *, end_offset: int | None = None, now_ms: int, topic_id: bytes = bytes(16)
) -> PartitionLog:
    """A log on `backend` with the records of `log` below `end_offset` (the end of a batch; by default all of them).

    Both logs are independent afterwards. In memory they share the bytes of the prefix, so the cost grows with the
    number of segments and not of records. A fork below the end reads the batches once, for the producers. On other
    media the batches are copied. The high watermark is that of `log`.
    """
    end = log.log_end_offset if end_offset is None else min(max(end_offset, log.log_start_offset), log.log_end_offset)
    with unbroken(log):
        forked = _shared(log, backend, end, now_ms) or _copied(log, backend, end, now_ms, topic_id)
    forked.log_end_offset = max(end, forked.log_end_offset)
    if log.tier is not None:
        forked.tier = Tier(min(log.tier.local_start, end), min(log.tier.highest_offset, end - 1))
    forked.hold_high_watermark(log.high_watermark)
    if not log.holds_high_watermark:
        forked.release_high_watermark()
    return forked


def _shared(log: PartitionLog, backend: LogBackend, end: int, now_ms: int) -> PartitionLog | None:
    segments = [segment for segment in log.segments if segment.base_offset < end] or log.segments[:1]
    whole = end >= log.log_end_offset
    if whole and isinstance(log.store, MemoryLogStore) and isinstance(backend, MemoryBackend):
        return log.twin(backend, MemoryLogStore(backend.pool), backend.shared_stores)
    begin = LoadedLog(
        [segment.stores for segment in segments],
        log.log_start_offset,
        min(log.recovery_point, end),
        _epochs_below(log, end),
        log.producers.copied() if whole else None,
        {segment.base_offset: segment.last_modified_ms for segment in segments},
        min(log.cleaner_offset, end),
    )
    cut_at = None if whole else segments[-1].position_of(end)
    store = backend.shared_log(begin, end, segments[-1].size if cut_at is None else cut_at)
    if store is None:
        return None
    return PartitionLog(log.topic, log.partition, log.config, backend, now_ms=now_ms, store=store)


def _copied(log: PartitionLog, backend: LogBackend, end: int, now_ms: int, topic_id: bytes) -> PartitionLog:
    forked = PartitionLog(log.topic, log.partition, log.config, backend, now_ms=now_ms, topic_id=topic_id)
    forked.begin_at(log.segments[0].base_offset, now_ms)
    for segment in log.segments:
        for _, batch in segment.iter_batches():
            if batch.base_offset < end:
                forked.append(batch.data, now_ms=now_ms, origin=AppendOrigin.REPLICATION)
    forked.leader_epochs = LeaderEpochs(_epochs_below(log, end))
    forked.store.save_leader_epochs(forked.leader_epochs)
    if log.log_start_offset > forked.log_start_offset:
        forked.delete_records(log.log_start_offset)
    return forked


def _epochs_below(log: PartitionLog, end: int) -> list[tuple[int, int]]:
    """The leader epochs below `end`, and one that begins at the log's end without records."""
    whole = end >= log.log_end_offset
    return [(epoch, start) for epoch, start in log.leader_epochs.entries() if start < end or whole]
