"""Putting together what is stored of a share partition and what is new.

Of two things said of one offset the one with the higher delivery count holds, then the one with the higher state: what
has been delivered more often is newer, and a record never leaves a state that it cannot leave.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from operator import attrgetter

from odradek.broker.partitions.share.states import StateBatch

_FIRST = attrgetter("first_offset")
_LAST = attrgetter("last_offset")

Ranked = tuple[int, int, int, int]
"""First offset, last offset, delivery count, state: in the order in which batches are merged."""


def combine(stored: Sequence[StateBatch], new: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """The batches that say what both say, from `start_offset` on (-1: of all offsets).

    `stored` is in order and without overlaps, `new` need not be. Only what lies around the new ones is looked at.
    """
    kept = list(stored[bisect_left(stored, start_offset, key=_LAST) :])
    kept[:1] = _from(kept[:1], start_offset)
    added = list(_from(new, start_offset))
    if not added:
        return kept
    low = bisect_left(kept, min(batch.first_offset for batch in added) - 1, key=_LAST)
    high = bisect_right(kept, max(batch.last_offset for batch in added) + 1, key=_FIRST)
    kept[low:high] = _merged([*kept[low:high], *added])
    return kept


def _from(batches: Iterable[StateBatch], start_offset: int) -> Iterator[StateBatch]:
    for batch in batches:
        if batch.first_offset >= start_offset:
            yield batch
        elif batch.last_offset >= start_offset:
            yield batch._replace(first_offset=start_offset)


def _merged(batches: Sequence[StateBatch]) -> list[StateBatch]:
    waiting: list[Ranked] = [(first, last, count, state) for first, last, state, count in batches]
    heapify(waiting)
    done: list[Ranked] = []
    one = heappop(waiting)
    while waiting:
        other = waiting[0]
        if not _touch(one, other):
            done.append(one)
            one = heappop(waiting)
            continue
        heappop(waiting)
        for piece in _pieces(one, other):
            heappush(waiting, piece)
        one = heappop(waiting)
    done.append(one)
    return [StateBatch(first, last, state, count) for first, last, count, state in done]


def _touch(one: Ranked, other: Ranked) -> bool:
    """Whether two batches, of which `one` comes first, overlap, or go on from each other with the same content."""
    return other[0] <= one[1] or (other[0] == one[1] + 1 and one[2:] == other[2:])


def _pieces(one: Ranked, other: Ranked) -> Iterator[Ranked]:
    """What two batches that touch come to, without overlaps."""
    first, last, count, state = one
    other_first, other_last, other_count, other_state = other
    if one[2:] == other[2:]:
        yield first, max(last, other_last), count, state
    elif other[2:] < one[2:]:
        yield one
        if other_last > last:
            yield last + 1, other_last, other_count, other_state
    else:
        if other_first > first:
            yield first, other_first - 1, count, state
        yield other
        if other_last < last:
            yield other_last + 1, last, count, state
