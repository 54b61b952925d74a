"""Cuts a log at its start and its end: retention, and truncation.

Retention drops whole segments: those before the log start, too old ones, and the oldest ones beyond the log's size.

Only segments wholly below the high watermark are dropped. The active segment is dropped by time only, after a new one
has begun. Truncation is what a follower does with records that its leader does not have (KIP-101).
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.storage.loading import OpenLog, rebuild_producers
from odradek.storage.segment import Segment


def apply_retention(log: OpenLog, now_ms: int) -> int:
    """Drop the segments that the config no longer keeps; returns their number."""
    dropped = drop_before_start(log, now_ms)
    if not log.config.delete:
        return dropped
    return dropped + drop_by_size(log, now_ms) + _drop_by_time(log, now_ms)


def drop_before_start(log: OpenLog, now_ms: int) -> int:
    """Drop segments that end at or before the log start offset."""
    following = {id(a): b.base_offset for a, b in zip(log.segments, log.segments[1:], strict=False)}
    start = log.log_start_offset
    return _drop(log, now_ms, lambda segment: id(segment) in following and following[id(segment)] <= start)


def drop_by_size(log: OpenLog, now_ms: int) -> int:
    """Drop the oldest segments while the rest has `retention.bytes` or more."""
    limit = log.config.retention_bytes
    if limit < 0:
        return 0
    excess = log.size_bytes - limit
    if excess <= 0:
        return 0
    return _drop(log, now_ms, beyond_size(excess))


def beyond_size(excess: int) -> Callable[[Segment], bool]:
    """Whether a segment goes, asked from the oldest on, where `excess` bytes are too many."""

    def too_much(segment: Segment) -> bool:
        nonlocal excess
        if excess < segment.size:
            return False
        excess -= segment.size
        return True

    return too_much


def beyond_age(now_ms: int, limit_ms: int) -> Callable[[Segment], bool]:
    """Whether a segment goes because its newest record is too old."""
    return lambda segment: now_ms - segment.largest_timestamp > limit_ms


def _drop_by_time(log: OpenLog, now_ms: int) -> int:
    limit = log.config.retention_ms
    if limit < 0:
        return 0
    return _drop(log, now_ms, beyond_age(now_ms, limit))


def _drop(log: OpenLog, now_ms: int, doomed: Callable[[Segment], bool]) -> int:
    """Drop the longest prefix of segments that all are `doomed`."""
    segments = log.segments
    count = 0
    for i, segment in enumerate(segments):
        is_last = i + 1 == len(segments)
        end = log.log_end_offset if is_last else segments[i + 1].base_offset
        if log.high_watermark < end or (is_last and segment.size == 0) or not doomed(segment):
            break
        count += 1
    if count:
        if count == len(segments):
            log.roll(now_ms)
        log.drop_oldest(count)
    return count


# -- the end


def cut(log: OpenLog, offset: int, now_ms: int) -> None:
    """Let the log end at `offset`: drop later segments, cut the one that holds it, and forget their epochs and
    producers.
    """
    kept = [segment for segment in log.segments if segment.base_offset < offset] or log.segments[:1]
    if offset < kept[0].base_offset:
        _begin_at(log, offset, now_ms)
    else:
        log.store.drop_segments([segment.stores for segment in log.segments[len(kept) :]], 0)
        log.segments = [*kept[:-1], _shortened(kept[-1], offset, now_ms)]
    log.active = log.segments[-1]
    log.log_end_offset = offset
    log.log_start_offset = min(log.log_start_offset, offset)
    log.high_watermark = min(log.high_watermark, offset)
    log.recovery_point = min(log.recovery_point, offset)
    log.cleaner_offset = min(log.cleaner_offset, offset)
    if log.leader_epochs.truncate_from_end(offset):
        log.store.save_leader_epochs(log.leader_epochs)
    log.store.truncated(offset)
    rebuild_producers(log)


def _begin_at(log: OpenLog, offset: int, now_ms: int) -> None:
    """Begin with one empty segment at `offset`, because no batch is left."""
    log.store.drop_segments([segment.stores for segment in log.segments], 0)
    log.segments = [Segment(log.store.create_segment(offset, log.config), now_ms)]


def _shortened(segment: Segment, offset: int, now_ms: int) -> Segment:
    """A segment without its batches from `offset` on."""
    position = segment.position_of(offset)
    stores = segment.stores
    if position is not None:
        stores.batches.truncate(position)
        stores.offset_index.truncate(offset)
        stores.time_index.truncate(offset)
        stores.txn_index.truncate(offset)
    shortened = Segment(stores, segment.created_ms, segment.jitter_ms)
    shortened.restore(None, now_ms)
    shortened.next_offset = max(shortened.next_offset, offset)
    return shortened
