"""Kafka's dump tool prints of a log directory that odradek wrote what odradek's own prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

import odradek
from odradek.storage.dump import dump, render_text
from tests.conformance.real_kafka import run_tool

pytestmark = pytest.mark.jdk
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TOPICS: dict[str, Any] = {
    "d-codecs": 1,
    "d-seg": {"partitions": 1, "config": {"segment.bytes": "1048576", "index.interval.bytes": "4096"}},
    "d-comp": {"partitions": 1, "config": {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}},
    "d-txn": 1,
}


def fill(bootstrap: str) -> None:
    """Every kind of batch: codecs, headers, null keys and values, several segments, commits and aborts, commits of
    offsets."""
    for codec in CODECS:
        producer = Producer({"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 50})
        for i in range(20):
            producer.produce("d-codecs", b"value-%d" % i * 20, b"key-%d" % i, headers={"h": b"%d" % i})
        producer.produce("d-codecs", None, b"tombstone")
        producer.flush(60)
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "batch.num.messages": 20})
    for i in range(6000):
        producer.produce("d-seg", b"x" * 500, b"k%d" % i, timestamp=1_700_000_000_000 + i)
        if i % 500 == 0:
            producer.flush(60)
    for i in range(300):
        producer.produce("d-comp", b"%d" % i * 10, b"k%d" % (i % 10))
    producer.flush(60)
    transactional = Producer({"bootstrap.servers": bootstrap, "transactional.id": "d-tx"})
    transactional.init_transactions(60)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "d-group", "enable.auto.commit": False})
    for number in range(6):
        transactional.begin_transaction()
        for i in range(3):
            transactional.produce("d-txn", b"%d-%d" % (number, i))
        offsets = [TopicPartition("d-codecs", 0, number)]
        transactional.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 60)
        transactional.abort_transaction(60) if number % 3 == 1 else transactional.commit_transaction(60)
    consumer.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that odradek wrote and closed."""
    directory = tmp_path_factory.mktemp("odradek")
    config = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
    with odradek.KafkaBroker(data_dir=directory, topics=TOPICS, config=config) as broker:
        fill(broker.bootstrap_servers)
    return directory


def kafka_dump(kind: str, files: list[Path]) -> list[str]:
    arguments = ["--files", ",".join(map(str, files))]
    if kind == "log":
        arguments += ["--deep-iteration", "--print-data-log"]
        if files[0].parent.name.startswith("__consumer_offsets"):
            arguments.append("--offsets-decoder")
        if files[0].parent.name.startswith("__transaction_state"):
            arguments.append("--transaction-log-decoder")
        if files[0].parent.name.startswith("__cluster_metadata"):
            arguments.append("--cluster-metadata-decoder")
    done = run_tool("org.apache.kafka.tools.DumpLogSegments", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def comparable(lines: Iterator[str] | list[str]) -> list[str]:
    """Without the folders before a file's name; the tool's own remarks stay and make the comparison fail."""
    kept = []
    for line in lines:
        if line.startswith("Dumping "):
            line = "Dumping " + "/".join(line.removeprefix("Dumping ").split("/")[-2:])
        elif line.endswith(" is empty."):
            line = "/".join(line.split("/")[-2:])
        kept.append(line)
    return kept


@pytest.mark.parametrize(
    "partition",
    [
        "d-codecs-0",
        "d-seg-0",
        "d-comp-0",
        "d-txn-0",
        "__consumer_offsets-0",
        "__transaction_state-0",
        "__cluster_metadata-0",
    ],
)
def test_kafkas_dump_tool_prints_what_we_wrote(written: Path, partition: str) -> None:
    folder = written / partition
    for kind in ("log", "index", "timeindex", "txnindex", "snapshot"):
        files = sorted(folder.glob(f"*.{kind}"))
        if not files:
            assert kind in ("txnindex", "snapshot")
            continue
        ours = [render_text(item) for path in files for item in dump(path)]
        assert comparable(kafka_dump(kind, files)) == comparable(ours), kind
        assert not any("isvalid: false" in line for line in ours)
