"""The records of a topic as they come, for as long as somebody looks."""

from __future__ import annotations

from concurrent.futures import Future
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from odradek.broker.facade.record_view import Bounds, bounds_of, read_records
from odradek.broker.facade.topic_changes import find_partition, find_topic
from odradek.broker.facade.topic_watch import TopicWatch

if TYPE_CHECKING:
    from odradek.broker.facade.call import Call
    from odradek.broker.facade.stored_record import Isolation, StoredRecord
    from odradek.broker.partitions.partition_registry import PartitionRegistry, Topic

AT_ONCE = 2000
"""How many records of a partition are read at a time."""


class News(NamedTuple):
    """What has come. ``left_out``: how many offsets were passed over. ``changed`` has a result when there is more."""

    records: list[StoredRecord]
    left_out: int
    changed: Future[None]


class RecordFollow:
    """Follows a topic, or one partition. A ``with`` block ends it.

    ``start``: the first offset; by default what comes from the first look on. ``latest``: begin that many
    offsets before the end of each partition, and never give more of one at a time: what is between is left out.
    ValueError for less than 1. A partition that was cut goes on at its end, a topic that was made anew at its begin.
    """

    def __init__(
        self,
        call: Call,
        topics: PartitionRegistry,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        latest: int | None = None,
        at_once: int = AT_ONCE,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
    ) -> None:
        if latest is not None and latest < 1:
            raise ValueError(f"latest={latest}: expected 1 record or more")
        self._call = call
        self._topics = topics
        self._topic = topic
        self._partition = partition
        self._start = start
        self._latest = latest
        self._at_once = at_once
        self._isolation: Isolation = isolation
        self._control = control
        self._followed: Topic | None = None
        self._positions: dict[int, int] = {}
        self._watch = TopicWatch(isolation)

    def look(self) -> News:
        """What has come since the last look, in another thread than the broker's.

        KafkaError if there is no such topic or partition; BrokerClosedError when the broker has ended.
        """
        changed, bounds, left_out = self._call(self._begin)
        found: list[StoredRecord] = []
        more = False
        for each in bounds:
            records = read_records(self._call, self._topics, self._topic, [each], self._isolation, self._control)
            some = list(records if self._latest is not None else islice(records, self._at_once))
            if self._latest is None and len(some) == self._at_once:
                self._positions[each.partition], more = some[-1].offset + 1, True
            found += some
        if more:
            self._call(self._watch.wake)
        return News(found, left_out, changed)

    # -- in the broker's thread

    def _begin(self) -> tuple[Future[None], list[Bounds], int]:
        topic = find_topic(self._topics, self._topic)
        chosen = topic.partitions if self._partition is None else [find_partition(topic, self._partition)]
        changed = self._watch.begin(chosen, "followed")
        if topic is not self._followed:
            self._positions = {} if self._followed is None else dict.fromkeys((each.index for each in chosen), 0)
            self._followed = topic
        news = [self._news(each) for each in bounds_of(self._topics, self._topic, self._partition, self._isolation)]
        return changed, [each for each, _ in news if each.first < each.end], sum(skipped for _, skipped in news)

    def _news(self, bounds: Bounds) -> tuple[Bounds, int]:
        """What there is to read now, and how many offsets before it are left out."""
        number, first, end, _ = bounds
        position = max(first, min(self._positions.get(number, self._first(end)), end))
        begin = position if self._latest is None else max(position, end - self._latest)
        skipped = begin - position if number in self._positions else 0
        self._positions[number] = end
        aborted: tuple[tuple[int, int], ...] = ()
        if self._isolation == "read_committed" and begin < end:
            log = find_partition(find_topic(self._topics, self._topic), number).log
            aborted = tuple((producer_id, offset) for producer_id, offset in log.aborted_transactions(begin, end))
        return Bounds(number, begin, end, aborted), skipped

    def _first(self, end: int) -> int:
        if self._start is not None:
            return self._start
        return end if self._latest is None else end - self._latest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._watch.forget)
