"""Cuts a log at its start: retention, and the remote tier.

Retention drops whole segments: those before the log start, too old ones, and the oldest ones beyond the log's size.
Only segments wholly below the high watermark are dropped. The active segment is dropped by time only, after a new one
has begun.

Tiered storage (KIP-405): the tier is no other place. Its segments stay where the log has them, and the log knows which
of them a broker of Kafka would have deleted locally. So a read below the local start, look-ups and leader epochs are
those of any log, and what clients can ask for is as in Kafka: the offsets of ListOffsets, the sizes, and what either
kind of retention takes. Kafka's order holds: a segment is copied once it is closed and wholly below the last stable
offset, local retention takes only what was copied, and the retention of the whole log takes copied segments alone.
"""

from __future__ import annotations

from odradek.storage.partition_log import PartitionLog


def apply_retention(log: PartitionLog, now_ms: int) -> int:
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
    dropped += log.drop_by_size(max_bytes, now_ms)
    if max_ms >= 0:
        dropped += log.drop_while(lambda segment: now_ms - segment.largest_timestamp > max_ms, now_ms)
    return dropped


def drop_before_start(log: PartitionLog, now_ms: int) -> int:
    """Drop segments that end at or before the log start offset."""
    following = {id(a): b.base_offset for a, b in zip(log.segments, log.segments[1:], strict=False)}
    start = log.log_start_offset
    return log.drop_while(
        lambda segment: id(segment) in following and following[id(segment)] <= start, now_ms, local=False
    )


# --- the remote tier --------------------------------------------------------------------------------------------------


def copy_to_tier(log: PartitionLog) -> bool:
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


def expire_tiered(log: PartitionLog, now_ms: int) -> int:
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
