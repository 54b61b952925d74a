"""Periodic checks of the controller: give leadership back to preferred replicas, elect leaders for partitions without
one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import trio

from odradek.broker.controller.partition_control import balance_leaders, elect_uncleanly
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.controller.controller import Controller
    from odradek.broker.controller.machine import Decision, MetadataState
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage, PartitionRegistration

AUTO_REBALANCE = "auto.leader.rebalance.enable"
IMBALANCE_INTERVAL_S = "leader.imbalance.check.interval.seconds"
UNCLEAN_INTERVAL_MS = "unclean.leader.election.interval.ms"
_log = logging.getLogger("odradek.broker.controller")


class LeaderChecks:
    """Holds the elections that are due from time to time, on the broker's clock. Owner: the cluster.

    As on Kafka each check has its own interval, which begins when a node becomes the controller, and leaders are
    handed back for every partition that has another one than its preferred replica. Nothing runs while all partitions
    are led by that.
    """

    def __init__(self, controller: Controller, config: BrokerConfig, clock: BrokerClock) -> None:
        self._controller = controller
        self._clock = clock
        self._some = trio.Event()
        node_id = controller.controller_id
        self._checks: list[tuple[int, Callable[[MetadataState], Decision[bool]]]] = [
            (config.get_int(UNCLEAN_INTERVAL_MS, node_id), elect_uncleanly),
        ]
        if config.get_bool(AUTO_REBALANCE, node_id):
            self._checks.append((config.get_int(IMBALANCE_INTERVAL_S, node_id) * 1000, balance_leaders))

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        if any(_is_imbalanced(partition) for partition in _changed(delta, image)):
            self._some.set()

    async def run(self) -> None:
        """Check while some partition is not led by its preferred replica."""
        while True:
            await self._some.wait()
            looked_ms = self._clock.now_ms()
            while self._is_any_imbalanced():
                await self._clock.sleep_until_ms(self._next_ms())
                self._look(looked_ms)
                looked_ms = self._clock.now_ms()
            self._some = trio.Event()

    def _next_ms(self) -> int:
        """The time of the next check of any kind."""
        now_ms, since_ms = self._clock.now_ms(), self._controller.active_since_ms
        return now_ms + min(interval - (now_ms - since_ms) % interval for interval, _ in self._checks)

    def _look(self, looked_ms: int) -> None:
        """Make each check that has come due since the last look, once."""
        since_ms = self._controller.active_since_ms
        passed_ms, before_ms = self._clock.now_ms() - since_ms, max(0, looked_ms - since_ms)
        for interval, rule in self._checks:
            if passed_ms // interval > before_ms // interval:
                self._execute(rule)

    def _execute(self, rule: Callable[[MetadataState], Decision[bool]]) -> None:
        try:
            while self._controller.ask(rule):
                pass
        except KafkaError as error:
            # Nobody waits for the result, and the next check tries again.
            _log.warning("%s: %s", rule.__name__, error)

    def _is_any_imbalanced(self) -> bool:
        topics = self._controller.image.topics.values()
        return any(_is_imbalanced(partition) for topic in topics for partition in topic.partitions)


def _is_imbalanced(partition: PartitionRegistration) -> bool:
    return partition.leader != partition.replicas[0]


def _changed(delta: MetadataDelta, image: MetadataImage) -> Iterator[PartitionRegistration]:
    for topic_id in (*delta.created, *delta.grown):
        yield from image.topics_by_id[topic_id].partitions
    for topic_id, index in delta.moved:
        topic = image.topics_by_id.get(topic_id)
        if topic is not None:
            yield topic.partitions[index]
