"""Metadata and DescribeTopicPartitions beyond the recordings: several nodes, changes, creation on the way, cursors."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.topic_control import NewTopic, create_topics
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Resource
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from odradek.protocol.message import ZERO_UUID
from tests.fakes.acls import allow
from tests.fakes.ask import ask, ask_patiently
from tests.fakes.nodes import set_node_up


def wanted(*names: str, create: bool = False, **options: Any) -> MetadataRequest:
    return MetadataRequest([MetadataRequestTopic(name=name) for name in names], create, **options)


def codes(response: MetadataResponse) -> list[tuple[int, str | None]]:
    return [(topic.error_code, topic.name) for topic in response.topics]


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(nodes=3)
    made.create_topic("a", partitions=3, replication_factor=2)
    made.create_topic("b")
    return made


def test_known_topics_come_first_and_once(cluster: Cluster) -> None:
    response = ask(cluster, wanted("x", "b", "b b", "a", "b"))
    assert codes(response) == [(0, "b"), (0, "a"), (3, "x"), (17, "b b")]


@pytest.mark.parametrize("version", range(14))
def test_metadata_of_all_topics_and_of_none(cluster: Cluster, version: int) -> None:
    nothing = ask(cluster, MetadataRequest([]), version)
    assert len(nothing.topics) == (2 if version == 0 else 0)
    if version > 0:
        assert codes(ask(cluster, MetadataRequest(None), version)) == [(0, "a"), (0, "b")]


@pytest.mark.trio
async def test_metadata_of_many_topics_lets_others_be_served(cluster: Cluster) -> None:
    cluster.services.controller.ask(create_topics, [NewTopic(f"n-{number}", 1, 1) for number in range(450)])
    served = 0

    async def another_client() -> None:
        nonlocal served
        while True:
            served += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(another_client)
        response = await ask_patiently(cluster, MetadataRequest(None), 12)
        nursery.cancel_scope.cancel()
    assert served > 2
    assert codes(response) == [(0, name) for name in cluster.services.image.topics]
    assert await ask_patiently(cluster, MetadataRequest(None), 12) == response
    cluster.create_topic("one-more")
    assert len((await ask_patiently(cluster, MetadataRequest(None), 12)).topics) == len(response.topics) + 1


def test_partitions_show_leaders_replicas_and_who_is_away(cluster: Cluster) -> None:
    set_node_up(cluster, 2, False)
    response = ask(cluster, wanted("a"))
    assert [broker.node_id for broker in response.brokers] == [1, 3]
    shown = [
        (p.error_code, p.leader_id, p.leader_epoch, p.replica_nodes, p.isr_nodes, p.offline_replicas)
        for p in response.topics[0].partitions
    ]
    assert shown == [(0, 1, 0, [1, 2], [1], [2]), (0, 3, 1, [2, 3], [3], [2]), (0, 3, 0, [3, 1], [3, 1], [])]
    first = ask(cluster, MetadataRequest([MetadataRequestTopic(name="a")]), 0).topics[0].partitions
    assert [(p.error_code, p.leader_id, p.replica_nodes) for p in first] == [(9, 1, [1]), (9, 3, [3]), (0, 3, [3, 1])]
    set_node_up(cluster, 3, False)
    set_node_up(cluster, 1, False)
    set_node_up(cluster, 2, True)
    partition = ask(cluster, wanted("a")).topics[0].partitions[2]
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


def test_a_kept_answer_follows_every_change(cluster: Cluster) -> None:
    def picture() -> Any:
        response = ask(cluster, MetadataRequest(None, False))
        return (
            [(broker.node_id, broker.port) for broker in response.brokers],
            [(topic.name, len(topic.partitions)) for topic in response.topics],
            [partition.leader_id for topic in response.topics for partition in topic.partitions],
        )

    assert picture() == picture()
    cluster.nodes[1].first.port = 9999
    assert (1, 9999) in picture()[0]
    cluster.create_topic("c")
    assert ("c", 1) in picture()[1]
    cluster.controller.create_partitions("c", 4)
    assert ("c", 4) in picture()[1]
    set_node_up(cluster, 1, False)
    assert 1 not in picture()[2]
    cluster.delete_topic("a")
    assert [name for name, _ in picture()[1]] == ["b", "c"]


def test_a_missing_topic_is_created_for_the_next_request(cluster: Cluster) -> None:
    assert codes(ask(cluster, wanted("new", create=True))) == [(3, "new")]
    assert codes(ask(cluster, wanted("new", create=True))) == [(0, "new")]
    assert codes(ask(cluster, wanted("b.b", create=True))) == [(3, "b.b")]
    assert codes(ask(cluster, wanted("b_b", create=True))) == [(3, "b_b")]
    assert cluster.topics.get("b_b") is None


@pytest.mark.parametrize("create", [True, False])
def test_the_broker_may_forbid_creation(create: bool) -> None:
    cluster = Cluster(config={"auto.create.topics.enable": "false"})
    ask(cluster, wanted("new", create=create))
    assert cluster.topics.all() == []


def test_a_broker_creates_topics_by_what_it_was_given_and_the_controller_adds_the_rest() -> None:
    own = {1: {"num.partitions": "5", "default.replication.factor": "2"}, 2: {"num.partitions": "3"}}
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes=own))
    for node_id in (1, 2):
        ask(cluster, wanted(f"t{node_id}", create=True), node_id=node_id)
    placed = [[len(partition.replicas) for partition in cluster.image.topics[name].partitions] for name in ("t1", "t2")]

    assert placed == [[2] * 5, [2] * 3]


@pytest.mark.long
def test_missing_topics_are_created_by_one_request_to_the_controller(cluster: Cluster) -> None:
    """So Kafka's limit of it counts: of too many topics none is created."""
    ask(cluster, wanted("bad/", "x1", "__cluster_metadata", "x2", create=True))
    assert {"x1", "x2"} < cluster.services.image.topics.keys()
    before = len(cluster.services.image.topics)
    response = ask(cluster, wanted(*(f"many-{number}" for number in range(10_001)), create=True))
    assert {topic.error_code for topic in response.topics} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(cluster.services.image.topics) == before


def test_one_broker_may_forbid_creation() -> None:
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes={2: {"auto.create.topics.enable": "false"}}))
    for node_id in (1, 2):
        ask(cluster, wanted(f"t{node_id}", create=True), node_id=node_id)

    assert [topic.name for topic in cluster.topics.all()] == ["t1"]


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state", "__share_group_state"])
def test_internal_topics_are_made_as_such(cluster: Cluster, name: str) -> None:
    response = ask(cluster, wanted(name, create=True))
    assert (response.topics[0].error_code, response.topics[0].is_internal) == (3, True)
    response = ask(cluster, wanted(name))
    assert (len(response.topics[0].partitions), response.topics[0].is_internal) == (50, True)


def test_ids_count_more_than_names(cluster: Cluster) -> None:
    topic = cluster.topics.get("a")
    assert topic is not None
    asked = [MetadataRequestTopic(topic.topic_id, None), MetadataRequestTopic(b"\x09" * 16, None)]
    response = ask(cluster, MetadataRequest([*asked, MetadataRequestTopic(ZERO_UUID, "b")], False))
    assert codes(response) == [(ErrorCode.UNKNOWN_TOPIC_ID, None), (0, "a")]


def test_operations_are_shown_of_missing_topics_too(cluster: Cluster) -> None:
    response = ask(cluster, wanted("a", "x", include_topic_authorized_operations=True))
    assert [topic.topic_authorized_operations for topic in response.topics] == [3576, 3576]


# -- DescribeTopicPartitions


def described(cluster: Cluster, names: list[str], limit: int = 2000, cursor: Cursor | None = None) -> Any:
    request = DescribeTopicPartitionsRequest([TopicRequest(name) for name in names], limit, cursor)
    response = ask(cluster, request)
    following = response.next_cursor
    return (
        [(topic.name, topic.error_code, [p.partition_index for p in topic.partitions]) for topic in response.topics],
        None if following is None else (following.topic_name, following.partition_index),
    )


@pytest.mark.parametrize(
    ("names", "limit", "cursor", "topics", "following"),
    [
        ([], 2000, None, [("a", 0, [0, 1, 2]), ("b", 0, [0])], None),
        (
            ["b", "x", "a", "b b", "a"],
            9,
            None,
            [("a", 0, [0, 1, 2]), ("b", 0, [0]), ("b b", 17, []), ("x", 3, [])],
            None,
        ),
        ([], 2, None, [("a", 0, [0, 1])], ("a", 2)),
        ([], 3, None, [("a", 0, [0, 1, 2])], ("b", 0)),
        (["a"], 0, None, [("a", 0, [0])], ("a", 1)),
        ([], 2, Cursor("a", 2), [("a", 0, [2]), ("b", 0, [0])], None),
        (["a", "b"], 9, Cursor("a", 9), [("a", 0, []), ("b", 0, [0])], None),
        (["a"], 9, Cursor("aa", 0), [("a", 42, [])], None),
        (["a"], 9, Cursor("a", -1), [("a", 42, [])], None),
        ([], 9, Cursor("a", -1), [], None),
        ([], 9, Cursor("aa", 0), [("b", 0, [0])], None),
    ],
)
def test_describe_topic_partitions_goes_page_by_page(
    cluster: Cluster, names: list[str], limit: int, cursor: Cursor | None, topics: Any, following: Any
) -> None:
    assert described(cluster, names, limit, cursor) == (topics, following)


def test_the_broker_limits_a_page() -> None:
    cluster = Cluster(config={"max.request.partition.size.limit": "1"})
    cluster.create_topic("a", partitions=2)
    assert described(cluster, []) == ([("a", 0, [0])], ("a", 1))


# -- Which topics a client sees, and which it may create by asking for them.


ALICE = Principal("User", "alice")
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
NOT_ASKED = -(1 << 31)


def names(*asked: str, **fields: Any) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in asked], **fields)


def told(answer: Any) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in answer.topics]


def test_a_list_of_all_topics_leaves_out_what_is_hidden(guarded_cluster: Cluster) -> None:
    for version, topics in ((0, []), (1, None), (13, None)):
        assert told(ask(guarded_cluster, MetadataRequest(topics=topics), version, principal=ALICE)) == [("mine", 0)]
    assert not guarded_cluster.services.denials.entries
    assert len(ask(guarded_cluster, MetadataRequest(topics=None)).topics) == 2


def test_a_topic_that_is_asked_for_is_denied_whether_it_exists_or_not(guarded_cluster: Cluster) -> None:
    answer = ask(guarded_cluster, names("none", "theirs", "mine"), 13, principal=ALICE)
    assert told(answer) == [("mine", 0), ("none", DENIED), ("theirs", DENIED)]
    assert answer.topics[2].topic_id == bytes(16)
    assert "none" not in guarded_cluster.image.topics


def test_an_id_that_is_denied_has_no_name(guarded_cluster: Cluster) -> None:
    ids = [topic.topic_id for topic in guarded_cluster.image.topics.values()]
    asked = [MetadataRequestTopic(topic_id, None) for topic_id in (ids[1], b"1" * 16, ids[0])]
    answer = ask(guarded_cluster, MetadataRequest(topics=asked), 12, principal=ALICE)
    assert told(answer) == [(None, ErrorCode.UNKNOWN_TOPIC_ID), ("mine", 0), (None, DENIED)]
    assert answer.topics[2].topic_id == ids[1]


def test_operations_are_told_of_what_is_shown(guarded_cluster: Cluster) -> None:
    asked = names("mine", "theirs", "mice", include_topic_authorized_operations=True, allow_auto_topic_creation=False)
    answer = ask(guarded_cluster, asked, 13, principal=ALICE)
    bits = [topic.topic_authorized_operations for topic in answer.topics]
    assert told(answer) == [("mine", 0), ("mice", UNKNOWN), ("theirs", DENIED)]
    assert bits == [1 << 3 | 1 << 8, 1 << 3 | 1 << 8, NOT_ASKED]
    # What the plain handler keeps is not spoilt by it.
    assert ask(guarded_cluster, asked, 13).topics[0].topic_authorized_operations == 3576


def test_operations_on_the_cluster_need_describe(guarded_cluster: Cluster) -> None:
    asked = names("mine", include_cluster_authorized_operations=True)
    assert ask(guarded_cluster, asked, 10, principal=ALICE).cluster_authorized_operations == 0
    allow(guarded_cluster, "User:alice", Operation.ALTER, Resource.CLUSTER, CLUSTER_NAME)
    assert ask(guarded_cluster, asked, 10, principal=ALICE).cluster_authorized_operations == 1 << 7 | 1 << 8
    assert ask(guarded_cluster, names("mine"), 10, principal=ALICE).cluster_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("resource", [Resource.TOPIC, Resource.CLUSTER])
def test_creating_needs_a_right_on_the_topic_or_the_cluster(guarded_cluster: Cluster, resource: Resource) -> None:
    asked = names("mine", "more", allow_auto_topic_creation=True)
    assert told(ask(guarded_cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", DENIED)]
    assert "more" not in guarded_cluster.image.topics
    name = "more" if resource is Resource.TOPIC else CLUSTER_NAME
    allow(guarded_cluster, "User:alice", Operation.CREATE, resource, name)
    assert told(ask(guarded_cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", UNKNOWN)]
    assert told(ask(guarded_cluster, asked, 12, principal=ALICE)) == [("mine", 0), ("more", 0)]


def test_metadata_with_id_and_name_before_version_12_is_invalid_whoever_asks(guarded_cluster: Cluster) -> None:
    by_id = MetadataRequest(topics=[MetadataRequestTopic(b"1" * 16, "x")])
    assert told(ask(guarded_cluster, by_id, 10, principal=ALICE)) == [("x", ErrorCode.INVALID_REQUEST)]
    assert told(ask(guarded_cluster, names("mine"), 13, principal=ALICE)) == [("mine", 0)]
