"""CreateTopics, DeleteTopics and CreatePartitions beyond the recordings."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.generated.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.protocol.generated.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.message import ZERO_UUID
from tests.broker.requests.test_metering import Asked
from tests.fakes.ask import ask


def topic(name: str, partitions: int = -1, factor: int = -1, **configs: str) -> CreatableTopic:
    given = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
    return CreatableTopic(name, partitions, factor, [], given)


def test_the_answer_describes_the_new_topic() -> None:
    cluster = Cluster(nodes=3)
    [made] = ask(cluster, CreateTopicsRequest([topic("a", 4, 2, retention_ms="5")])).topics
    known = cluster.topics.get("a")
    assert known is not None
    assert (made.error_code, made.error_message, made.topic_id) == (0, None, known.topic_id)
    assert (made.num_partitions, made.replication_factor) == (4, 2)
    assert len(made.configs) == 37
    assert [config.name for config in made.configs] == sorted(config.name for config in made.configs)
    [retention] = [config for config in made.configs if config.name == "retention.ms"]
    assert (retention.value, retention.config_source, retention.read_only) == ("5", 1, False)


def test_validation_creates_nothing_but_tells_the_same() -> None:
    cluster = Cluster()
    [made] = ask(cluster, CreateTopicsRequest([topic("a", 2)], validate_only=True)).topics
    assert (made.error_code, made.num_partitions, len(made.configs)) == (0, 2, 37)
    assert made.topic_id != ZERO_UUID
    assert cluster.topics.all() == []


def test_each_topic_has_its_own_outcome() -> None:
    cluster = Cluster()
    response = ask(cluster, CreateTopicsRequest([topic("a"), topic("b"), topic("b"), topic("c c")]))
    assert [(made.name, made.error_code) for made in response.topics] == [("a", 0), ("c c", 17), ("b", 42)]
    assert [known.name for known in cluster.topics.all()] == ["a"]


def test_create_topics_with_a_partition_assigned_twice_is_refused() -> None:
    assignments = [CreatableReplicaAssignment(0, [1]), CreatableReplicaAssignment(0, [1])]
    [made] = ask(Cluster(), CreateTopicsRequest([CreatableTopic("a", -1, -1, assignments)])).topics
    assert made.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert made.error_message == "Found multiple manual partition assignments for partition 0"


def test_create_topics_with_too_many_partitions_is_refused() -> None:
    cluster = Cluster()
    response = ask(cluster, CreateTopicsRequest([topic("twice"), topic("twice"), topic("a", 6000), topic("b", 6000)]))
    why = "Excessively large number of partitions per request."
    assert [(made.name, made.error_code, made.error_message) for made in response.topics] == [
        (name, ErrorCode.POLICY_VIOLATION, why) for name in ("twice", "twice", "a", "b")
    ]
    assert cluster.topics.all() == []


ONE_ID, OTHER_ID = b"\x05" * 16, b"\x06" * 16
BOTH, NEITHER = "You may not specify both topic name and topic id.", "Neither topic name nor id were specified."


@pytest.mark.parametrize(
    ("states", "answers", "left"),
    [
        (["a", "a"], {("a", None, "Duplicate topic name.")}, "ab"),
        (["id a", "id a"], {(None, "a", "Duplicate topic id.")}, "ab"),
        (["a", "id a"], {("a", "a", "The provided topic name maps to an ID that was already supplied.")}, "ab"),
        (["a", "id a", "a"], {("a", None, "Duplicate topic name."), ("a", "a", None)}, "b"),
        (["a id a", "a id a", "a"], {("a", "a", BOTH), ("a", "a", None)}, "b"),
        (["none", "none", "id b"], {(None, None, NEITHER), ("b", "b", None)}, "a"),
        (["c", "id b"], {("c", None, "This server does not host this topic-partition."), ("b", "b", None)}, "a"),
    ],
)
def test_deletion_by_name_and_id_at_once(
    states: list[str], answers: set[tuple[str | None, str | None, str | None]], left: str
) -> None:
    cluster = Cluster()
    ids = {name: cluster.create_topic(name).topic_id for name in "ab"} | {None: ZERO_UUID}
    asked = []
    for state in states:
        name, _, of = state.partition("id ")
        asked.append(DeleteTopicState(name.strip() if name and name != "none" else None, ids[of or None]))
    response = ask(cluster, DeleteTopicsRequest(asked, timeout_ms=1000))
    assert {(each.name, each.topic_id, each.error_message) for each in response.responses} == {
        (name, ids[of], message) for name, of, message in answers
    }
    assert len(response.responses) == len(answers) + (states[0] == states[1] and states[0] in ("none", "a id a"))
    assert [known.name for known in cluster.topics.all()] == list(left)


def test_delete_topics_of_unknown_ids_is_refused() -> None:
    states = [DeleteTopicState(None, ONE_ID), DeleteTopicState(None, OTHER_ID), DeleteTopicState(None, OTHER_ID)]
    response = ask(Cluster(), DeleteTopicsRequest(states, timeout_ms=1000))
    assert {(each.topic_id, each.error_code) for each in response.responses} == {(ONE_ID, 100), (OTHER_ID, 42)}


@pytest.mark.parametrize(("version", "code"), [(1, 42), (2, 42), (3, 73), (5, 73)])
def test_delete_topics_is_refused_where_deletion_is_disabled(version: int, code: int) -> None:
    cluster = Cluster(config={"delete.topic.enable": "false"})
    cluster.create_topic("a")
    response = ask(cluster, DeleteTopicsRequest([], ["a"], timeout_ms=1000), version)
    assert [(each.name, each.error_code) for each in response.responses] == [("a", code)]
    assert cluster.topics.get("a") is not None


@pytest.mark.parametrize("validate_only", [True, False])
def test_create_partitions_adds_partitions(validate_only: bool) -> None:
    cluster = Cluster()
    known = cluster.create_topic("a")
    request = CreatePartitionsRequest(
        [CreatePartitionsTopic("a", 3, None)], validate_only=validate_only, timeout_ms=1000
    )
    [result] = ask(cluster, request).results
    assert (result.error_code, result.error_message) == (0, None)
    assert len(known.partitions) == (1 if validate_only else 3)


def test_the_active_controller_chooses_what_the_client_leaves_open() -> None:
    own = {1: {"num.partitions": "3"}, 2: {"num.partitions": "5", "default.replication.factor": "2"}}
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes=own))
    request = CreateTopicsRequest([topic("a")])
    [first] = ask(cluster, request, node_id=2).topics
    cluster.controller.take_over(2)
    [second] = ask(cluster, CreateTopicsRequest([topic("b")]), node_id=1).topics

    assert (first.num_partitions, first.replication_factor) == (3, 1)
    assert (second.num_partitions, second.replication_factor) == (5, 2)


def test_the_answer_shows_the_defaults_of_the_controller() -> None:
    separate = {"process.roles": "broker", "controller.listener.names": "C", "controller.quorum.voters": "3000@a:0"}
    own = {1: {"log.retention.ms": "5"}, 3000: {"log.segment.bytes": "2000000"}}
    cluster = Cluster(config=BrokerConfig(separate, nodes=own))
    [made] = ask(cluster, CreateTopicsRequest([topic("a")])).topics
    shown = {config.name: (config.value, config.config_source) for config in made.configs}

    assert shown["segment.bytes"] == ("2000000", 4)
    assert shown["retention.ms"] == ("604800000", 5)
    assert cluster.topics.by_name("a").config.log_config().retention_ms == 5


def test_the_active_controller_may_forbid_deletion() -> None:
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes={2: {"delete.topic.enable": "false"}}))
    cluster.create_topic("a")
    cluster.controller.take_over(2)
    response = ask(cluster, DeleteTopicsRequest([DeleteTopicState("a")], timeout_ms=1000))

    assert response.responses[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED


@pytest.mark.parametrize(
    ("change", "version", "strict"),
    [
        *(("create", version, strict) for version, strict in ((5, False), (6, True))),
        *(("grow", version, strict) for version, strict in ((2, False), (3, True))),
        *(("delete", version, strict) for version, strict in ((4, False), (5, True))),
    ],
)
def test_a_quota_of_mutations_refuses_newer_clients_and_slows_older_ones(
    change: str, version: int, strict: bool
) -> None:
    """KIP-599."""
    asked = Asked()
    asked.set(controller_mutation_rate=1.0)
    asked.ask(CreateTopicsRequest([CreatableTopic("a", 12, 1)], 1000), 7)
    requests: dict[str, Any] = {
        "create": CreateTopicsRequest([CreatableTopic("b", 1, 1)], 1000),
        "grow": CreatePartitionsRequest([CreatePartitionsTopic("a", 13, None)], 1000),
        "delete": DeleteTopicsRequest([], ["a"], 1000),
    }
    answer = asked.ask(requests[change], version)
    [row] = answer.results if change == "grow" else answer.responses if change == "delete" else answer.topics
    assert row.error_code == (ErrorCode.THROTTLING_QUOTA_EXCEEDED if strict else ErrorCode.NONE)
    assert answer.throttle_time_ms == asked.wait_ms > 0
