"""Housekeeping of the logs on the broker's clock: retention, tiering, compaction, forgetting idle producers.

Each kind of work has its own interval (Kafka's configs) and goes over the partitions that hold anything. A partition
enters with its first append and leaves when it is empty again, so idle topics cost nothing. A jump of the clock makes
everything that came due run once, not once for each interval passed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import trio

from odradek.broker.metadata.image import ResourceType
from odradek.protocol.long_work import LongStep
from odradek.storage import trimming

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.partition_registry import PartitionRegistry
    from odradek.broker.worker import Worker
    from odradek.storage.log_config import LogConfig

RETENTION_INTERVAL = "log.retention.check.interval.ms"
COMPACTION_INTERVAL = "log.cleaner.backoff.ms"
TIERING_INTERVAL = "remote.log.manager.task.interval.ms"
EXPIRATION_INTERVAL = "producer.id.expiration.check.interval.ms"

_log = logging.getLogger("odradek.broker.partitions.retention")
_cleaner_log = logging.getLogger("odradek.broker.partitions.compaction")

_SLICE = 64
"""Partitions between two checkpoints of the task."""

_DONE = object()
Work = Callable[["Partition", int], Iterator[object]]


class _Round:
    """One kind of work: what to do with a partition, how often, when last, and which partitions it concerns."""

    def __init__(self, name: str, interval_config: str, applies: Callable[[LogConfig], bool], work: Work) -> None:
        self.name = name
        self.interval_config = interval_config
        self.applies = applies
        self.work = work
        self.last_ms = 0
        self.members: dict[Partition, None] = {}


def _retention(partition: Partition, now_ms: int) -> Iterator[object]:
    log = partition.log
    dropped = trimming.apply_retention(log, now_ms)
    if dropped:
        _log.info("retention dropped %d segments of %s, it starts at %d", dropped, log.name, log.log_start_offset)
    return iter(())


def _compaction(partition: Partition, now_ms: int) -> Iterator[object]:
    from odradek.storage.compaction import compaction_steps  # most brokers never compact

    for result in compaction_steps(partition.log, now_ms):
        if result is not None and not isinstance(result, LongStep):
            _cleaner_log.info(
                "%s is compacted up to offset %d: %d of %d records are left, %d of %d bytes",
                *(partition.log.name, result.end_offset, result.records_after, result.records_before),
                *(result.bytes_after, result.bytes_before),
            )
        yield result


def _tiering(partition: Partition, now_ms: int) -> Iterator[object]:
    log = partition.log
    trimming.copy_to_tier(log)
    dropped = trimming.expire_tiered(log, now_ms)
    if dropped:
        _log.info(
            "retention dropped %d tiered segments of %s, it starts at %d", dropped, log.name, log.log_start_offset
        )
    return iter(())


def _expiration(partition: Partition, now_ms: int) -> Iterator[object]:
    partition.log.producers.expire(now_ms, partition.log.config.producer_id_expiration_ms)
    return iter(())


class Maintenance:
    """Runs the housekeeping of all partitions in one task.

    Owner: the cluster, whose maintenance nursery runs `run`. A failure with one partition is remembered as a bug
    of the cluster and stops neither the others nor the task. Partitions come in through `watch`
    (`Partition.on_activity`).
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: BrokerClock,
        topics: PartitionRegistry,
        report: Callable[[str, BaseException], None],
        worker: Worker,
    ) -> None:
        """`worker`: does the steps that take long."""
        self._worker = worker
        self._config = config
        self._clock = clock
        self._topics = topics
        self._report = report
        self._changed = trio.Event()
        self._rounds = (
            _Round("tiering", TIERING_INTERVAL, lambda config: config.remote_storage_enable, _tiering),
            _Round("retention", RETENTION_INTERVAL, lambda config: True, _retention),
            _Round("compaction", COMPACTION_INTERVAL, self._cleaner_works, _compaction),
            _Round("producer expiration", EXPIRATION_INTERVAL, lambda config: True, _expiration),
        )

    def watch(self, partition: Partition) -> None:
        """Look after `partition` from now on; to be called when it gets data or another config."""
        config = partition.log.config
        for round_ in self._rounds:
            if not round_.applies(config):
                round_.members.pop(partition, None)
                continue
            if not round_.members:
                # It had nothing to do, so nothing was due: its interval begins now.
                round_.last_ms = self._clock.now_ms()
                self._changed.set()
            round_.members[partition] = None

    def last_rounds(self) -> list[int]:
        """The times of the last round of each kind of work, for `go_on_from`."""
        return [round_.last_ms for round_ in self._rounds]

    def go_on_from(self, last_ms: Iterable[int]) -> None:
        """The clock shows another time: each kind of work was done last at these."""
        for round_, last in zip(self._rounds, last_ms, strict=True):
            round_.last_ms = last
        self._changed.set()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The task: sleeps until some work is due (for ever while no partition holds data)."""
        clock = self._clock
        self._topics.on_activity = self.watch
        for topic in self._topics.all():
            for partition in topic.partitions:
                if partition.active:
                    self.watch(partition)
        task_status.started()
        while True:
            due_ms = min((self._due_ms(round_) for round_ in self._rounds if round_.members), default=None)
            if due_ms is None:
                await self._changed.wait()
            else:
                with clock.move_on_after(max(0, due_ms - clock.now_ms()) / 1000):
                    await self._changed.wait()
            self._changed = trio.Event()
            for round_ in self._rounds:
                if round_.members and clock.now_ms() >= self._due_ms(round_):
                    await self._run_round(round_)

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """See `odradek.broker.controller.controller.Publisher`: an interval may be another one now."""
        if any(kind == ResourceType.BROKER for kind, _ in delta.configs):
            self._changed.set()

    # -- inside

    def _cleaner_works(self, config: LogConfig) -> bool:
        return config.compact and self._config.get_bool("log.cleaner.enable")

    async def _run_round(self, round_: _Round) -> None:
        round_.last_ms = now_ms = self._clock.now_ms()
        for number, partition in enumerate(list(round_.members)):
            for step in self._steps(round_, partition, now_ms):
                if isinstance(step, LongStep):
                    await self._worker.do(step.do)
                else:
                    await trio.lowlevel.checkpoint()
            if number % _SLICE == _SLICE - 1:
                await trio.lowlevel.checkpoint()
        self._forget_empty(round_)

    def _steps(self, round_: _Round, partition: Partition, now_ms: int) -> Iterator[object]:
        """The work on one partition, in steps between which others may run, and LongSteps for the worker. Ends if the
        partition is deleted.
        """
        try:
            work = iter(()) if partition.deleted else round_.work(partition, now_ms)
            while not partition.deleted and (step := next(work, _DONE)) is not _DONE:
                yield step
        except Exception as error:
            where = f"{round_.name} of {partition.topic.name}-{partition.index}"
            self._report(where, error)

    def _forget_empty(self, just_done: _Round) -> None:
        for partition in list(just_done.members):
            log = partition.log
            if partition.deleted or (
                log.log_start_offset == log.log_end_offset and not log.size_bytes and not log.producers
            ):
                partition.active = False
                for round_ in self._rounds:
                    round_.members.pop(partition, None)

    def _due_ms(self, round_: _Round) -> int:
        return round_.last_ms + max(1, self._config.get_int(round_.interval_config))
