"""Tiered storage (KIP-405): which segments of a log lie in the remote tier, and which of them are local too.

The tier is no other place: its segments stay where the log has them, and the log knows which of them a broker of Kafka
would have deleted locally. So a read below the local start, look-ups and leader epochs are those of any log, and what
clients can ask for is as in Kafka: the offsets of ListOffsets, the sizes, and what either kind of retention takes.

Kafka's order holds: a segment is copied once it is closed and wholly below the last stable offset, local retention
takes only what was copied, and the retention of the whole log takes copied segments alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple, Protocol

from odradek.storage import trimming
from odradek.storage.loading import OpenLog
from odradek.storage.segment import Segment


class Tier(NamedTuple):
    """The part of a log in the remote tier: everything up to `highest_offset` (-1: nothing). Local segments begin at
    `local_start`.
    """

    local_start: int
    highest_offset: int = -1


class TieredLog(OpenLog, Protocol):
    """A log with what tiering adds to it."""

    tier: Tier | None


def first_local(log: TieredLog) -> int:
    """The index of the first segment that is local."""
    tier = log.tier
    if tier is None:
        return 0
    return max(0, bisect_right(log.segments, tier.local_start, key=lambda segment: segment.base_offset) - 1)


def copy(log: TieredLog) -> bool:
    """Copy what may be copied; whether that was anything."""
    tier = log.tier
    if tier is None or log.config.remote_log_copy_disable:
        return False
    stable = log.last_stable_offset
    highest = max((segment.base_offset for segment in log.segments[1:] if segment.base_offset <= stable), default=0) - 1
    if highest <= tier.highest_offset or highest < log.log_start_offset:
        return False
    log.tier = tier._replace(highest_offset=highest)
    return True


def expire(log: TieredLog, now_ms: int) -> int:
    """Drop copied segments that the log as a whole no longer keeps; returns how many. The log starts behind them."""
    tier, config = log.tier, log.config
    if tier is None or not config.remote_storage_keeps:
        return 0
    excess = 0
    if config.retention_bytes >= 0:
        excess = sum(segment.size for segment in log.segments) - config.retention_bytes
    count = 0
    for segment, following in zip(log.segments, log.segments[1:], strict=False):
        if following.base_offset - 1 > tier.highest_offset:
            break
        too_old = config.retention_ms >= 0 and now_ms - segment.largest_timestamp >= config.retention_ms
        if not (too_old or 0 < excess >= segment.size):
            break
        excess -= segment.size
        count += 1
    if count:
        log.drop_oldest(count)
    return count


def apply_local_retention(log: TieredLog, now_ms: int) -> int:
    """Let go of local segments; returns how many. What was copied stays in the log, behind its local start.

    With `remote.log.copy.disable` nothing is local for a while only: the usual limits count, and the log's start moves.
    """
    config = log.config
    dropped = trimming.drop_before_start(log, now_ms)
    if config.remote_log_copy_disable:
        if not config.delete:
            return dropped
        max_bytes, max_ms = config.retention_bytes, config.retention_ms
    else:
        max_bytes, max_ms = config.local_retention_bytes, config.local_retention_ms
    if 0 <= max_bytes <= log.size_bytes:
        dropped += _let_go(log, now_ms, trimming.beyond_size(log.size_bytes - max_bytes))
    if max_ms >= 0:
        dropped += _let_go(log, now_ms, trimming.beyond_age(now_ms, max_ms))
    return dropped


def _let_go(log: TieredLog, now_ms: int, doomed: Callable[[Segment], bool]) -> int:
    """Let go of the longest run of local segments that all are `doomed` and may go."""
    tier, segments, copies = log.tier, log.segments, not log.config.remote_log_copy_disable
    assert tier is not None
    first = at = first_local(log)
    while at < len(segments):
        segment = segments[at]
        is_last = at + 1 == len(segments)
        end = log.log_end_offset if is_last else segments[at + 1].base_offset
        if log.high_watermark < end or (is_last and segment.size == 0) or not doomed(segment):
            break
        if is_last:
            log.roll(now_ms)  # so that it can be copied, and go next time
        if copies and end - 1 > tier.highest_offset:
            break
        at += 1
    if at > first:
        if copies:
            log.tier = tier._replace(local_start=segments[at].base_offset)
        else:
            log.drop_oldest(at)
    return at - first
