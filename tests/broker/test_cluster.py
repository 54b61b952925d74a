"""What the composition root adds to its parts: their wiring, and the order in which they end."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.changes import Assignment, Change
from odradek.broker.metadata.image import CONSUMER_OFFSETS
from odradek.protocol.errors import ErrorCode, KafkaError


def test_a_cluster_needs_a_node() -> None:
    with pytest.raises(ValueError, match="at least one node: 0"):
        Cluster(nodes=0)


def test_nodes_are_numbered_from_the_configured_id() -> None:
    assert list(Cluster(nodes=3).nodes) == [1, 2, 3]
    assert list(Cluster(nodes=2, config={"node.id": "7"}).nodes) == [7, 8]


def test_a_log_directory_keeps_its_node_id(tmp_path: Path) -> None:
    first = Cluster(config={"node.id": "7"}, data_dir=tmp_path)
    first.open_directory()
    first.close_logs()
    assert list(Cluster(data_dir=tmp_path).nodes) == [7]


def test_a_new_topic_is_in_the_image_and_has_partitions() -> None:
    cluster = Cluster()
    topic = cluster.create_topic("t", partitions=2)
    assert cluster.image.topics["t"].topic_id == topic.topic_id
    assert cluster.topics.by_name("t") is topic
    assert len(topic.partitions) == 2
    cluster.delete_topic("t")
    assert cluster.topics.get("t") is None
    with pytest.raises(KafkaError) as refused:
        cluster.delete_topic("t")
    assert refused.value.code is ErrorCode.UNKNOWN_TOPIC_ID


def test_a_topic_of_another_cluster_keeps_its_id_and_replicas() -> None:
    cluster = Cluster(nodes=3)
    topic = cluster.adopt_topic("t", b"i" * 16, [[2, 3], [3, 1]], {"cleanup.policy": "compact"})
    assert topic.topic_id == b"i" * 16
    assert [part.replicas for part in cluster.image.topics["t"].partitions] == [(2, 3), (3, 1)]
    assert topic.partitions[0].log.config.compact


@pytest.mark.trio
async def test_what_needs_tasks_needs_a_running_cluster() -> None:
    cluster = Cluster()
    with pytest.raises(RuntimeError, match="not running"):
        await cluster.listen()
    with pytest.raises(RuntimeError, match="not running"):
        cluster.start(cluster.listen)


@pytest.mark.trio
async def test_groups_of_a_directory_are_loaded_by_the_start(tmp_path: Path) -> None:
    first = Cluster(data_dir=tmp_path, config={"offsets.topic.num.partitions": "1"})
    async with first.run():
        first.ensure_topic(CONSUMER_OFFSETS)
        cluster_id = first.cluster_id
    second = Cluster(data_dir=tmp_path, config={"offsets.topic.num.partitions": "1"})
    async with second.run():
        assert second.cluster_id == cluster_id
        assert second.services.groups.made is not None
        assert CONSUMER_OFFSETS in second.image.topics


@pytest.mark.trio
async def test_a_stop_takes_back_the_levels_of_loggers() -> None:
    logger = logging.getLogger("odradek.broker.net")
    before = logger.level
    cluster = Cluster()
    async with cluster.run():
        level = Assignment("kafka.network.SocketServer", "FATAL")
        cluster.services.log_levels().apply(Change(8, "1", [level]), 1, validate_only=False)
        assert logger.level == logging.CRITICAL
    assert logger.level == before
