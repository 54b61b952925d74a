"""Acquiring records: which of the fetched ones a member gets.

In batch-optimised mode whole batches are acquired that begin within the limit, in record-limit mode (KIP-1206) exactly
as many records as asked for. Records that were delivered often are given out in ever smaller portions and, the last
time, alone: one poisoned record does not take its neighbours to the delivery limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from odradek.broker.partitions.share.in_flight import InFlightRun, Piece
from odradek.broker.partitions.share.share_partition import SharePartition
from odradek.broker.partitions.share.states import (
    ACQUIRED,
    AVAILABLE,
    RECORD_LIMIT,
    AcquiredRange,
)

Span = tuple[int, int]
"""First and last offset of a batch in the log."""


class Fetched(Protocol):
    """The batches that were read from the log, in order; looked at no further than needed."""

    def reach(self, offset: int) -> int:
        """Examine batches up to the one with `offset`. Returns the last offset examined, -1 if there is none."""

    @property
    def base_offset(self) -> int:
        """The base offset of the first batch."""

    def bases(self) -> Sequence[int]:
        """The base offsets of all batches looked at."""

    def last_offset_with(self, offset: int) -> int:
        """The last offset of the batch that has `offset`; `offset` itself if none has."""

    def aborted(self) -> Sequence[Span]:
        """The examined batches of aborted transactions; none for a reader that may see them."""


class AcquireRequest(NamedTuple):
    """A member's request. `batch_size`: the most records of a range, in batch-optimised mode."""

    member_id: str
    max_records: int
    batch_size: int = 1 << 31
    mode: int = 0
    fetch_offset: int = 0


def acquire(partition: SharePartition, request: AcquireRequest, fetched: Fetched, now_ms: int) -> list[AcquiredRange]:
    """Acquire from `fetched`, which was read at `request.fetch_offset`; the ranges that the member gets."""
    if request.max_records <= 0:
        return []
    furthest = max(partition.end_offset, request.fetch_offset) + request.max_records
    last_offset = fetched.reach(furthest)
    if last_offset < partition.start_offset:
        return []
    work = _Acquisition(partition, request, fetched, now_ms)
    last_offset, limit = work.bounds(last_offset)
    if limit <= 0:
        return []
    ranges = work.run(last_offset, limit)
    aborted = fetched.aborted() if ranges else ()
    if not aborted:
        return ranges
    for first, last in aborted:
        partition.archive(first, last, ACQUIRED, count=True)
    partition.advance()
    return without(ranges, aborted)


class _Acquisition:
    """One request at work."""

    def __init__(self, partition: SharePartition, request: AcquireRequest, fetched: Fetched, now_ms: int) -> None:
        settings = partition.settings
        self._partition = partition
        self._member_id = request.member_id
        self._request = request
        self._fetched = fetched
        self._exact = request.mode == RECORD_LIMIT
        self._deadline_ms = now_ms + settings.lock_duration_ms
        self._delivery_limit = settings.delivery_limit
        self._max_locks = settings.max_locks
        self._throttle_from = max(2, -(-settings.delivery_limit // 2))
        self._ranges: list[AcquiredRange] = []
        self._left = 0
        self._last_offset = -1

    def bounds(self, last_offset: int) -> tuple[int, int]:
        """The last offset that may be acquired, and how many records."""
        partition, request = self._partition, self._request
        limit = min(request.max_records, self._max_locks - partition.in_flight)
        if limit > 0:
            return last_offset, limit
        # No room for further records, but those in flight that came back can be acquired again.
        room = partition.end_offset - request.fetch_offset + 1
        return min(last_offset, partition.end_offset), min(request.max_records, room)

    def run(self, last_offset: int, limit: int) -> list[AcquiredRange]:
        partition = self._partition
        self._last_offset = last_offset
        self._left = limit
        base = self._fetched.base_offset
        self._archive_lost(base)
        floor = partition.floor(base)
        if floor is None:
            base = max(base, partition.start_offset)
        elif floor.last_offset >= base:
            base = floor.first_offset
        low = min(self._fetched.base_offset, base)
        runs = [partition.runs[key] for key in partition.runs.irange(low, last_offset)]
        if not runs:
            self._acquire_new(base, last_offset)
            return self._ranges
        self._acquire_known(runs, base)
        behind = runs[-1].last_offset + 1
        if self._left > 0 and behind <= last_offset:
            self._acquire_new(behind, last_offset)
        if self._ranges:
            partition.narrow_gap_window(self._ranges[-1].last_offset + 1)
        return self._ranges

    def _archive_lost(self, base: int) -> None:
        """Archive the records between the fetch offset and the first batch: compaction has removed them."""
        fetch_offset = self._request.fetch_offset
        if fetch_offset < base and self._partition.archive(fetch_offset, base - 1, AVAILABLE, count=True):
            self._partition.became_available(fetch_offset)

    # -- records that have been fetched before

    def _acquire_known(self, runs: Sequence[InFlightRun], base: int) -> None:
        gap_start = base
        for run in runs:
            if self._left <= 0:
                return
            if self._partition.gap_window_active:
                if gap_start < run.first_offset:
                    self._acquire_new(gap_start, run.first_offset - 1)
                gap_start = run.last_offset + 1
                if self._left <= 0:
                    return
            if not self._acquire_run(run):
                self._left = 0
                return

    def _acquire_run(self, run: InFlightRun) -> bool:
        """Acquire what is available in a run; False if nothing else may be acquired with it."""
        throttled = self._is_throttled(run)
        if throttled and self._ranges:
            return False
        first = self._fetched.base_offset
        whole = run.fits(first, self._last_offset) and not (self._exact and len(run) > self._left)
        if not run.split and run.whole.state is not AVAILABLE:
            return True
        if whole and not run.split and not throttled:
            self._take(run.whole)
            return True
        count = self._acquire_some(run)
        return not (throttled and count)

    def _is_throttled(self, run: InFlightRun) -> bool:
        for piece in run.touching(self._fetched.base_offset, self._last_offset):
            if piece.state is AVAILABLE and piece.delivery_count >= self._throttle_from:
                return True
        return False

    def _acquire_some(self, run: InFlightRun) -> int:
        """Acquire available records of a run one by one, within the limits. Returns how many."""
        count = 0
        portion = -1
        run.split = True
        first, last = self._fetched.base_offset, self._last_offset
        for found in [piece for piece in run.touching(first, last) if piece.state is AVAILABLE]:
            alone = self._delivery_limit > 2 and found.delivery_count == self._delivery_limit - 1
            if alone and count:
                break
            if found.delivery_count >= self._throttle_from and portion < 0:
                portion = max(1, len(run) >> (found.delivery_count - self._throttle_from + 1))
            low = max(found.first_offset, first)
            room = min(found.last_offset, last) - low + 1
            if alone:
                room = 1
            if self._exact:
                room = min(room, self._left)
            if portion > count:
                room = min(room, portion - count)
            for piece in run.exactly(low, low + room - 1):
                self._take(piece, joined=count > 0)
            count += room
            if alone or (self._exact and self._left <= 0) or count == portion:
                break
        return count

    def _take(self, piece: Piece, *, joined: bool = False) -> None:
        piece.acquire(self._member_id, self._deadline_ms)
        self._got(AcquiredRange(piece.first_offset, piece.last_offset, piece.delivery_count), joined=joined)

    def _got(self, taken: AcquiredRange, *, joined: bool = False) -> None:
        """Add a range.

        With `joined`, it becomes part of the last range if it follows it with the same delivery count.
        """
        self._partition.lock(taken.first_offset, taken.last_offset, self._deadline_ms)
        self._left -= taken.size
        if joined and self._ranges[-1].goes_on_with(taken):
            taken = AcquiredRange(self._ranges.pop().first_offset, taken.last_offset, taken.delivery_count)
        self._ranges.append(taken)

    # -- records that are fetched for the first time

    def _acquire_new(self, first: int, last: int) -> None:
        partition = self._partition
        if not partition.runs:
            first = max(first, partition.end_offset)
        if first > last:
            return
        limit = self._left
        if limit < last - first + 1:
            of_batch = self._fetched.last_offset_with(first + limit - 1)
            last = min(last, of_batch) if partition.gap_window_active else of_batch
        if self._exact and last - first + 1 > limit:
            self._add_in_part(first, last, limit)
        else:
            for low, high in self._portions(first, last):
                partition.add_run(Piece(low, high, ACQUIRED, 1, self._member_id, self._deadline_ms))
                self._got(AcquiredRange(low, high, 1))
        if partition.runs.peekitem(0)[0] == first:
            partition.start_offset = first
        partition.end_offset = max(partition.end_offset, last)
        partition.narrow_gap_window(self._ranges[-1].last_offset + 1)

    def _add_in_part(self, first: int, last: int, count: int) -> None:
        """A batch of which only the first `count` records are acquired; the others are available."""
        run = self._partition.add_run(Piece(first, last, AVAILABLE, 0))
        for piece in run.exactly(first, first + count - 1):
            self._take(piece)
        self._partition.became_available(first + count)

    def _portions(self, first: int, last: int) -> list[Span]:
        """Cut a range at batch boundaries, as soon as a part has as many records as the member wants in one."""
        size = self._request.batch_size
        if self._exact or last - first + 1 <= size:
            return [(first, last)]
        spans: list[Span] = []
        low = first
        for base in self._fetched.bases():
            if base > last:
                break
            if base - low >= size:
                spans.append((low, base - 1))
                low = base
        spans.append((low, last))
        return spans


def without(ranges: Sequence[AcquiredRange], gone: Sequence[Span]) -> list[AcquiredRange]:
    """The ranges without the offsets of `gone`. Both are in order of their offsets."""
    left: list[AcquiredRange] = []
    for first, last, count in ranges:
        low = first
        for gone_first, gone_last in gone:
            if gone_last < low or gone_first > last:
                continue
            if gone_first > low:
                left.append(AcquiredRange(low, gone_first - 1, count))
            low = gone_last + 1
        if low <= last:
            left.append(AcquiredRange(low, last, count))
    return left
