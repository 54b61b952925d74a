"""Directories without a metadata log: of the format with a JSON file, and with nothing but partitions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import odradek
from odradek.broker.cluster import Cluster
from odradek.broker.controller.takeover import OLD_FILE, RETIRED_FILE
from odradek.broker.metadata.image import ResourceType
from odradek.protocol.uuids import uuid_to_text
from odradek.storage.backend import StorageError
from tests.fakes.archives import unpack

CONFIG = {"offsets.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A directory as odradek wrote it when it kept its metadata in a JSON file."""
    return unpack("logdir-json.tar.gz", "logdir-json", tmp_path)


def test_the_older_format_is_taken_over(old: Path) -> None:
    told = json.loads((old / OLD_FILE).read_text())
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        topics = broker.all_topics
        assert {name: topic.topic_id for name, topic in topics.items()} == {
            topic["name"]: topic["id"] for topic in told["topics"]
        }
        assert {name: dict(topic.config) for name, topic in topics.items()} == {
            topic["name"]: topic["config"] for topic in told["topics"]
        }
        assert [len(list(broker.records("orders", index, isolation="read_committed"))) for index in (0, 1)] == [11, 10]
        # The logs know epoch 0, and a start is another epoch.
        assert {partition.leader_epoch for partition in topics["orders"].partitions} == {1}
        assert broker.groups["g"].offsets["orders", 0].offset == 7
        image = broker.cluster.image
        assert dict(image.configs_of(ResourceType.GROUP, "cg")) == told["groups"]["cg"]
        assert dict(image.configs_of(ResourceType.BROKER, "1")) == told["broker_nodes"]["1"]
        assert broker.cluster.config.get_int("log.cleaner.threads") == 2
        assert image.next_producer_id == told["next_producer_id"]
        assert not broker.bugs
    assert not (old / OLD_FILE).exists()
    assert json.loads((old / RETIRED_FILE).read_text()) == told


def test_it_is_taken_over_once(old: Path) -> None:
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        broker._call(lambda: broker.cluster.delete_topic("idle"))
        before = broker.topics["orders"].topic_id
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        assert list(broker.topics) == ["orders"]
        assert broker.topics["orders"].topic_id == before


def test_a_damaged_file_is_named_and_nothing_is_written(old: Path) -> None:
    (old / OLD_FILE).write_text("{")
    cluster = Cluster(data_dir=old)
    with pytest.raises(StorageError, match=OLD_FILE):
        cluster.open_directory()
    (old / OLD_FILE).write_text('{"format": 9}')
    with pytest.raises(StorageError, match="format 1"):
        Cluster(data_dir=old).open_directory()


def test_partitions_alone_become_topics_with_default_settings(old: Path) -> None:
    (old / OLD_FILE).unlink()
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        topics = broker.all_topics
        assert {name: len(topic.partitions) for name, topic in topics.items()} == {
            "orders": 2,
            "idle": 1,
            "__consumer_offsets": 2,
            "__transaction_state": 2,
        }
        assert dict(topics["orders"].config) == {}
        assert topics["__consumer_offsets"].config["cleanup.policy"] == "compact"
        assert broker.groups["g"].offsets["orders", 0].offset == 7
        # Ids that the logs know are not given again.
        producers = {producer_id for record in broker.records("orders") if (producer_id := record.producer_id) >= 0}
        assert broker._call(lambda: broker.cluster.controller.producer_ids.allocate(1)) > max(producers)


def test_what_the_metadata_does_not_know_is_put_aside(old: Path) -> None:
    with odradek.KafkaBroker(data_dir=old, config=CONFIG):
        pass
    stranger = old / "stranger-0"
    (old / "orders-0").rename(stranger)
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        assert set(broker.topics) == {"orders", "idle"}
        assert list(broker.records("orders", 0)) == []
    assert not stranger.exists()
    assert [path.is_dir() for path in old.glob("stranger-0.*-stray")] == [True]
    # The same name with another id is another topic.
    metadata = old / "orders-1" / "partition.metadata"
    metadata.write_text(f"version: 0\ntopic_id: {uuid_to_text(b'x' * 16)}")
    with odradek.KafkaBroker(data_dir=old, config=CONFIG) as broker:
        assert list(broker.records("orders", 1)) == []
    assert len(list(old.glob("orders-1.*-stray"))) == 1
