"""Topics: names, creation, growth, settings, deletion, and what Kafka says to what does not fit."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller import topic_control
from odradek.broker.controller.broker_control import fence_broker
from odradek.broker.controller.machine import MetadataState
from odradek.broker.controller.topic_control import (
    CreatedTopic,
    NewTopic,
    check_replicas,
    create_topics,
    internal_configs,
    internal_topic,
    records_of_topic,
    spread,
)
from odradek.broker.metadata.image import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    BrokerRegistration,
    ResourceType,
)
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from tests.fakes.configs import set_configs
from tests.fakes.examples import examples
from tests.fakes.nodes import set_leader, set_node_up


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(nodes=3)


def refusal(function: Any, *arguments: Any, **named: Any) -> tuple[ErrorCode, str | None]:
    with pytest.raises(KafkaError) as refused:
        function(*arguments, **named)
    return refused.value.code, refused.value.message


def batch() -> bytes:
    return build_batch([Record(0, 0, None, b"value", ())])


def test_dots_and_underscores_collide(cluster: Cluster) -> None:
    cluster.create_topic("a.b_c")
    for name in ("a_b_c", "a.b.c", "a_b.c"):
        assert refusal(cluster.create_topic, name) == (
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: a.b_c",
        )
    cluster.delete_topic("a.b_c")
    cluster.create_topic("a_b_c")


# -- creation


def test_defaults_come_from_the_broker() -> None:
    cluster = Cluster(nodes=2, config={"num.partitions": "4", "default.replication.factor": "2"})
    topic, registry = cluster.create_topic("a"), cluster.topics
    assert [partition.replicas for partition in topic.partitions] == [(1, 2), (2, 1), (1, 2), (2, 1)]
    assert [partition.leader_id for partition in topic.partitions] == [1, 2, 1, 2]
    assert topic.replication_factor == 2
    assert registry.get("a") is topic
    assert registry.by_id(topic.topic_id) is topic
    assert registry.all() == [topic]


def test_create_topic_with_assignments_has_those_replicas(cluster: Cluster) -> None:
    topic = cluster.create_topic("a", assignments={1: [3, 1], 0: [2, 1]})
    assert [partition.replicas for partition in topic.partitions] == [(2, 1), (3, 1)]
    assert [partition.isr for partition in topic.partitions] == [(2, 1), (3, 1)]


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ({"name": "old"}, ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 'old' already exists."),
        (
            {"partitions": 0},
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            {"partitions": -2},
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            {"replication_factor": 0},
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            {"assignments": {0: [1]}, "partitions": 2},
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            {"assignments": {0: [1]}, "replication_factor": 1},
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        ),
        (
            {"assignments": {1: [1]}},
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            {"replication_factor": -2},
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            {"assignments": {0: [9]}},
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            {"assignments": {0: [1, 2], 1: [1]}},
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent with "
            "previous partitions, which have 2 replica(s).",
        ),
        (
            {"configs": {"remote.storage.enable": "true"}},
            ErrorCode.INVALID_CONFIG,
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        ),
        ({"configs": {"x": "1"}, "partitions": 0}, ErrorCode.INVALID_CONFIG, "Unknown topic config name: x"),
        (
            {"configs": {"retention.ms": None}},
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: retention.ms",
        ),
    ],
)
def test_create_topics_refuses_what_cannot_be_created(
    cluster: Cluster, arguments: dict[str, Any], code: ErrorCode, why: str
) -> None:
    cluster.create_topic("old")
    before = cluster.image.offset
    assert refusal(cluster.create_topic, **{"name": "new", **arguments}) == (code, why)
    assert cluster.image.offset == before
    assert [topic.name for topic in cluster.topics.all()] == ["old"]


def test_a_partition_is_assigned_once_and_to_a_broker_that_is_up(cluster: Cluster) -> None:
    twice = NewTopic("a", assignments=[(0, [1]), (0, [1])])
    (error,) = cluster.controller.ask(create_topics, [twice])
    assert isinstance(error, KafkaError)
    assert error.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert error.message == "Found multiple manual partition assignments for partition 0"
    cluster.create_topic("old", partitions=1)
    set_node_up(cluster, 2, False)
    text = "All brokers specified in the manual partition assignment{} are fenced or in controlled shutdown."
    assert refusal(cluster.create_topic, "a", assignments={0: [1], 1: [2]}) == (
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        text.format(" for partition 1"),
    )
    assert refusal(cluster.controller.create_partitions, "old", 2, [[2]]) == (
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
        text.format(""),
    )
    assert cluster.create_topic("a", assignments={0: [2, 1]}).partitions[0].leader_id == 1


def test_the_largest_growth_of_a_topic(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert topic_control.MAX_NEW_PARTITIONS == 10_000
    monkeypatch.setattr(topic_control, "MAX_NEW_PARTITIONS", 3)
    cluster.create_topic("a", partitions=2)
    assert refusal(cluster.controller.create_partitions, "a", 6) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)
    cluster.controller.create_partitions("a", 5)
    topic_control.check_new_partitions(3)
    assert refusal(topic_control.check_new_partitions, 4) == (
        ErrorCode.POLICY_VIOLATION,
        "Excessively large number of partitions per request.",
    )


def test_a_topic_that_cannot_grow_is_told_the_reason_alone(cluster: Cluster) -> None:
    cluster.create_topic("a", partitions=1)
    for node in cluster.nodes:
        cluster.controller.ask(fence_broker, node)
    assert refusal(cluster.controller.create_partitions, "a", 2) == (
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "All brokers are currently fenced, or have all their log directories cordoned.",
    )


def test_a_broker_with_cordoned_directories_alone_takes_no_new_replica(cluster: Cluster) -> None:
    cordons = {1: "/a", 2: "*", 3: ""}
    config = BrokerConfig({}, nodes={node: {"cordoned.log.dirs": text} for node, text in cordons.items()})
    config.directories_of = lambda node_id: ("/a", "/b")
    state = MetadataState(cluster.image, config, 1)
    _, (created,) = create_topics(state, [NewTopic("a", 4, 1)])
    assert isinstance(created, CreatedTopic)
    assert {node for (node,) in created.assignments} == {1, 3}


def test_asking_what_would_become_changes_nothing(cluster: Cluster) -> None:
    asked = NewTopic("a", 2, configs={"retention.ms": " 5 "})
    before = cluster.image.offset
    (planned,) = cluster.controller.ask(create_topics, [asked], validate_only=True)
    assert isinstance(planned, CreatedTopic)
    assert (len(planned.assignments), planned.configs) == (2, {"retention.ms": "5"})
    assert cluster.image.offset == before
    assert cluster.topics.all() == []


def test_topics_of_one_request_do_not_know_each_other(cluster: Cluster) -> None:
    asked = [NewTopic("a.b", 1), NewTopic("old", 0), NewTopic("a_b", 1)]
    first, refused, second = cluster.controller.ask(create_topics, asked)
    assert isinstance(first, CreatedTopic)
    assert isinstance(second, CreatedTopic)
    assert isinstance(refused, KafkaError)
    assert [first.assignments, second.assignments] == [[[1]], [[2]]]
    assert set(cluster.image.topics) == {"a.b", "a_b"}


def test_ids_are_never_used_again(cluster: Cluster) -> None:
    first = cluster.create_topic("a").topic_id
    cluster.delete_topic("a")
    assert cluster.topics.by_id(first) is None
    assert cluster.create_topic("a").topic_id not in (first, bytes(16))


def test_thousands_of_partitions_open_no_log(cluster: Cluster) -> None:
    topic = cluster.create_topic("a", partitions=5000)
    assert not any(partition.opened for partition in topic.partitions)
    set_configs(cluster, ResourceType.TOPIC, "a", {"retention.ms": "5"})
    cluster.delete_topic("a")
    assert not any(partition.opened for partition in topic.partitions)


# -- internal topics


def test_internal_topics_have_kafkas_settings() -> None:
    cluster = Cluster(nodes=1, config={"offsets.topic.num.partitions": "7"})
    offsets = cluster.ensure_topic(CONSUMER_OFFSETS)
    assert offsets is cluster.ensure_topic(CONSUMER_OFFSETS)
    assert (offsets.internal, len(offsets.partitions), offsets.replication_factor) == (True, 7, 1)
    assert offsets.config.overrides == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    transactions = cluster.ensure_topic(TRANSACTION_STATE)
    assert len(transactions.partitions) == 50
    assert transactions.config.overrides["cleanup.policy"] == "compact"
    with pytest.raises(ValueError, match="orders"):
        cluster.ensure_topic("orders")


@pytest.mark.parametrize(
    ("name", "partitions", "configs"),
    [
        (
            TRANSACTION_STATE,
            50,
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": "2",
                "segment.bytes": "104857600",
                "unclean.leader.election.enable": "false",
            },
        ),
        (
            SHARE_GROUP_STATE,
            50,
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "min.insync.replicas": "2",
                "retention.ms": "-1",
                "segment.bytes": "104857600",
            },
        ),
    ],
)
def test_topics_of_coordinators_are_made_as_kafka_makes_them(
    name: str, partitions: int, configs: dict[str, str]
) -> None:
    assert internal_topic(name, BrokerConfig({}), 4) == NewTopic(name, partitions, 3, configs=configs)
    alone = internal_topic(name, BrokerConfig({}), 1)
    assert (alone.replication_factor, alone.configs["min.insync.replicas"]) == (1, "1")


def test_internal_topics_take_as_many_replicas_as_there_are_nodes() -> None:
    assert Cluster(nodes=5).ensure_topic(CONSUMER_OFFSETS).replication_factor == 3
    assert Cluster(nodes=2).ensure_topic(CONSUMER_OFFSETS).replication_factor == 2


# -- growth


def test_create_partitions_adds_partitions_with_assignments(cluster: Cluster) -> None:
    topic = cluster.create_topic("a", partitions=1, replication_factor=2)
    old = topic.partitions[0]
    cluster.controller.create_partitions("a", 3)
    assert topic.partitions[0] is old
    assert [partition.index for partition in topic.partitions] == [0, 1, 2]
    assert all(len(partition.replicas) == 2 for partition in topic.partitions)
    cluster.controller.create_partitions("a", 4, [[3, 1]])
    assert topic.partitions[3].replicas == (3, 1)


@pytest.mark.parametrize(
    ("name", "total", "assignments", "code", "why"),
    [
        ("b", 2, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None),
        ("a", 2, None, ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partition(s)."),
        (
            "a",
            -1,
            None,
            ErrorCode.INVALID_PARTITIONS,
            "The topic a currently has 2 partition(s); -1 would not be an increase.",
        ),
        (
            "a",
            4,
            [[1]],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            "a",
            3,
            [],
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        ("a", 20_000, None, ErrorCode.UNKNOWN_SERVER_ERROR, None),
    ],
)
def test_create_partitions_is_refused_with_kafkas_texts(
    cluster: Cluster, name: str, total: int, assignments: Any, code: ErrorCode, why: str | None
) -> None:
    cluster.create_topic("a", partitions=2)
    assert refusal(cluster.controller.create_partitions, name, total, assignments) == (code, why)


# -- settings


def test_settings_reach_open_logs_at_once(cluster: Cluster) -> None:
    topic = cluster.create_topic("a", partitions=2)
    log = topic.partitions[0].log
    set_configs(cluster, ResourceType.TOPIC, "a", {"retention.ms": "5"})
    assert log.config.retention_ms == 5
    assert topic.partitions[1].log.config.retention_ms == 5


def test_changed_broker_defaults_reach_topics_that_do_not_override_them() -> None:
    cluster = Cluster()
    plain = cluster.create_topic("plain").partitions[0].log
    own = cluster.create_topic("own", configs={"retention.ms": "7"}).partitions[0].log
    set_configs(cluster, ResourceType.BROKER, "", {"log.retention.ms": "5", "min.insync.replicas": "1"})
    assert plain.config.retention_ms == 5
    assert own.config.retention_ms == 7


# -- deletion


def test_a_deleted_topic_is_gone_with_its_data(cluster: Cluster) -> None:
    topic = cluster.create_topic("a")
    topic.partitions[0].append(batch(), now_ms=0)
    cluster.delete_topic("a")
    assert topic.deleted
    assert topic.partitions[0].deleted
    assert cluster.topics.get("a") is None
    assert cluster.create_topic("a").partitions[0].log.log_end_offset == 0
    assert refusal(cluster.delete_topic, "b") == (ErrorCode.UNKNOWN_TOPIC_ID, None)


def test_topic_version_moves_with_all_that_metadata_shows(cluster: Cluster) -> None:
    versions = [cluster.image.topics_version]

    def moved() -> bool:
        versions.append(cluster.image.topics_version)
        return versions[-1] > versions[-2]

    cluster.create_topic("a", replication_factor=2)
    assert moved()
    cluster.controller.create_partitions("a", 2)
    assert moved()
    set_leader(cluster, "a", 0, cluster.image.topics["a"].partitions[0].replicas[1])
    assert moved()
    set_configs(cluster, ResourceType.TOPIC, "a", {"retention.ms": "5"})
    assert not moved()
    cluster.delete_topic("a")
    assert moved()


# -- Placement of replicas on nodes and racks.


def nodes(*racks: str | None) -> list[BrokerRegistration]:
    return [BrokerRegistration(number, 0, b"", (), {}, rack, False, False, ()) for number, rack in enumerate(racks, 1)]


def test_leaders_go_round_and_followers_move_on() -> None:
    assert spread(nodes(None, None, None), 6, 2, 0) == [[1, 2], [2, 3], [3, 1], [1, 3], [2, 1], [3, 2]]


def test_the_next_topic_goes_on_where_the_last_one_stopped() -> None:
    assert spread(nodes(None, None, None), 2, 1, 4) == [[2], [3]]


def test_replicas_are_spread_over_racks() -> None:
    placed = spread(nodes("a", "a", "b", "b"), 8, 2, 0)
    rack = {1: "a", 2: "a", 3: "b", 4: "b"}
    assert all({rack[node] for node in replicas} == {"a", "b"} for replicas in placed)
    assert Counter(replicas[0] for replicas in placed) == {1: 2, 2: 2, 3: 2, 4: 2}


def test_nodes_that_are_down_lead_nothing() -> None:
    cluster = nodes(None, None, None)
    cluster[1] = cluster[1]._replace(fenced=True)
    placed = spread(cluster, 4, 3, 0)
    assert [replicas[0] for replicas in placed] == [1, 3, 1, 3]
    assert all(replicas[-1] == 2 for replicas in placed)


def test_create_topic_with_too_few_brokers_is_refused() -> None:
    with pytest.raises(KafkaError) as refused:
        spread(nodes(None), 1, 3, 0)
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert refused.value.message == (
        "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be reached because "
        "only 1 broker(s) are registered or some brokers have all their log directories cordoned."
    )


def test_create_topic_while_no_broker_is_up_is_refused() -> None:
    cluster = nodes(None)
    cluster[0] = cluster[0]._replace(fenced=True)
    with pytest.raises(KafkaError) as refused:
        spread(cluster, 1, 1, 0)
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


@given(
    racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=7),
    partitions=st.integers(1, 20),
    start=st.integers(0, 50),
    data=st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_every_partition_gets_distinct_nodes_and_leaders_are_even(
    racks: list[str | None], partitions: int, start: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(racks)))
    placed = spread(nodes(*racks), partitions, factor, start)
    assert len(placed) == partitions
    assert all(len(replicas) == factor == len(set(replicas)) for replicas in placed)
    leaders = Counter(replicas[0] for replicas in placed)
    assert max(leaders.values()) - min(leaders.get(number, 0) for number in range(1, len(racks) + 1)) <= 1


@pytest.mark.parametrize(
    ("replicas", "factor", "why"),
    [
        ([], None, "The manual partition assignment includes an empty replica list."),
        ([1, 1], None, "The manual partition assignment includes the broker 1 more than once."),
        ([9], None, "The manual partition assignment includes broker 9, but no such broker is registered."),
        (
            [1],
            2,
            "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent with "
            "previous partitions, which have 2 replica(s).",
        ),
    ],
)
def test_assignments_of_replicas_are_checked_as_kafka_does(replicas: list[int], factor: int | None, why: str) -> None:
    known = {node.id: node for node in nodes(None, None)}
    with pytest.raises(KafkaError) as refused:
        check_replicas(known, replicas, factor)
    assert refused.value.code is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refused.value.message == why
    check_replicas(known, [2, 1], 2)


# -- Kafka's own topics, as they are first made.


def test_replicas_are_no_more_than_there_are_brokers() -> None:
    config = BrokerConfig({"offsets.topic.num.partitions": "7"})
    assert [internal_topic("__consumer_offsets", config, brokers).replication_factor for brokers in (1, 2, 5)] == [
        1,
        2,
        3,
    ]
    assert internal_topic("__consumer_offsets", config, 1).partitions == 7
    assert internal_topic("__transaction_state", config, 1).configs["min.insync.replicas"] == "1"
    assert internal_topic("__transaction_state", config, 3).configs["min.insync.replicas"] == "2"


def test_any_other_topic_is_not_internal() -> None:
    config = BrokerConfig({})
    assert internal_configs("orders", config, 1) == {}
    with pytest.raises(ValueError, match="orders"):
        internal_topic("orders", config, 1)


# -- The records of a topic that exists already.


def test_the_topic_is_there_as_it_was() -> None:
    records = records_of_topic(
        "a",
        b"a" * 16,
        [[1, 2], [2]],
        {"retention.ms": "5"},
        directory_of=lambda node: bytes([node]) * 16,
        leader_epoch_of=lambda index: 10 + index,
    )
    writer = ImageWriter()
    for offset, record in enumerate(records):
        writer.replay(record, offset, 1)
    topic = writer.image.topics["a"]
    assert [(each.leader, each.leader_epoch, each.isr) for each in topic.partitions] == [(1, 10, (1, 2)), (2, 11, (2,))]
    assert topic.partitions[0].directories == (b"\1" * 16, b"\2" * 16)
    assert writer.image.configs_of(2, "a") == {"retention.ms": "5"}
