"""DescribeGroups, ListGroups and DeleteGroups beyond the recorded conversations: filters, nodes, loading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.coordinator.group.groups import OffsetToCommit
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.runtime.shard import ShardState
from odradek.broker.security.acl import Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from odradek.protocol.generated.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.describe_groups import DescribeGroupsRequest
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.primitives import ZERO_UUID
from tests.fakes.acls import SECURED, allow
from tests.fakes.ask import ask
from tests.fakes.data_plane import DataPlane, without_tasks
from tests.fakes.group_driver import commit_offsets
from tests.fakes.wire_client import WireClient


class Plane(DataPlane):
    """A cluster whose coordinators have no tasks: their timers stand still."""

    def __init__(self, nodes: int = 1) -> None:
        super().__init__(nodes=nodes)
        without_tasks(self.cluster)
        self.cluster.groups.topic.ensure()

    def commit(self, group_id: str) -> None:
        offsets = [OffsetToCommit("t", ZERO_UUID, 0, 1, -1, "")]
        self.cluster.groups.ask_now(group_id, commit_offsets(group_id, offsets))

    def listed(self, version: int = 5, node: int = 1, **filters: list[str]) -> list[str]:
        response = self.call(ListGroupsRequest(**filters), version, node=node)  # type: ignore[arg-type]
        assert response.error_code == ErrorCode.NONE
        return [group.group_id for group in response.groups]


@pytest.fixture
def plane() -> Iterator[Plane]:
    plane = Plane()
    plane.commit("g")
    yield plane
    plane.cluster.groups.close()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, True),
        ({"states_filter": ["empty"]}, True),
        ({"states_filter": ["Stable", "EMPTY"]}, True),
        ({"states_filter": ["Stable"]}, False),
        ({"states_filter": ["Nonsense"]}, False),
        ({"types_filter": ["Classic"]}, True),
        ({"types_filter": ["consumer"]}, False),
        ({"types_filter": ["nonsense"]}, False),
        ({"types_filter": ["nonsense", "classic"], "states_filter": ["Empty"]}, True),
    ],
)
def test_list_groups_filters_by_state_and_type(plane: Plane, filters: dict[str, Any], found: bool) -> None:
    assert plane.listed(**filters) == (["g"] if found else [])


def test_each_node_lists_what_it_coordinates() -> None:
    plane = Plane(nodes=3)
    groups = {f"g{i}" for i in range(30)}
    for group in groups:
        plane.commit(group)
    lists = [set(plane.listed(node=node)) for node in (1, 2, 3)]
    assert set.union(*lists) == groups
    assert sum(map(len, lists)) == len(groups)
    for node, own in zip((1, 2, 3), lists, strict=True):
        described = plane.call(DescribeGroupsRequest(sorted(groups)), 6, node=node).groups
        for group in described:
            assert group.error_code == (ErrorCode.NONE if group.group_id in own else ErrorCode.NOT_COORDINATOR)
        deleted = plane.call(DeleteGroupsRequest(sorted(groups - own)), 2, node=node).results
        assert {result.error_code for result in deleted} == {ErrorCode.NOT_COORDINATOR}


def test_a_coordinator_that_loads_says_so(plane: Plane) -> None:
    shard = plane.cluster.groups.shard_for("g")
    shard.state = ShardState.LOADING
    with pytest.raises(KafkaError) as caught:
        plane.call(ListGroupsRequest())
    assert caught.value.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    described = plane.call(DescribeGroupsRequest(["g"])).groups[0]
    assert described.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    shard.state = ShardState.FAILED
    assert plane.listed() == []


def test_group_admin_apis_before_the_offsets_topic_exists() -> None:
    plane = DataPlane()
    assert plane.call(ListGroupsRequest()).groups == []
    assert plane.call(DescribeGroupsRequest(["g"])).groups[0].error_code == ErrorCode.NOT_COORDINATOR


def test_groups_are_described_by_partitions_of_the_offsets_topic() -> None:
    """In the order of a Java map of the five partitions, as a real Kafka did; deletions name a group once."""
    with (
        KafkaBroker(config={"offsets.topic.num.partitions": "5"}) as broker,
        WireClient.at(broker.bootstrap_servers) as client,
    ):
        client.request(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
        described = client.request(DescribeGroupsRequest(["g-jg-v4", "g-nogroup", ""]), 5).groups
        deleted = client.request(DeleteGroupsRequest(["a", "b", "c", "d", "a", ""]), 2).results
    assert [group.group_id for group in described] == ["g-jg-v4", "", "g-nogroup"]
    assert [group.group_id for group in deleted] == ["", "d", "b", "c", "a"]


@pytest.mark.parametrize("topics", [["a", "b"], ["a"]])
def test_a_consumer_group_is_described_to_those_who_may_describe_all_its_topics(topics: list[str]) -> None:
    """Kafka hides a group as a whole (KIP-848)."""
    cluster = Cluster(config={**SECURED, "group.consumer.assignment.interval.ms": "0"})
    for name in ("a", "b"):
        cluster.create_topic(name)
    without_tasks(cluster)
    cluster.groups.topic.ensure()
    options = {"subscribed_topic_names": ["a", "b"], "topic_partitions": [], "rebalance_timeout_ms": 60_000}
    assert ask(cluster, ConsumerGroupHeartbeatRequest("g", "m", 0, **options)).error_code == ErrorCode.NONE  # type: ignore[arg-type]
    allow(cluster, "User:alice", Operation.DESCRIBE, Resource.GROUP, "g")
    for name in topics:
        allow(cluster, "User:alice", Operation.DESCRIBE, Resource.TOPIC, name)
    (group,) = ask(cluster, ConsumerGroupDescribeRequest(["g"]), principal=Principal("User", "alice")).groups
    all_seen = topics == ["a", "b"]
    assert group.error_code == (ErrorCode.NONE if all_seen else ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert len(group.members) == all_seen
