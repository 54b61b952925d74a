"""Look-ups in the image."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.image import (
    BrokerRegistration,
    MetadataDelta,
    PartitionRegistration,
    check_topic_name,
    collision_key,
    directory_of,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.configs import set_configs
from tests.fakes.nodes import set_node_up


def test_what_is_not_there_is_none_or_empty() -> None:
    image = Cluster().image
    assert image.partition("a", 0) is None
    assert image.configs_of(2, "a") == {}
    assert image.feature("no.such") == 0
    assert directory_of(image, 9) == bytes(16)


def test_partitions_configs_and_brokers() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", partitions=2, replication_factor=2)
    set_configs(cluster, 32, "g", {"consumer.session.timeout.ms": "50000"})
    image = cluster.image
    assert image.partition("a", 1) is image.topics["a"].partitions[1]
    assert image.partition("a", 2) is image.partition("a", -1) is None
    assert image.topics["a"].replication_factor == 2
    assert image.names_with_configs(32) == ["g"]
    set_node_up(cluster, 2, False)
    assert [broker.id for broker in image.active_brokers()] == [1]
    assert (directory_of(image, 1),) == cluster.membership.directories[1]
    assert "1 topics, 2 brokers" in repr(image)


# -- The changes of the image by one command. Publishers get it after the image has changed.


def test_a_new_delta_is_empty() -> None:
    assert MetadataDelta().is_empty


def test_delta_of_everything_names_all_resources() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", configs={"retention.ms": "5"})
    delta = MetadataDelta.of_everything(cluster.image)
    assert [topic.name for topic in delta.created.values()] == ["a"]
    assert set(delta.configs) == {(2, "a"), (4, "")}
    assert delta.brokers == {1: None, 2: None}
    assert not delta.is_empty


# -- Registrations: what the image has of a partition, a broker and a controller.


def test_partition_with_adding_or_removing_replicas_is_under_reassignment() -> None:
    at_rest = PartitionRegistration((1, 2), (1, 2), 1, 0, 0, (bytes(16), bytes(16)))
    assert not at_rest.is_reassigned
    assert at_rest._replace(adding=(3,)).is_reassigned
    assert at_rest._replace(removing=(2,)).is_reassigned


@pytest.mark.parametrize(
    ("fenced", "stopping", "active"), [(False, False, True), (True, False, False), (False, True, False)]
)
def test_a_broker_leads_while_it_is_neither_fenced_nor_stopping(fenced: bool, stopping: bool, active: bool) -> None:
    assert BrokerRegistration(1, 0, bytes(16), (), {}, None, fenced, stopping, ()).is_active is active


# -- names of topics: Kafka's own ones, and which are valid


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
def test_a_topic_name_that_kafka_refuses_is_refused(name: str, problem: str) -> None:
    with pytest.raises(KafkaError) as refused:
        check_topic_name(name)
    assert refused.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert refused.value.message == f"Topic name is invalid: {problem}"


@pytest.mark.parametrize("name", ["a", "x" * 249, "...", "A-z_0.9", "__consumer_offsets"])
def test_a_topic_name_that_kafka_takes_is_taken(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    ("name", "key"), [("a.b", "a_b"), ("a_b", "a_b"), ("a.b_c", "a_b_c"), ("plain", None), ("a-b", None)]
)
def test_names_that_collide_share_a_key(name: str, key: str | None) -> None:
    assert collision_key(name) == key
