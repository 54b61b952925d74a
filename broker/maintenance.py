"""Housekeeping of the logs on the broker's clock: retention, compaction, forgetting idle producers.

Each kind of work has its own interval (Kafka's configs) and goes over the partitions that hold anything. A partition
enters with its first append and leaves when it is empty again, so idle topics cost nothing. A jump of the clock makes
everything that came due run once, not once for each interval passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.partition import Partition

RETENTION_INTERVAL = "log.retention.check.interval.ms"
COMPACTION_INTERVAL = "log.cleaner.backoff.ms"
EXPIRATION_INTERVAL = "producer.id.expiration.check.interval.ms"

_SLICE = 64
"""Partitions between two checkpoints of the task."""

_DONE = object()
Work = Callable[["Partition", int], Iterator[object]]


class _Round:
    """One kind of work: what to do with a partition, how often, and when next."""

    __slots__ = ("interval_config", "last_ms", "name", "work")

    def __init__(self, name: str, interval_config: str, work: Work) -> None:
        self.name = name
        self.interval_config = interval_config
        self.work = work
        self.last_ms = 0


def _retention(partition: Partition, now_ms: int) -> Iterator[object]:
    partition.log.apply_retention(now_ms)
    return iter(())


def _compaction(partition: Partition, now_ms: int) -> Iterator[object]:
    log = partition.log
    return log.compact_steps(now_ms) if log.config.compact else iter(())


def _expiration(partition: Partition, now_ms: int) -> Iterator[object]:
    partition.log.expire_producers(now_ms)
    return iter(())


class Maintenance:
    """Runs the housekeeping of all partitions in one task.

    Owner: the cluster, whose maintenance nursery runs :meth:`run`. A failure with one partition is remembered as a bug
    of the cluster and stops neither the others nor the task. Partitions come in through :meth:`watch`
    (``Partition.on_activity``).
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._watched: dict[Partition, None] = {}
        self._changed = trio.Event()
        self._rounds = (
            _Round("retention", RETENTION_INTERVAL, _retention),
            _Round("compaction", COMPACTION_INTERVAL, _compaction),
            _Round("producer expiration", EXPIRATION_INTERVAL, _expiration),
        )

    @property
    def watched(self) -> list[Partition]:
        """The partitions that are looked after now."""
        return list(self._watched)

    def watch(self, partition: Partition) -> None:
        """Look after ``partition`` from now on; to be called when it gets data."""
        if not self._watched:
            self._start_intervals()
            self._changed.set()
        self._watched[partition] = None

    def run_now(self) -> None:
        """Do all work for all partitions at once, whatever the intervals; synchronous, for tests and tools."""
        now_ms = self._cluster.clock.now_ms()
        for each in self._rounds:
            each.last_ms = now_ms
            for partition in self.watched:
                for _ in self._steps(each, partition, now_ms):
                    pass
        self._forget_empty()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The task: sleeps until some work is due (for ever while no partition holds data)."""
        clock = self._cluster.clock
        self._cluster.config.on_change(self._config_changed)
        self._cluster.topics.on_activity = self.watch
        for topic in self._cluster.topics.all():
            for partition in topic.partitions:
                if partition.active:
                    self.watch(partition)
        task_status.started()
        while True:
            due_ms = self._next_due_ms()
            if due_ms is None:
                await self._changed.wait()
            else:
                with clock.move_on_after(max(0, due_ms - clock.now_ms()) / 1000):
                    await self._changed.wait()
            self._changed = trio.Event()
            for each in self._rounds:
                now_ms = clock.now_ms()
                if self._watched and now_ms >= each.last_ms + self._interval_ms(each):
                    each.last_ms = now_ms
                    await self._run_round(each, now_ms)
            self._forget_empty()

    # -- inside

    async def _run_round(self, each: _Round, now_ms: int) -> None:
        for number, partition in enumerate(self.watched):
            for _ in self._steps(each, partition, now_ms):
                await trio.lowlevel.checkpoint()
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()

    def _steps(self, each: _Round, partition: Partition, now_ms: int) -> Iterator[None]:
        """The work on one partition, in steps between which others may run; ends when the partition is gone."""
        try:
            idle = partition.deleted or (each.work is _compaction and not self._cleaner_enabled())
            work = iter(()) if idle else each.work(partition, now_ms)
            while not partition.deleted and next(work, _DONE) is not _DONE:
                yield
        except Exception as error:
            where = f"{each.name} of {partition.topic.name}-{partition.index}"
            self._cluster.dispatcher.remember_bug(where, error)

    def _cleaner_enabled(self) -> bool:
        return self._cluster.config.get_bool("log.cleaner.enable")

    def _forget_empty(self) -> None:
        for partition in self.watched:
            log = partition.log
            if partition.deleted:
                del self._watched[partition]
            elif log.log_start_offset == log.log_end_offset and not log.size_bytes and not log.active_producers():
                del self._watched[partition]
                partition.active = False

    def _next_due_ms(self) -> int | None:
        if not self._watched:
            return None
        return min(each.last_ms + self._interval_ms(each) for each in self._rounds)

    def _interval_ms(self, each: _Round) -> int:
        return max(1, self._cluster.config.get_int(each.interval_config))

    def _start_intervals(self) -> None:
        """Nothing was watched, so nothing was due: the intervals begin now."""
        now_ms = self._cluster.clock.now_ms()
        for each in self._rounds:
            each.last_ms = now_ms

    def _config_changed(self, _names: frozenset[str]) -> None:
        self._changed.set()
