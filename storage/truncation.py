"""Cutting the end of a log: what a follower does with records that its leader does not have (KIP-101)."""

from __future__ import annotations

from odradek.storage.loading import OpenLog, rebuild_producers
from odradek.storage.segment import Segment


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
