"""Waiting until a topic holds a number of records."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Self

import trio

from odradek.broker.facade.future_wait import trio_settled
from odradek.broker.facade.record_view import Bounds, bounds_of, read_records
from odradek.broker.facade.stored_record import Isolation, StoredRecord
from odradek.broker.facade.topic_changes import find_partition, find_topic
from odradek.broker.facade.topic_watch import TopicWatch

if TYPE_CHECKING:
    from odradek.broker.facade.call import Call
    from odradek.broker.partitions.partition_registry import PartitionRegistry


def _now_s() -> float:
    return time.monotonic()  # noqa: TID251  the thread of a user waits in real time, whatever the broker's clock says


class RecordWait:
    """Collects the records of a topic, or of one partition, as they come. A ``with`` block ends the wait.

    Each look reads only what has come since the last one. Transaction markers do not count.
    """

    def __init__(
        self,
        call: Call,
        topics: PartitionRegistry,
        topic: str,
        count: int,
        partition: int | None,
        isolation: Isolation,
        timeout_s: float,
    ) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"a number of records is 0 or more, not {count!r}")
        self._call = call
        self._topics = topics
        self._topic = topic
        self._count = count
        self._partition = partition
        self._isolation: Isolation = isolation
        self._timeout_s = timeout_s
        self._positions: dict[int, int] = {}
        self._found: dict[int, list[StoredRecord]] = {}
        self._watch = TopicWatch(isolation)

    def blocking_wait(self) -> list[StoredRecord]:
        """Wait in this thread, which must not be the broker's."""
        end_s = _now_s() + self._timeout_s
        while (changed := self._look()) is not None:
            try:
                changed.result(max(0.0, end_s - _now_s()))
            except TimeoutError:
                return self._last_look()
        return self._records()

    async def trio_wait(self) -> list[StoredRecord]:
        """Wait in trio."""
        with trio.move_on_after(self._timeout_s):
            while (changed := self._look()) is not None:
                await trio_settled(changed, math.inf)
            return self._records()
        return self._last_look()

    def _look(self) -> Future[None] | None:
        """Read what is new; None if that is enough, else what has a result when there may be more."""
        changed, bounds = self._call(self._begin)
        for each in bounds:
            found = self._found.setdefault(each.partition, [])
            found += read_records(self._call, self._topics, self._topic, [each], self._isolation, False)
            self._positions[each.partition] = max(each.first, each.end)
        return None if sum(map(len, self._found.values())) >= self._count else changed

    def _last_look(self) -> list[StoredRecord]:
        if self._look() is None:
            return self._records()
        counts = ", ".join(f"{self._topic}-{index}: {len(found)}" for index, found in sorted(self._found.items()))
        total = sum(map(len, self._found.values()))
        raise TimeoutError(
            f"topic {self._topic!r} has {total} of {self._count} records after {self._timeout_s:g} s "
            f"({self._isolation}; {counts})"
        )

    def _records(self) -> list[StoredRecord]:
        return [record for _, found in sorted(self._found.items()) for record in found]

    # -- in the broker's thread

    def _begin(self) -> tuple[Future[None], list[Bounds]]:
        """Be told of the next change, and say what there is to read before it."""
        topic = find_topic(self._topics, self._topic)
        chosen = topic.partitions if self._partition is None else [find_partition(topic, self._partition)]
        return self._watch.begin(chosen, "waited for"), list(self._news())

    def _news(self) -> Iterator[Bounds]:
        for bounds in bounds_of(self._topics, self._topic, self._partition, self._isolation):
            first = max(bounds.first, self._positions.get(bounds.partition, 0))
            if first < bounds.end:
                yield bounds._replace(first=first, aborted=self._aborted(bounds.partition, first, bounds.end))

    def _aborted(self, index: int, first: int, end: int) -> tuple[tuple[int, int], ...]:
        """The aborted transactions that end after ``first``: the others would hide what their producers wrote later."""
        if self._isolation == "read_uncommitted":
            return ()
        log = find_partition(find_topic(self._topics, self._topic), index).log
        return tuple((producer_id, offset) for producer_id, offset in log.aborted_transactions(first, end))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._watch.forget)
