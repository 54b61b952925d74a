"""From names to partitions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from odradek.broker.api.lookups import check_leads, find_partition, leader_endpoints, repeated, told_controller
from odradek.broker.cluster import Cluster
from odradek.broker.requests.context import RequestContext
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from odradek.protocol.generated.messages.fetch import FetchRequest, NodeEndpoint
from odradek.protocol.generated.messages.list_offsets import ListOffsetsRequest
from tests.fakes.ask import ask
from tests.fakes.data_plane import DataPlane
from tests.fakes.nodes import set_node_up


def test_find_partition_finds_the_partition_of_a_number() -> None:
    plane = DataPlane(topics={"a": 3})
    context = plane.context(ListOffsetsRequest(), 1)
    assert find_partition(context, "a", 2) is plane.cluster.topics.get("a").partitions[2]  # type: ignore[union-attr]


@pytest.mark.parametrize(("topic", "index"), [("nope", 0), ("a", 3), ("a", -1)])
def test_find_partition_of_an_unknown_topic_or_number_is_refused(topic: str, index: int) -> None:
    plane = DataPlane(topics={"a": 3})
    with pytest.raises(KafkaError) as caught:
        find_partition(plane.context(ListOffsetsRequest(), 1), topic, index)
    assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- The addresses of leaders beside errors (KIP-951).


def test_a_name_that_is_asked_for_again_has_the_same_description() -> None:
    assert repeated([1, 2], ["b", "a", "b"]) == [1, 2, 1]
    assert repeated([], []) == []


def test_each_node_once_as_the_client_reaches_it() -> None:
    plane = DataPlane(nodes=3)
    nodes = plane.cluster.nodes
    nodes[2].first.port, nodes[2].rack = 9002, "r2"
    nodes[3].first.advertised = ("elsewhere", 1234)
    found = leader_endpoints(plane.context(FetchRequest(), 16), [3, 2, 3], NodeEndpoint)
    assert [(each.node_id, each.host, each.port, each.rack) for each in found] == [
        (2, "broker.test", 9002, "r2"),
        (3, "elsewhere", 1234, None),
    ]


def test_nodes_that_are_down_or_unknown_are_left_out() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.nodes[2].up = False
    assert leader_endpoints(plane.context(FetchRequest(), 16), [2, 9, -1], NodeEndpoint) == []


# -- Which node is told as the controller.


SEPARATE = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "3000@127.0.0.1:0",
}


def asked(cluster: Cluster, node_id: int) -> RequestContext:
    context: Any = SimpleNamespace(services=cluster.services, node=cluster.members[node_id])
    return cast(RequestContext, context)


def test_a_controller_that_is_a_broker_is_told() -> None:
    cluster = Cluster(nodes=2)
    assert told_controller(asked(cluster, 2)) == 1
    set_node_up(cluster, 1, False)
    assert told_controller(asked(cluster, 2)) == 2


def test_told_controller_is_a_live_broker_where_controllers_are_separate() -> None:
    cluster = Cluster(nodes=2, config=SEPARATE)
    assert told_controller(asked(cluster, 2)) == 1
    set_node_up(cluster, 1, False)
    assert told_controller(asked(cluster, 2)) == 2
    set_node_up(cluster, 2, False)
    assert told_controller(asked(cluster, 2)) == -1


def test_check_leads_refuses_other_controllers() -> None:
    cluster = Cluster(nodes=2)
    check_leads(asked(cluster, 1))
    for why, told in ((None, None), ("not {}", "not 1")):
        with pytest.raises(KafkaError) as refused:
            check_leads(asked(cluster, 2), why)
        assert (refused.value.code, refused.value.message) == (ErrorCode.NOT_CONTROLLER, told)


def codes(answer: Any) -> set[int]:
    """All error codes of an answer but those of its configs."""
    fields = [getattr(answer, name) for name in answer.field_names()]
    below = [codes(each) for field in fields if isinstance(field, list) for each in field]
    own = {int(answer.error_code)} if hasattr(answer, "error_code") else set()
    return own.union(*below) if below else own


@pytest.mark.parametrize("timeout_ms", [0, -1, -(1 << 31)])
@pytest.mark.parametrize(
    ("request_", "empty"),
    [
        (CreateTopicsRequest([CreatableTopic("b", 1, 1)]), CreateTopicsRequest([])),
        (DeleteTopicsRequest([DeleteTopicState("a")]), DeleteTopicsRequest([])),
        (CreatePartitionsRequest([CreatePartitionsTopic("a", 2, None)]), CreatePartitionsRequest([])),
        (ElectLeadersRequest(0, [TopicPartitions("a", [0])]), ElectLeadersRequest(0, [])),
        (
            AlterPartitionReassignmentsRequest(
                topics=[ReassignableTopic("a", [ReassignablePartition(0, [2])])],
            ),
            AlterPartitionReassignmentsRequest(topics=[]),
        ),
    ],
    ids=lambda request: type(request).__name__,
)
def test_admin_requests_without_time_are_timed_out_and_change_nothing(
    request_: Any, empty: Any, timeout_ms: int
) -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a")
    request_.timeout_ms = empty.timeout_ms = timeout_ms
    assert codes(ask(cluster, request_)) == {ErrorCode.REQUEST_TIMED_OUT}
    assert codes(ask(cluster, empty)) <= {0}
    assert [topic.name for topic in cluster.topics.all()] == ["a"]
    assert [(p.replicas, p.leader_id) for p in cluster.topics.by_name("a").partitions] == [((1,), 1)]
