"""The topic registry: names, creation, growth, settings, deletion, and who hears of it."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.topics import CONSUMER_OFFSETS, TRANSACTION_STATE, Topic, TopicRegistry, check_topic_name
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record


@pytest.fixture
def topics() -> TopicRegistry:
    return Cluster(nodes=3).topics


def refusal(function: Any, *arguments: Any, **named: Any) -> tuple[ErrorCode, str | None]:
    with pytest.raises(KafkaError) as refused:
        function(*arguments, **named)
    return refused.value.code, refused.value.message


def batch() -> bytes:
    return build_batch([Record(0, 0, None, b"value", ())])


# -- names


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
        ("a b", "'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("a\n", "'a\n' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
        ("größe", "'größe' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"),
    ],
)
def test_bad_names(name: str, problem: str) -> None:
    assert refusal(check_topic_name, name) == (
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        f"Topic name is invalid: {problem}",
    )


@pytest.mark.parametrize("name", ["a", "x" * 249, "...", "A-z_0.9", "__consumer_offsets"])
def test_good_names(name: str) -> None:
    check_topic_name(name)


def test_dots_and_underscores_collide(topics: TopicRegistry) -> None:
    topics.create("a.b_c")
    for name in ("a_b_c", "a.b.c", "a_b.c"):
        assert refusal(topics.create, name) == (
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: a.b_c",
        )
    topics.delete("a.b_c")
    topics.create("a_b_c")


# -- creation


def test_defaults_come_from_the_broker() -> None:
    registry = Cluster(nodes=2, config={"num.partitions": "4", "default.replication.factor": "2"}).topics
    topic = registry.create("a")
    assert [partition.replicas for partition in topic.partitions] == [[1, 2], [2, 1], [1, 2], [2, 1]]
    assert [partition.leader_id for partition in topic.partitions] == [1, 2, 1, 2]
    assert topic.replication_factor == 2
    assert registry.get("a") is topic
    assert registry.by_id(topic.topic_id) is topic
    assert "a" in registry
    assert len(registry) == 1


def test_replicas_by_hand(topics: TopicRegistry) -> None:
    topic = topics.create("a", assignments={1: [3, 1], 0: [2, 1]})
    assert [partition.replicas for partition in topic.partitions] == [[2, 1], [3, 1]]
    assert [partition.isr for partition in topic.partitions] == [[2, 1], [3, 1]]


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
        ({"configs": {"x": "1"}, "partitions": 0}, ErrorCode.INVALID_CONFIG, "Unknown topic config name: x"),
        (
            {"configs": {"retention.ms": None}},
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: retention.ms",
        ),
    ],
)
def test_what_cannot_be_created(topics: TopicRegistry, arguments: dict[str, Any], code: ErrorCode, why: str) -> None:
    topics.create("old")
    before = topics.version
    assert refusal(topics.create, **{"name": "new", **arguments}) == (code, why)
    assert topics.version == before
    assert [topic.name for topic in topics.all()] == ["old"]


def test_a_plan_changes_nothing(topics: TopicRegistry) -> None:
    plan = topics.plan("a", partitions=2, configs={"retention.ms": " 5 "})
    assert len(plan.assignments) == 2
    assert plan.config.overrides == {"retention.ms": "5"}
    assert topics.all() == []


def test_ids_are_never_used_again(topics: TopicRegistry) -> None:
    first = topics.create("a").topic_id
    topics.delete("a")
    assert topics.by_id(first) is None
    assert topics.create("a").topic_id not in (first, bytes(16))


def test_thousands_of_partitions_open_no_log(topics: TopicRegistry) -> None:
    topic = topics.create("a", partitions=5000)
    assert not any(partition.opened for partition in topic.partitions)
    topics.set_overrides(topic, {"retention.ms": "5"})
    topics.delete("a")
    assert not any(partition.opened for partition in topic.partitions)


# -- internal topics


def test_internal_topics_have_kafkas_settings() -> None:
    registry = Cluster(nodes=1, config={"offsets.topic.num.partitions": "7"}).topics
    offsets = registry.ensure_internal(CONSUMER_OFFSETS)
    assert offsets is registry.ensure_internal(CONSUMER_OFFSETS)
    assert (offsets.internal, len(offsets.partitions), offsets.replication_factor) == (True, 7, 1)
    assert offsets.config.overrides == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }
    transactions = registry.ensure_internal(TRANSACTION_STATE)
    assert len(transactions.partitions) == 50
    assert transactions.config.overrides["cleanup.policy"] == "compact"
    with pytest.raises(ValueError, match="orders"):
        registry.ensure_internal("orders")


def test_internal_topics_take_as_many_replicas_as_there_are_nodes() -> None:
    assert Cluster(nodes=5).topics.ensure_internal(CONSUMER_OFFSETS).replication_factor == 3
    assert Cluster(nodes=2).topics.ensure_internal(CONSUMER_OFFSETS).replication_factor == 2


# -- growth


def test_a_topic_grows(topics: TopicRegistry) -> None:
    topic = topics.create("a", partitions=1, replication_factor=2)
    old = topic.partitions[0]
    heard: list[tuple[Topic, int]] = []
    topics.on_partitions_added(lambda grown, first: heard.append((grown, first)))
    topics.add_partitions("a", 3)
    assert topic.partitions[0] is old
    assert [partition.index for partition in topic.partitions] == [0, 1, 2]
    assert all(len(partition.replicas) == 2 for partition in topic.partitions)
    assert heard == [(topic, 1)]
    topics.add_partitions("a", 4, [[3, 1]])
    assert topic.partitions[3].replicas == [3, 1]


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
def test_growth_that_is_refused(
    topics: TopicRegistry, name: str, total: int, assignments: Any, code: ErrorCode, why: str | None
) -> None:
    topics.create("a", partitions=2)
    assert refusal(topics.add_partitions, name, total, assignments) == (code, why)


# -- settings


def test_settings_reach_open_logs_at_once(topics: TopicRegistry) -> None:
    topic = topics.create("a", partitions=2)
    log = topic.partitions[0].log
    heard: list[Topic] = []
    topics.on_config_changed(heard.append)
    topics.set_overrides(topic, {"retention.ms": "5"})
    assert log.config.retention_ms == 5
    assert topic.partitions[1].log.config.retention_ms == 5
    assert heard == [topic]


def test_changed_broker_defaults_reach_topics_that_do_not_override_them() -> None:
    cluster = Cluster()
    plain = cluster.topics.create("plain").partitions[0].log
    own = cluster.topics.create("own", configs={"retention.ms": "7"}).partitions[0].log
    cluster.config.set_dynamic(None, {"log.retention.ms": "5"})
    assert plain.config.retention_ms == 5
    assert own.config.retention_ms == 7


# -- deletion


def test_a_deleted_topic_is_gone_with_its_data(topics: TopicRegistry) -> None:
    topic = topics.create("a")
    topic.partitions[0].append(batch(), now_ms=0)
    heard: list[Topic] = []
    topics.on_deleted(heard.append)
    assert topics.delete("a") is topic
    assert heard == [topic]
    assert topic.deleted
    assert topic.partitions[0].deleted
    assert topics.get("a") is None
    assert topics.create("a").partitions[0].log.log_end_offset == 0
    assert refusal(topics.delete, "b") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)


def test_everything_that_metadata_shows_moves_the_version(topics: TopicRegistry) -> None:
    created: list[Topic] = []
    topics.on_created(created.append)
    versions = [topics.version]
    topic = topics.create("a", replication_factor=2)
    versions.append(topics.version)
    topics.add_partitions("a", 2)
    versions.append(topics.version)
    topics.cached["x"] = topic.cached["x"] = 1
    topic.partitions[0].set_leader(topic.partitions[0].replicas[1])
    versions.append(topics.version)
    assert not topics.cached
    assert not topic.cached
    topics.delete("a")
    versions.append(topics.version)
    assert versions == sorted(set(versions))
    assert created == [topic]


def test_who_leads_is_told() -> None:
    registry = Cluster(nodes=2).topics
    partition = registry.create("a", replication_factor=2).partitions[0]
    heard: list[tuple[int, int]] = []
    registry.on_leader_changed(lambda led: heard.append((led.index, led.leader_id)))
    partition.set_leader(2)
    assert heard == [(0, 2)]
