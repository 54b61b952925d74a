"""Log directories go both ways: Kafka's dump tool and Kafka's broker read what odradek wrote."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import odradek
from odradek.storage.dump import dump, render_text
from tests.conformance.real_kafka import RealKafka, Unavailable, run_tool
from tests.scenarios.log_directories import AGES, CONFIG, write_ages
from tests.scenarios.log_tails import STOPS_KAFKA, ask_kafka, kafka_starts_with
from tests.scenarios.target import wait_until

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
    "partition", ["d-codecs-0", "d-seg-0", "d-comp-0", "d-txn-0", "__consumer_offsets-0", "__transaction_state-0"]
)
def test_kafkas_dump_tool_prints_what_we_wrote(written: Path, partition: str) -> None:
    folder = written / partition
    try:
        for kind in ("log", "index", "timeindex", "txnindex", "snapshot"):
            files = sorted(folder.glob(f"*.{kind}"))
            if not files:
                assert kind in ("txnindex", "snapshot")
                continue
            ours = [render_text(item) for path in files for item in dump(path)]
            assert comparable(kafka_dump(kind, files)) == comparable(ours), kind
            assert not any("isvalid: false" in line for line in ours)
    except Unavailable as missing:
        pytest.skip(str(missing))


def test_a_real_broker_serves_partitions_that_odradek_wrote(written: Path) -> None:
    try:
        with RealKafka(config={"log.retention.ms": "-1"}) as kafka:  # some of the timestamps are years old
            admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
            names = ["d-codecs", "d-seg", "d-txn"]
            for future in admin.create_topics([NewTopic(name, 1, 1) for name in names]).values():
                future.result(60)
            # the folders come a moment after the answer
            folders = [kafka.log_dir / f"{name}-0" for name in names]
            wait_until("folders", lambda: all((each / "partition.metadata").exists() for each in folders))
            kafka.halt()
            for name in names:
                ours, theirs = written / f"{name}-0", kafka.log_dir / f"{name}-0"
                topic_id = (theirs / "partition.metadata").read_bytes()
                shutil.rmtree(theirs)
                shutil.copytree(ours, theirs)
                (theirs / "partition.metadata").write_bytes(topic_id)
            kafka.start()
            assert len(read(kafka.bootstrap_servers, "d-codecs")) == 105
            assert len(read(kafka.bootstrap_servers, "d-seg")) == 6000
            committed = [b"%d-%d" % (number, i) for number in (0, 2, 3, 5) for i in range(3)]
            assert read(kafka.bootstrap_servers, "d-txn") == committed
    except Unavailable as missing:
        pytest.skip(str(missing))


def read(bootstrap: str, topic: str) -> list[bytes | None]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "r",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes | None] = []
    for _ in range(20_000):
        message = consumer.poll(60)
        assert message is not None, f"{topic} gives nothing"
        error = message.error()
        if error is None:
            values.append(message.value())
        elif error.code() == KafkaError._PARTITION_EOF:
            break
    consumer.close()
    return values


def test_a_real_broker_cuts_tails_as_recorded(tmp_path: Path) -> None:
    """What tests/storage/test_recovery.py compares odradek with."""
    recorded = json.loads((Path(__file__).parent.parent / "vectors" / "log_tails.json").read_text())
    try:
        assert ask_kafka(RealKafka(folder=tmp_path / "kafka")) == recorded
        for name in STOPS_KAFKA:
            assert kafka_starts_with(RealKafka(folder=tmp_path / name), name), name
    except Unavailable as missing:
        pytest.skip(str(missing))


def test_odradek_serves_what_a_real_broker_wrote_at_every_age(tmp_path: Path) -> None:
    """The recorded directories of tests/frontdoor/test_data_dir.py, written anew."""
    try:
        write_ages(RealKafka(folder=tmp_path / "kafka", config=CONFIG), tmp_path)
    except Unavailable as missing:
        pytest.skip(str(missing))
    for age, expected in AGES.items():
        with odradek.KafkaBroker(data_dir=tmp_path / age, config={"log.retention.ms": "-1"}) as broker:
            found = {name: [(r.offset, r.key, r.value) for r in broker.records(name)] for name in broker.topics()}
            assert found == expected, age
