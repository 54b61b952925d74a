"""Serves a share fetch: reads from the logs where the share partitions are, and acquires the records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from odradek.broker.partitions.share.acquisition import AcquireRequest, acquire
from odradek.broker.partitions.share.manager import LiveSharePartition, SharePartitions
from odradek.broker.partitions.share.states import READ_COMMITTED, AcquiredRange
from odradek.protocol.control import EndTxnMarker, parse_control_record
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import CONTROL_FLAG, HEADER, LOG_OVERHEAD, TRANSACTIONAL_FLAG, parse_batch


class FetchedBatches:
    """The result of a read. `parts` are whole batches, as `PartitionLog.read` returns them.

    `aborted`: producer id and first offset of each aborted transaction that may be in them.
    """

    def __init__(self, parts: Sequence[memoryview], aborted: Sequence[tuple[int, int]] = ()) -> None:
        self._parts = parts
        self._aborted = aborted
        self._bases: list[int] = []
        self._lasts: list[int] = []
        self._places: list[tuple[int, int, int]] = []  # number of the part, where the batch begins and ends in it
        self._rest = self._walk()

    def _walk(self) -> Iterator[int]:
        """Note one batch after the other; yields their last offsets."""
        for number, part in enumerate(self._parts):
            position, size = 0, len(part)
            while position < size:
                fields = HEADER.unpack_from(part, position)
                end = position + LOG_OVERHEAD + fields[1]
                last_offset: int = fields[0] + fields[6]
                self._bases.append(fields[0])
                self._lasts.append(last_offset)
                self._places.append((number, position, end))
                yield last_offset
                position = end

    def reach(self, offset: int) -> int:
        """Examine batches up to the one with `offset`. Returns the last offset examined, -1 if there is none."""
        if self._lasts and self._lasts[-1] >= offset:
            return self._lasts[-1]
        for last_offset in self._rest:
            if last_offset >= offset:
                break
        return self._lasts[-1] if self._lasts else -1

    @property
    def base_offset(self) -> int:
        """The base offset of the first batch."""
        if not self._bases:
            self.reach(0)
        return self._bases[0]

    def bases(self) -> Sequence[int]:
        """The base offsets of all batches looked at."""
        return self._bases

    def last_offset_with(self, offset: int) -> int:
        """The last offset of the batch that has `offset`; `offset` itself if none has."""
        self.reach(offset)
        index = bisect_right(self._bases, offset) - 1
        return self._lasts[index] if index >= 0 and offset <= self._lasts[index] else offset

    def views(self, first_offset: int, last_offset: int) -> list[memoryview]:
        """The bytes from the batch with `first_offset` to the one with `last_offset`: at most one view a part."""
        low = max(0, bisect_right(self._bases, first_offset) - 1)
        high = max(low, bisect_right(self._bases, last_offset) - 1)
        first_part, start, _ = self._places[low]
        last_part, _, end = self._places[high]
        if first_part == last_part:
            return [self._parts[first_part][start:end]]
        between = self._parts[first_part + 1 : last_part]
        return [self._parts[first_part][start:], *between, self._parts[last_part][:end]]

    def aborted(self) -> list[tuple[int, int]]:
        """First and last offset of each examined batch that belongs to an aborted transaction."""
        if not self._aborted:
            return []
        begun = sorted(self._aborted, key=lambda transaction: transaction[1], reverse=True)
        aborting: set[int] = set()
        found: list[tuple[int, int]] = []
        for base, last, (number, position, _) in zip(self._bases, self._lasts, self._places, strict=True):
            fields = HEADER.unpack_from(self._parts[number], position)
            attributes, producer_id = fields[5], fields[9]
            if producer_id < 0:
                continue
            while begun and begun[-1][1] <= last:
                aborting.add(begun.pop()[0])
            if attributes & CONTROL_FLAG:
                if self._is_abort_marker(number, position):
                    aborting.discard(producer_id)
            elif attributes & TRANSACTIONAL_FLAG and producer_id in aborting:
                found.append((base, last))
        return found

    def _is_abort_marker(self, number: int, position: int) -> bool:
        for record in parse_batch(self._parts[number], position).records():
            marker = parse_control_record(record)
            return isinstance(marker, EndTxnMarker) and not marker.commit
        return False


class ShareReadRequest(NamedTuple):
    """A member's request over all partitions. `mode` and `batch_size` as for `AcquireRequest`."""

    member_id: str
    max_records: int
    batch_size: int
    mode: int
    min_bytes: int
    max_bytes: int


class ShareRead(NamedTuple):
    """The result of one share partition. `error`: why it has no records."""

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
    """Acquire records in the order of `lives`; None if there is less than `min_bytes`, unless `at_once`.

    A share partition that is full and has nothing to deliver again is not among the results.
    """
    ready = [live for live in lives if live.is_current and live.machine.can_acquire()]
    if not ready:
        return [] if at_once else None
    if request.max_bytes < 0:
        return [ShareRead(live, error=KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)) for live in ready]
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
    """A read before the log's start offset begins there, which is no error for the member."""
    if error.code is not ErrorCode.OFFSET_OUT_OF_RANGE:
        return ShareRead(live, error=error)
    live.machine.log_starts_at(live.partition.log.log_start_offset)
    return ShareRead(live)
