"""Waits for records, and follows them as they are appended."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from odradek.broker.clock import check_number, in_event_loop
from odradek.broker.facade.records.reading import Bounds, bounds_of, read_records
from odradek.broker.facade.records.record import Isolation, StoredRecord
from odradek.broker.facade.thread_bridge import BrokerClosedError, blocking_look, trio_look
from odradek.broker.partitions.lookups import find_partitions, find_topic
from odradek.broker.partitions.waiters import Waiter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from odradek.broker.facade.thread_bridge import Call, Offload
    from odradek.broker.partitions.partition import Partition, Topic
    from odradek.broker.partitions.partition_registry import PartitionRegistry


class TopicWatch:
    """Watches some partitions for changes. Everything here runs in the broker's thread."""

    def __init__(self, isolation: Isolation) -> None:
        self._committed = isolation == "read_committed"
        self._waiter: Waiter | None = None
        self._watched: list[Partition] = []

    def begin(self, partitions: Iterable[Partition], doing: str) -> Future[None]:
        """Watch these partitions instead of the previous ones. The future gets a result when one of them changes.

        Raises BrokerClosedError, with ``doing`` in its message, if the broker has ended since.
        """
        if self._waiter is not None and self._waiter.over:
            raise BrokerClosedError(f"the broker was closed while records were {doing}")
        self.forget()
        changed: Future[None] = Future()
        waiter = Waiter(1, lambda: changed.set_result(None), committed=self._committed)
        self._waiter, self._watched = waiter, list(partitions)
        for each in self._watched:
            each.waiters.add(waiter)
        return changed

    def wake(self) -> None:
        """Act as if something had changed."""
        if self._waiter is not None:
            self._waiter.wake()

    def forget(self) -> None:
        """Stop watching."""
        if self._waiter is not None:
            for each in self._watched:
                each.waiters.discard(self._waiter)
            self._waiter, self._watched = None, []


class RecordWait:
    """Counts the records of a topic, or of one partition, until there are enough. ``with`` ends the wait.

    Each look reads only the records since the last one. Transaction markers do not count.
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
            raise ValueError(f"records={count!r}: expected 0 or more records")
        check_number("timeout", timeout_s)
        self._call = call
        self._topics = topics
        self._topic = topic
        self._count = count
        self._partition = partition
        self._isolation: Isolation = isolation
        self._timeout_s = timeout_s
        self._positions: dict[int, int] = {}
        self._counts: dict[int, int] = {}
        self._watch = TopicWatch(isolation)

    def blocking_wait(self) -> None:
        """Block this thread, which must not be the broker's."""
        self._check(blocking_look(self._look, self._timeout_s, self._call))

    async def trio_wait(self, offload: Offload) -> None:
        """Wait in trio; records are read by ``offload``."""
        self._check(await trio_look(self._look, self._timeout_s, offload))

    def _look(self) -> Future[None] | None:
        """Read the new records. Returns None if there are enough, else a future for the next change."""
        changed, bounds = self._call(self._begin)
        for each in bounds:
            new = read_records(self._call, self._topics, self._topic, [each], self._isolation, False)
            self._counts[each.partition] = self._counts.get(each.partition, 0) + sum(1 for _ in new)
            self._positions[each.partition] = max(each.first, each.end)
        return None if sum(self._counts.values()) >= self._count else changed

    def _check(self, is_there: bool) -> None:
        if is_there:
            return
        counts = ", ".join(f"{self._topic}-{index}: {count}" for index, count in sorted(self._counts.items()) if count)
        total = sum(self._counts.values())
        raise TimeoutError(
            f"topic {self._topic!r} has {total} of {self._count} records after {self._timeout_s:g} s "
            f"({self._isolation}; {counts or 'its partitions are empty'}){in_event_loop()}"
        )

    # -- in the broker's thread

    def _begin(self) -> tuple[Future[None], list[Bounds]]:
        """Watch for the next change, and return the parts of the log to read until then."""
        chosen = find_partitions(self._topics, self._topic, self._partition)
        # Aborted transactions that ended before the position would hide later records of their producers.
        news = bounds_of(
            self._topics,
            self._topic,
            self._partition,
            self._isolation,
            lambda index, first, _: max(first, self._positions.get(index, 0)),
        )
        return self._watch.begin(chosen, "waited for"), [each for each in news if each.first < each.end]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._watch.forget)


AT_ONCE = 2000
"""The maximum number of records to read from a partition at a time."""


class News(NamedTuple):
    """New records. ``left_out`` counts offsets that were skipped. ``changed`` gets a result when there are more.

    ``more``: there are more already.
    """

    records: list[StoredRecord]
    left_out: int
    changed: Future[None]
    more: bool


class RecordFollow:
    """Follows a topic, or one partition. ``with`` ends it.

    ``start`` is the first offset, or those of partition 0, 1 and so on; by default, only records that are appended
    after the first look are returned. With ``latest``, start that many offsets before the end of each partition, and
    never return more from one partition at a time: older offsets are skipped. ``limit`` is how many to read at a time,
    an equal share from each partition. Raises ValueError if it is less than 1.
    In a partition that was truncated the follower continues at its end, in a topic that was created again at its start.
    """

    def __init__(
        self,
        call: Call,
        topics: PartitionRegistry,
        topic: str,
        partition: int | None = None,
        *,
        start: int | Sequence[int] | None = None,
        latest: int | None = None,
        limit: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
    ) -> None:
        if latest is not None and latest < 1:
            raise ValueError(f"latest={latest}: expected 1 record or more")
        self._call = call
        self._topics = topics
        self._topic = topic
        self._partition = partition
        self._start = start if isinstance(start, int) else None
        self._latest = latest
        self._limit = limit
        self._isolation: Isolation = isolation
        self._control = control
        self._followed: Topic | None = None
        self._left_out = 0
        self._positions: dict[int, int] = {} if start is None or isinstance(start, int) else dict(enumerate(start))
        self._watch = TopicWatch(isolation)

    def look(self) -> News:
        """The records since the last look. Call it in a thread other than the broker's.

        Raises KafkaError if the topic or partition does not exist, BrokerClosedError if the broker has ended.
        """
        changed, bounds, left_out = self._call(self._begin)
        found: list[StoredRecord] = []
        more = False
        share = AT_ONCE if self._limit is None else max(1, self._limit // max(1, len(bounds)))
        for each in bounds:
            records = read_records(self._call, self._topics, self._topic, [each], self._isolation, self._control)
            some = list(records if self._latest is not None else islice(records, share))
            if self._latest is None and len(some) == share:
                self._positions[each.partition], more = some[-1].offset + 1, True
            found += some
        if more:
            self._call(self._watch.wake)
        return News(found, left_out, changed, more)

    # -- in the broker's thread

    def _begin(self) -> tuple[Future[None], list[Bounds], int]:
        topic = find_topic(self._topics, self._topic)
        chosen = find_partitions(self._topics, self._topic, self._partition)
        changed = self._watch.begin(chosen, "followed")
        if topic is not self._followed:
            if self._followed is not None:
                self._positions = dict.fromkeys((each.index for each in chosen), 0)
            self._followed = topic
        self._left_out = 0
        news = bounds_of(self._topics, self._topic, self._partition, self._isolation, self._begin_at)
        return changed, [each for each in news if each.first < each.end], self._left_out

    def _begin_at(self, number: int, first: int, end: int) -> int:
        """Where to read on in a partition. What is skipped before it is counted."""
        position = max(first, min(self._positions.get(number, self._first(end)), end))
        begin = position if self._latest is None else max(position, end - self._latest)
        self._left_out += begin - position if number in self._positions else 0
        self._positions[number] = end
        return begin

    def _first(self, end: int) -> int:
        if self._start is not None:
            return self._start
        return end if self._latest is None else end - self._latest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._watch.forget)
