"""A cluster of three nodes that fails on command: what stories ask of it, and odradek's answer.

`tests/scenarios/failures/real.py` has that of a real Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from odradek import KafkaBroker, Undo

NODES = (1, 2, 3)
CONFIG: Mapping[str, str] = {
    "replica.lag.time.max.ms": "3000",
    "broker.session.timeout.ms": "4000",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "3",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "log.initial.task.delay.ms": "86400000",
    "log.retention.check.interval.ms": "86400000",
}
"""Of both targets. No leader moves without being told to, no maintenance runs."""
STEP_S = 0.25


class FailingCluster(Protocol):
    """Nodes 1, 2 and 3. The verbs return when the nodes have done their part; others may learn of it later."""

    def port(self, node: int) -> int:
        """Where a node listens for clients on 127.0.0.1."""

    def stop(self, node: int) -> None:
        """A shutdown in order."""

    def kill(self, node: int) -> None:
        """A crash."""

    def start(self, node: int) -> None:
        """Back with its logs as they were."""

    def freeze(self, node: int) -> None:
        """Its sockets are open, and it answers nothing."""

    def thaw(self, node: int) -> None:
        """It goes on where it stood."""

    def cut(self, a: int, b: int) -> None:
        """Nothing is copied between two nodes."""

    def mend(self, a: int, b: int) -> None:
        """It is again."""

    def pass_time(self, seconds: float = STEP_S) -> None:
        """Let a moment pass on the cluster's clock."""

    def heal(self) -> None:
        """Undo everything; returns when all replicas are in sync and preferred leaders lead."""


class OdradekCluster:
    """odradek in this process, its clock moved only by `pass_time`: a slow machine changes nothing."""

    def __init__(self, broker: KafkaBroker) -> None:
        self.broker = broker
        self._cuts: dict[tuple[int, int], Undo] = {}
        self._ports = {n: node.first.port for n, node in broker.cluster.nodes.items()}
        broker.clock.freeze()

    def port(self, node: int) -> int:
        return self._ports[node]

    def stop(self, node: int) -> None:
        self.broker.stop_node(node)

    def kill(self, node: int) -> None:
        self.broker.kill_node(node)

    def start(self, node: int) -> None:
        self.broker.start_node(node)

    def freeze(self, node: int) -> None:
        self.broker.freeze_node(node)

    def thaw(self, node: int) -> None:
        self.broker.thaw_node(node)

    def cut(self, a: int, b: int) -> None:
        self._cuts[a, b] = self.broker.cut(a, b)

    def mend(self, a: int, b: int) -> None:
        self._cuts.pop((a, b)).undo()

    def pass_time(self, seconds: float = STEP_S) -> None:
        self.broker.clock.advance(seconds)

    def heal(self) -> None:
        self.broker.heal()


@contextmanager
def odradek_cluster() -> Iterator[FailingCluster]:
    """A new cluster of odradek; an AssertionError at the end if it met a bug."""
    with KafkaBroker(nodes=len(NODES), config=CONFIG) as broker:
        yield OdradekCluster(broker)
        assert not broker.bugs, broker.bugs[0]
