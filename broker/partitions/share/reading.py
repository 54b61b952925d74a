"""What a share fetch gets now: reading from the logs where its share partitions stand, and acquiring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire
from odradek.broker.partitions.share.fetched import FetchedBatches
from odradek.broker.partitions.share.live import LiveSharePartition, SharePartitions
from odradek.broker.partitions.share.states import READ_COMMITTED, AcquiredRange
from odradek.protocol.errors import ErrorCode, KafkaError


class ShareReadRequest(NamedTuple):
    """What a member asks for, in whichever partitions; `mode` and `batch_size` as for `AcquireRequest`."""

    member_id: str
    max_records: int
    batch_size: int
    mode: int
    min_bytes: int
    max_bytes: int


class ShareRead(NamedTuple):
    """What one share partition gives. `error`: why it gives nothing."""

    live: LiveSharePartition
    ranges: Sequence[AcquiredRange] = ()
    records: Sequence[memoryview] = ()
    error: KafkaError | None = None


class _Found(NamedTuple):
    live: LiveSharePartition
    fetch_offset: int
    batches: FetchedBatches | None
    size_bytes: int
    error: KafkaError | None


def read_shared(
    partitions: SharePartitions,
    lives: Sequence[LiveSharePartition],
    request: ShareReadRequest,
    now_ms: int,
    *,
    at_once: bool,
) -> list[ShareRead] | None:
    """Acquire records in the order of `lives`; None while there is less than `min_bytes`, unless `at_once`.

    A share partition that is full and has nothing to give again is not among the results.
    """
    ready = [live for live in lives if live.is_current and live.machine.can_acquire()]
    if not ready:
        return [] if at_once else None
    found = _read_logs(ready, request)
    failed = any(each.error is not None for each in found)
    if not at_once and not failed and sum(each.size_bytes for each in found) < request.min_bytes:
        return None
    return _acquire(partitions, found, request, now_ms)


def _read_logs(ready: Sequence[LiveSharePartition], request: ShareReadRequest) -> list[_Found]:
    """Each gets an equal part of the bytes; one batch comes whatever its size."""
    share = max(1, request.max_bytes // len(ready))
    left = request.max_bytes
    found = []
    min_one = True
    for live in ready:
        each = _read_log(live, min(share, max(0, left)), min_one)
        if each.size_bytes:
            min_one = False
            left -= each.size_bytes
        found.append(each)
    return found


def _read_log(live: LiveSharePartition, max_bytes: int, min_one: bool) -> _Found:
    log = live.partition.log
    committed = live.machine.settings.isolation_level == READ_COMMITTED
    offset = live.machine.next_fetch_offset()
    up_to = log.last_stable_offset if committed else log.high_watermark
    try:
        parts, size = log.read(offset, max_bytes=max_bytes, up_to_offset=up_to, min_one=min_one)
    except KafkaError as error:
        return _Found(live, offset, None, 0, error)
    aborted = log.aborted_in_read(offset, size) if committed and size else ()
    return _Found(live, offset, FetchedBatches(parts, aborted), size, None)


def _acquire(
    partitions: SharePartitions, found: Sequence[_Found], request: ShareReadRequest, now_ms: int
) -> list[ShareRead]:
    results: list[ShareRead] = []
    left = request.max_records
    for live, offset, batches, _, error in found:
        if batches is None:
            assert error is not None
            results.append(_failed(live, error))
            continue
        asked = AcquireRequest(request.member_id, left, request.batch_size, request.mode, offset)
        ranges = acquire(live.machine, asked, batches, now_ms)
        if not ranges:
            results.append(ShareRead(live))
            continue
        partitions.watch(live)
        left -= sum(taken.size for taken in ranges)
        results.append(ShareRead(live, ranges, batches.views(ranges[0].first_offset, ranges[-1].last_offset)))
    return results


def _failed(live: LiveSharePartition, error: KafkaError) -> ShareRead:
    """A read behind the log's start goes on at its start, which is no error for the member."""
    if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
        return ShareRead(live, error=error)
    live.machine.log_starts_at(live.partition.log.log_start_offset)
    return ShareRead(live)
