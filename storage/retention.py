"""Retention drops whole segments: those before the log start, too old ones, and the oldest ones beyond the log's size.

Only segments wholly below the high watermark are dropped. The active segment is dropped by time only, after a new one
has begun.
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.storage.loading import OpenLog
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
