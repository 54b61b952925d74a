"""The live partitions follow the image: made, grown, moved, configured, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.delta import MetadataDelta
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from tests.fakes.configs import set_configs
from tests.fakes.durable import opened
from tests.fakes.nodes import set_leader


def batch() -> bytes:
    return build_batch([Record(0, 0, b"k", b"v", ())])


def test_names_and_ids_lead_to_one_topic() -> None:
    cluster = Cluster(nodes=2)
    topic = cluster.create_topic("a", partitions=2, replication_factor=2)
    topics = cluster.topics
    assert topics.get("a") is topics.by_id(topic.topic_id) is topics.by_name("a") is topic
    assert (len(topics), list(topics), "a" in topics, "b" in topics) == (1, [topic], True, False)
    assert topics.get("b") is topics.by_id(b"?" * 16) is None
    assert (topic.replication_factor, topic.internal) == (2, False)


def test_a_topic_made_anew_is_another_topic() -> None:
    cluster = Cluster()
    old = cluster.create_topic("a")
    old.partitions[0].append(batch(), now_ms=0)
    cluster.delete_topic("a")
    new = cluster.create_topic("a")
    assert old.deleted
    assert old.partitions[0].deleted
    assert new.partitions[0].log.log_end_offset == 0


def test_partitions_stay_the_same_objects() -> None:
    cluster = Cluster(nodes=2)
    partition = cluster.create_topic("a", replication_factor=2).partitions[0]
    cluster.controller.create_partitions("a", 3)
    set_leader(cluster, "a", 0, 2)
    topic = cluster.topics.by_name("a")
    assert topic.partitions[0] is partition
    assert [each.index for each in topic.partitions] == [0, 1, 2]
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)


def test_everything_at_once_changes_nothing_that_is_right_already() -> None:
    cluster = Cluster()
    topic = cluster.create_topic("a", partitions=2, configs={"retention.ms": "5"})
    partitions = list(topic.partitions)
    cluster.topics.publish(MetadataDelta.of_everything(cluster.image), cluster.image)
    assert cluster.topics.by_name("a") is topic
    assert topic.partitions == partitions
    assert topic.config.overrides == {"retention.ms": "5"}


def test_settings_reach_open_logs() -> None:
    cluster = Cluster()
    log = cluster.create_topic("a").partitions[0].log
    other = cluster.create_topic("b", configs={"retention.ms": "7"}).partitions[0].log
    set_configs(cluster, 2, "a", {"retention.ms": "5"})
    assert log.config.retention_ms == 5
    set_configs(cluster, 2, "a", {})
    set_configs(cluster, 4, "", {"log.retention.ms": "6", "min.insync.replicas": "1"})
    assert (log.config.retention_ms, other.config.retention_ms) == (6, 7)


def test_a_config_of_a_topic_opens_no_log_of_an_unused_partition() -> None:
    cluster = Cluster()
    partition = cluster.create_topic("a").partitions[0]
    set_configs(cluster, 2, "a", {"retention.ms": "5"})
    assert not partition.opened
    assert partition.log.config.retention_ms == 5


def test_a_topic_that_the_disk_will_not_let_go_is_gone_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("a").partitions[0].append(batch(), now_ms=0)

    def fail(*arguments: object) -> None:
        raise StorageError("no")

    with monkeypatch.context() as patched:
        patched.setattr(cluster.directory.backend.fs.__class__, "rename", fail)  # type: ignore[union-attr]
        cluster.delete_topic("a")
    assert "a" not in cluster.topics
    cluster.close_logs()
    again = opened(tmp_path)
    assert "a" not in again.topics
    assert not (tmp_path / "a-0").exists()
    again.close_logs()
