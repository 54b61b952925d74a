"""Cuts a log at its start and its end: retention, the remote tier, and truncation.

Retention drops whole segments: those before the log start, too old ones, and the oldest ones beyond the log's size.
Only segments wholly below the high watermark are dropped. The active segment is dropped by time only, after a new one
has begun. Truncation is what a follower does with records that its leader does not have (KIP-101).

Tiered storage (KIP-405): the tier is no other place. Its segments stay where the log has them, and the log knows which
of them a broker of Kafka would have deleted locally. So a read below the local start, look-ups and leader epochs are
those of any log, and what clients can ask for is as in Kafka: the offsets of ListOffsets, the sizes, and what either
kind of retention takes. Kafka's order holds: a segment is copied once it is closed and wholly below the last stable
offset, local retention takes only what was copied, and the retention of the whole log takes copied segments alone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from odradek.storage.loading import OpenLog, rebuild_producers
from odradek.storage.segment import Segment


def apply_retention(log: OpenLog, now_ms: int) -> int:
    """Drop the segments that the config no longer keeps; returns their number.

    Of a tiered log local segments go. What was copied stays in the log, behind its local start. With
    `remote.log.copy.disable` nothing is local for a while only: the usual limits count, and the log's start moves.
    """
    config = log.config
    dropped = drop_before_start(log, now_ms)
    if log.tier is not None and not config.remote_log_copy_disable:
        max_bytes, max_ms = config.local_retention_bytes, config.local_retention_ms
    elif config.delete:
        max_bytes, max_ms = config.retention_bytes, config.retention_ms
    else:
        return dropped
    dropped += drop_by_size(log, now_ms, max_bytes)
    if max_ms >= 0:
        dropped += _drop(log, now_ms, lambda segment: now_ms - segment.largest_timestamp > max_ms)
    return dropped


def drop_before_start(log: OpenLog, now_ms: int) -> int:
    """Drop segments that end at or before the log start offset."""
    following = {id(a): b.base_offset for a, b in zip(log.segments, log.segments[1:], strict=False)}
    start = log.log_start_offset
    return _drop(log, now_ms, lambda segment: id(segment) in following and following[id(segment)] <= start, local=False)


def drop_by_size(log: OpenLog, now_ms: int, limit: int) -> int:
    """Drop the oldest segments while the rest has `limit` bytes or more; a negative limit is none."""
    excess = log.size_bytes - limit
    if limit < 0 or excess <= 0:
        return 0

    def too_much(segment: Segment) -> bool:
        nonlocal excess
        if excess < segment.size:
            return False
        excess -= segment.size
        return True

    return _drop(log, now_ms, too_much)


def _drop(log: OpenLog, now_ms: int, doomed: Callable[[Segment], bool], *, local: bool = True) -> int:
    """Drop the longest run of segments that all are `doomed` and may go; returns how many.

    `local`: it begins with the first local segment, and copied segments only stop being local.
    """
    segments = log.segments
    tier = log.tier if local and not log.config.remote_log_copy_disable else None
    first = at = first_local(log) if local else 0
    while at < len(segments):
        segment = segments[at]
        is_last = at + 1 == len(segments)
        end = log.log_end_offset if is_last else segments[at + 1].base_offset
        if log.high_watermark < end or (is_last and segment.size == 0) or not doomed(segment):
            break
        if is_last:
            log.roll(now_ms)  # so that it can be copied, and go next time
        if tier is not None and end - 1 > tier.highest_offset:
            break
        at += 1
    if at > first:
        if tier is not None:
            log.tier = tier._replace(local_start=segments[at].base_offset)
        else:
            log.drop_oldest(at)
    return at - first


# --- the remote tier --------------------------------------------------------------------------------------------------


def first_local(log: OpenLog) -> int:
    """The index of the first segment that is local."""
    tier = log.tier
    if tier is None:
        return 0
    return max(0, bisect_right(log.segments, tier.local_start, key=lambda segment: segment.base_offset) - 1)


def copy_to_tier(log: OpenLog) -> bool:
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


def expire_tiered(log: OpenLog, now_ms: int) -> int:
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


# --- the end ----------------------------------------------------------------------------------------------------------


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
