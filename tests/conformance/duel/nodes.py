"""Three nodes on both sides that are stopped, killed and started between two requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from odradek import KafkaBroker
from tests.conformance.duel.pairing import Form
from tests.conformance.duel.side import Door, Side
from tests.conformance.duel.stored_records import INTERNAL_PARTITIONS
from tests.conformance.duel.taming import SHORT_SESSIONS
from tests.scenarios.failures.real import kafka_cluster
from tests.scenarios.failures.targets import CONFIG, NODES, FailingCluster, OdradekCluster

VERBS = ("stop", "kill", "start")
"""These are the names of steps, too."""
NODE_OF: Mapping[str, int] = {on: 1 + at % len(NODES) for at, on in enumerate("abcdefstu")} | {"own": 1}
"""Connection -> the node that it is to. The last three ask for the state."""
STATE_LINES = "stu"
MOVING = (2, 3)
"""The nodes that are stopped. The first one always serves."""
_MORE = {
    "offsets.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "transaction.state.log.num.partitions": str(INTERNAL_PARTITIONS),
    "share.coordinator.state.topic.num.partitions": str(INTERNAL_PARTITIONS),
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.min.session.timeout.ms": "100",
    **SHORT_SESSIONS,
    "default.replication.factor": "3",
}


def rotated(partitions: int) -> list[list[int]]:
    """Replicas of each partition, the leaders one after the other."""
    nodes = list(NODES)
    return [nodes[at % 3 :] + nodes[: at % 3] for at in range(partitions)]


def assignments(partitions: int) -> list[Form]:
    """The same as CreateTopics takes them."""
    return [{"partitionIndex": at, "brokerIds": nodes} for at, nodes in enumerate(rotated(partitions))]


def both_clusters(stack: ExitStack) -> tuple[Side, Side]:
    """odradek in this process and a real Kafka of three brokers; their internal topics have the same leaders."""
    broker = stack.enter_context(KafkaBroker(nodes=len(NODES), config={**CONFIG, **_MORE}))
    own = OdradekCluster(broker)
    broker.clock.resume()
    real = stack.enter_context(kafka_cluster(_MORE))
    sides = (_side("odradek", own), _side("kafka", real))
    sides[0].complaints = lambda: "\n".join(f"bug in {each}" for each in broker.bugs)
    for side in sides:
        side.ask("CreateTopics", 5, {"topics": _internal(), "timeoutMs": 30_000, "validateOnly": False})
    return sides


def _side(name: str, cluster: FailingCluster) -> Side:
    doors = {on: Door(f"127.0.0.1:{cluster.port(node)}") for on, node in NODE_OF.items()}
    return Side(name, doors["own"], doors, cluster=cluster)


def _internal() -> Sequence[Form]:
    config = [{"name": "cleanup.policy", "value": "compact"}]
    made = {"numPartitions": -1, "replicationFactor": -1, "assignments": assignments(INTERNAL_PARTITIONS)}
    names = ("__consumer_offsets", "__transaction_state", "__share_group_state")
    return [{"name": name, **made, "configs": config} for name in names]
