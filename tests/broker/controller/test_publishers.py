"""What the log says of changes of the cluster."""

from __future__ import annotations

import logging

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.broker.nodes.node_life import move_leader
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.data_plane import DataPlane


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "odradek.broker.controller")
    return caplog


def lines(told: pytest.LogCaptureFixture) -> list[str]:
    """What was told since the last call."""
    messages = [record.getMessage() for record in told.records]
    told.clear()
    return messages


def test_topics_are_created_grow_and_are_deleted(told: pytest.LogCaptureFixture) -> None:
    plane = DataPlane()
    lines(told)
    topic = plane.topic("a", 2, retention_ms="5")
    assert lines(told) == ["topic a is created: 2 partitions", "configs of topic a at first: retention.ms=5"]
    plane.cluster.controller.create_partitions("a", 3)
    assert lines(told) == ["topic a has 3 partitions now"]
    plane.cluster.controller.delete_topic(topic.topic_id)
    assert lines(told)[0] == "topic a is deleted"
    assert len(uuid_to_text(topic.topic_id)) == 22


def test_leaders_that_move(told: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a", partitions=1, replication_factor=2)
    (partition,) = cluster.topics.all()[0].partitions
    lines(told)
    other = 3 - partition.leader_id
    move_leader(cluster, "a", 0, other)
    assert lines(told) == [f"a-0 is led by broker {other}, epoch 1, in sync [1, 2]"]


def test_many_changes_at_once_are_summed_up(told: pytest.LogCaptureFixture) -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("many", partitions=40, replication_factor=2)
    lines(told)
    cluster.membership.lose(2)
    messages = lines(told)
    assert len(messages) == 21
    assert messages[-1].startswith("and ")


# -- Dynamic broker configs: what the image says is in force, but for what odradek does not know.


def test_cluster_wide_and_single_values_are_in_force_and_go() -> None:
    cluster = Cluster(nodes=2)
    name = "log.cleaner.backoff.ms"
    cluster.controller.ask(adopt, [ConfigRecord(4, "", name, "5"), ConfigRecord(4, "2", name, "7")])
    assert [cluster.config.get_int(name, node) for node in (1, 2)] == [5, 7]
    cluster.controller.ask(adopt, [ConfigRecord(4, "2", name, None)])
    assert cluster.config.get_int(name, 2) == 5


def test_what_kafka_keeps_for_plugins_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    cluster = Cluster()
    records = [ConfigRecord(4, "", "my.plugin.x", "5"), ConfigRecord(4, "", "log.cleaner.threads", "many")]
    cluster.controller.ask(adopt, [*records, ConfigRecord(4, "", "log.cleaner.backoff.ms", "5")])
    assert cluster.config.get_int("log.cleaner.backoff.ms") == 5
    assert cluster.config.dynamic_default.keys() == {"min.insync.replicas", "log.cleaner.backoff.ms", "my.plugin.x"}
    assert "log.cleaner.threads" in caplog.text
