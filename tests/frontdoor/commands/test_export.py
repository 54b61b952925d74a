"""``odradek export``: what the user can put right is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

import odradek
from odradek.__main__ import main


def test_export_tells_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "copy"), "--bootstrap-servers", "127.0.0.1:1"]) == 2
    assert "127.0.0.1:1: Connection refused" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(["export", str(tmp_path / "full"), "--bootstrap-servers", "127.0.0.1:1"]) == 2
    assert "is not empty" in capsys.readouterr().err


CONFIG = {"offsets.topic.num.partitions": 3}


def commit(bootstrap: str, offset: int) -> None:
    config = {"bootstrap.servers": bootstrap, "group.id": "readers", "enable.auto.commit": False}
    consumer = Consumer(config)
    consumer.commit(offsets=[TopicPartition("orders", 1, offset)], asynchronous=False)
    consumer.close()


def committed(bootstrap: str) -> int:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    asked = ConsumerGroupTopicPartitions("readers", [TopicPartition("orders", 1)])
    return int(admin.list_consumer_group_offsets([asked])["readers"].result(60).topic_partitions[0].offset)


@pytest.mark.clients
def test_a_copy_serves_what_the_original_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topics: dict[str, Any] = {"orders": {"partitions": 2, "config": {"retention.ms": "86400000"}}, "txn": 1, "empty": 1}
    with odradek.KafkaBroker(topics=topics, config=CONFIG) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "compression.type": "lz4"})
        for i in range(500):
            producer.produce("orders", b"v%d" % i, b"k%d" % i, partition=i % 2, headers={"n": b"%d" % i})
        assert producer.flush(60) == 0
        transactional = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx"})
        transactional.init_transactions(60)
        for commits in (True, False, True):
            transactional.begin_transaction()
            transactional.produce("txn", b"committed" if commits else b"aborted")
            transactional.commit_transaction(60) if commits else transactional.abort_transaction(60)
        commit(broker.bootstrap_servers, 42)
        expected = {name: list(broker.records(name)) for name in topics}
        ids = {
            topic.name: (topic.topic_id, dict(topic.config)) for topic in broker.topics.values() if topic.name in topics
        }
        assert main(["export", str(tmp_path / "copy"), "--bootstrap-servers", broker.bootstrap_servers]) == 0
    assert "orders: 2 partitions" in capsys.readouterr().out
    with odradek.KafkaBroker(data_dir=tmp_path / "copy") as copy:
        assert {name: list(copy.records(name)) for name in topics} == expected
        assert {t.name: (t.topic_id, dict(t.config)) for t in copy.topics.values() if t.name in topics} == ids
        values = [record.value for record in copy.records("txn", isolation="read_committed")]
        assert [value for value in values if value != b""][:2] == [b"committed", b"committed"]
        assert committed(copy.bootstrap_servers) == 42
