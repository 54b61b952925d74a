"""Directories that hold partitions and no metadata log."""

from __future__ import annotations

from pathlib import Path

import pytest

import odradek
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.archives import unpack

CONFIG = {"offsets.topic.num.partitions": "2", "transaction.state.log.num.partitions": "2"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Folders of partitions without a metadata log."""
    return unpack("logdir-json.tar.gz", "logdir-json", tmp_path)


def test_partitions_alone_become_topics_with_default_settings(old: Path) -> None:
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
