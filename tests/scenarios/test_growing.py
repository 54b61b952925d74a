"""A broker that joins a running cluster, takes a partition over, leaves, and comes back with another configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import pytest

import odradek
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.describe_cluster import DescribeClusterRequest
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.unregister_broker import UnregisterBrokerRequest
from odradek.wire_client import WireConnection
from tests.conformance.real_kafka import properties_text
from tests.conformance.real_quorum import RealQuorum
from tests.scenarios.target import wait_until

FIRST, LATER = 1, 2
_BROKER, _STATIC, _FENCED_TOO = 4, 4, 2
Config = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Growing:
    """A cluster of the node FIRST, broker and controller, with static voters.

    `add` starts LATER for the first time, `start` again, and both return its port.
    """

    port: int
    add: Callable[[Config], int]
    stop: Callable[[], None]
    start: Callable[[Config], int]


class _RealGrowing(RealQuorum):
    """A Kafka whose second broker starts when it is told to."""

    def __enter__(self) -> Self:
        try:
            self.prepare()
            self.launch(FIRST)
            self.wait_answering(FIRST)
        except BaseException:
            self.close()
            raise
        return self

    def start(self, config: Config) -> int:
        properties = properties_text({**self.properties(LATER), **config})
        (self.folder / str(LATER) / "server.properties").write_text(properties)
        self.launch(LATER)
        self.wait_answering(LATER)
        return self.brokers[LATER]


@pytest.fixture
def growing(side: str) -> Iterator[Growing]:
    if side == "kafka":
        with _RealGrowing([FIRST, LATER], [FIRST]) as real:
            yield Growing(real.brokers[FIRST], real.start, lambda: real.stop(LATER), real.start)
        return
    with odradek.KafkaBroker() as broker:

        def add(config: Config) -> int:
            assert broker.add_node(config=config) == LATER
            return broker.nodes[LATER].port

        def stop() -> None:
            broker.stop_node(LATER)

        def start(config: Config) -> int:
            broker.start_node(LATER, config=config)
            return broker.nodes[LATER].port

        yield Growing(broker.nodes[FIRST].port, add, stop, start)
        assert not broker.bugs


def ask(port: int, request: Any, version: int) -> Any:
    with WireConnection("127.0.0.1", port) as client:
        return client.receive(request, version, client.send(request, version))


def brokers(port: int) -> dict[int, tuple[int, str | None]]:
    """Port and rack of each broker, as Metadata tells."""
    return {each.node_id: (each.port, each.rack) for each in ask(port, MetadataRequest([]), 12).brokers}


def placed(port: int, topic: str) -> tuple[int, list[int], list[int]]:
    """Leader, replicas and ISR of partition 0."""
    [found] = [each for each in ask(port, MetadataRequest(None), 12).topics if each.name == topic]
    partition = found.partitions[0]
    return partition.leader_id, partition.replica_nodes, partition.isr_nodes


def reassign(port: int, topic: str, replicas: list[int]) -> ErrorCode:
    partition = ReassignablePartition(0, replicas)
    request = AlterPartitionReassignmentsRequest(30_000, topics=[ReassignableTopic(topic, [partition])])
    [answer] = ask(port, request, 0).responses
    return ErrorCode(answer.partitions[0].error_code)


def static_values(port: int, node_id: int) -> dict[str, str | None]:
    """What the node says that it was started with."""
    request = DescribeConfigsRequest([DescribeConfigsResource(_BROKER, str(node_id))])
    [result] = ask(port, request, 4).results
    return {each.name: each.value for each in result.configs if each.config_source == _STATIC}


def quorum(port: int) -> tuple[list[int], list[int]]:
    """Voters and observers."""
    [topic] = ask(port, DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])]), 2).topics
    [partition] = topic.partitions
    return [each.replica_id for each in partition.current_voters], [each.replica_id for each in partition.observers]


def fenced(port: int) -> dict[int, bool]:
    """Which brokers are fenced, as DescribeCluster tells."""
    answer = ask(port, DescribeClusterRequest(include_fenced_brokers=True), _FENCED_TOO)
    return {each.broker_id: each.is_fenced for each in answer.brokers}


def test_a_broker_joins_takes_over_leaves_and_comes_back(growing: Growing) -> None:
    port = growing.port
    create = CreateTopicsRequest([CreatableTopic("orders", 1, 1)], timeout_ms=30_000)
    assert ask(port, create, 7).topics[0].error_code == 0
    assert reassign(port, "orders", [LATER]) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert ask(port, UnregisterBrokerRequest(LATER), 0).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED

    later = growing.add({"broker.rack": "a", "num.partitions": "3"})
    wait_until("the broker is known", lambda: brokers(port).get(LATER) == (later, "a"))
    wait_until("it knows all", lambda: brokers(later) == brokers(port))
    assert fenced(port) == {FIRST: False, LATER: False}
    wait_until("it observes", lambda: quorum(port) == ([FIRST], [LATER]))
    assert placed(port, "orders") == (FIRST, [FIRST], [FIRST])
    own = static_values(later, LATER)
    assert (own["process.roles"], own["broker.rack"], own["num.partitions"]) == ("broker", "a", "3")

    assert reassign(port, "orders", [LATER]) is ErrorCode.NONE
    wait_until("the partition has moved", lambda: placed(port, "orders") == (LATER, [LATER], [LATER]))
    assert reassign(port, "orders", [FIRST]) is ErrorCode.NONE
    wait_until("it is back", lambda: placed(port, "orders") == (FIRST, [FIRST], [FIRST]))

    growing.stop()
    wait_until("the broker is gone", lambda: list(brokers(port)) == [FIRST])
    assert fenced(port) == {FIRST: False, LATER: True}
    assert ask(port, UnregisterBrokerRequest(LATER), 0).error_code == 0
    assert fenced(port) == {FIRST: False}
    assert ask(port, UnregisterBrokerRequest(LATER), 0).error_code == ErrorCode.BROKER_ID_NOT_REGISTERED

    later = growing.start({"broker.rack": "b"})
    wait_until("the broker is known again", lambda: brokers(port).get(LATER) == (later, "b"))
    own = static_values(later, LATER)
    assert own["broker.rack"] == "b"
    assert "num.partitions" not in own
