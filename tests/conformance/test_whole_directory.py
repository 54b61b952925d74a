"""Whole log directories go both ways: a real Kafka starts on what odradek wrote, odradek on what a real Kafka wrote.

Nothing is done by hand in between. Topics keep ids and configs; groups, transactions and producer ids go on.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic, ResourceType

import odradek
from odradek.protocol.generated.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.wire_client import WireClient
from tests.conformance.foreign_kafka import ForeignKafka, bootstrap_servers, static_voters
from tests.conformance.real_kafka import TEST_DEFAULTS, RealKafka, free_ports, java_command
from tests.conformance.test_log_directory import TOPICS, fill
from tests.conformance.test_metadata_directory import Quorum
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk
CONFIG = {"offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1}
QUIET = {"log_level": 0}
OLD_TIMESTAMPS = {"log.retention.ms": "-1"}  # some of the records are years old
SETTINGS = {key: str(value) for key, value in CONFIG.items()} | OLD_TIMESTAMPS
ABORTED = {1, 4}
COMMITTED = [b"%d-%d" % (number, i) for number in range(6) if number not in ABORTED for i in range(3)]


def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, **QUIET})


def change(bootstrap: str) -> None:
    """What metadata a cluster has beside topics that were only created."""
    client = admin(bootstrap)
    client.create_topics([NewTopic("grown", 1, 1), NewTopic("doomed", 2, 1), NewTopic("idle", 3, 1)])["idle"].result(60)
    wait_until("topics", lambda: {"grown", "doomed", "idle"} <= set(client.list_topics(timeout=60).topics))
    client.create_partitions([NewPartitions("grown", 4)])["grown"].result(60)
    client.delete_topics(["doomed"])["doomed"].result(60)
    host, _, port = bootstrap.partition(":")
    resources = [
        AlterConfigsResource(2, "grown", [AlterableConfig("retention.ms", 0, "7654321")]),
        AlterConfigsResource(4, "", [AlterableConfig("log.cleaner.delete.retention.ms", 0, "123456")]),
        AlterConfigsResource(4, "0", [AlterableConfig("log.cleaner.threads", 0, "2")]),
    ]
    with WireClient(host, int(port)) as wire:
        response = wire.request(IncrementalAlterConfigsRequest(resources))
    assert [each.error_code for each in response.responses] == [0, 0, 0]


@contextmanager
def open_transaction(bootstrap: str) -> Iterator[None]:
    """While this lasts, a transaction has written to d-txn and is not ended."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "left-open", **QUIET})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("d-txn", b"never seen")
    producer.flush(60)
    yield
    producer.purge()


def read(bootstrap: str, topic: str) -> list[bytes | None]:
    """The committed values of a partition up to its last stable offset."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            **QUIET,
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


def ids(bootstrap: str, *names: str) -> dict[str, str]:
    """Topic ids, as Kafka prints them."""
    client = admin(bootstrap)
    described = client.describe_topics(TopicCollection(list(names)))
    found = {name: str(future.result(60).topic_id) for name, future in described.items()}
    return {name: text.replace("+", "-").replace("/", "_") for name, text in found.items()}


def configs(bootstrap: str, kind: Any, name: str) -> dict[str, str]:
    client = admin(bootstrap)
    (future,) = client.describe_configs([ConfigResource(kind, name)]).values()
    return {key: entry.value for key, entry in future.result(60).items()}


def committed(bootstrap: str) -> int:
    """The offset that d-group has for d-codecs."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "d-group", **QUIET})

    def ask() -> Any:
        try:
            return consumer.committed([TopicPartition("d-codecs", 0)], 60)
        except KafkaException:
            return None  # the coordinator is loading

    found = wait_until("coordinator", ask)
    consumer.close()
    offset: int = found[0].offset
    return offset


def check(bootstrap: str, topic_ids: dict[str, str]) -> None:
    """All that was there before is there."""
    client = admin(bootstrap)

    def all_led() -> bool:
        topics = client.list_topics(timeout=60).topics
        return set(topic_ids) <= set(topics) and all(
            partition.leader >= 0 for topic in topics.values() for partition in topic.partitions.values()
        )

    wait_until("leaders", all_led)
    topics = client.list_topics(timeout=60).topics
    assert "doomed" not in topics
    assert (len(topics["grown"].partitions), len(topics["idle"].partitions)) == (4, 3)
    assert ids(bootstrap, *topic_ids) == topic_ids
    assert configs(bootstrap, ResourceType.TOPIC, "grown")["retention.ms"] == "7654321"
    assert configs(bootstrap, ResourceType.TOPIC, "d-comp")["cleanup.policy"] == "compact"
    assert configs(bootstrap, ResourceType.TOPIC, "d-seg")["index.interval.bytes"] == "4096"
    broker = configs(bootstrap, ResourceType.BROKER, "0")
    assert (broker["log.cleaner.delete.retention.ms"], broker["log.cleaner.threads"]) == ("123456", "2")
    assert broker["min.insync.replicas"] == "1"
    assert len(read(bootstrap, "d-codecs")) == 105
    assert len(read(bootstrap, "d-seg")) == 6000
    assert len(set(read(bootstrap, "d-comp"))) >= 10
    assert read(bootstrap, "d-txn") == COMMITTED
    assert committed(bootstrap) == 5


def go_on(bootstrap: str) -> None:
    """The producers of before go on: the open transaction is given up, and no id is given twice."""
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": "left-open", **QUIET})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("d-txn", b"seen")
    producer.commit_transaction(60)
    assert read(bootstrap, "d-txn") == [*COMMITTED, b"seen"]
    plain = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, **QUIET})
    plain.produce("grown", b"x", partition=3)
    assert plain.flush(60) == 0
    client = admin(bootstrap)
    client.create_topics([NewTopic("later", 2, 1, config={"retention.ms": "5000000"})])["later"].result(60)


NAMES = ("d-codecs", "d-seg", "d-comp", "d-txn", "grown", "idle")


@pytest.mark.parametrize("quorum", [static_voters, bootstrap_servers])
def test_a_real_broker_starts_on_what_odradek_wrote_and_back(tmp_path: Path, quorum: Quorum) -> None:
    kafka = ForeignKafka(0, tmp_path)
    kafka.quorum = {**quorum([kafka]), **OLD_TIMESTAMPS}
    data = kafka.log_dir
    config = {"node.id": 0, **CONFIG, **OLD_TIMESTAMPS}
    with odradek.KafkaBroker(data_dir=data, topics=TOPICS, config=config) as broker:
        fill(broker.bootstrap_servers)
        change(broker.bootstrap_servers)
        topic_ids = ids(broker.bootstrap_servers, *NAMES)
        with open_transaction(broker.bootstrap_servers):
            broker.close()
    meta = (data / "meta.properties").read_text().split()
    with kafka.running():
        check(kafka.bootstrap_servers, topic_ids)
        go_on(kafka.bootstrap_servers)
    assert set(meta) <= set((data / "meta.properties").read_text().split())
    with odradek.KafkaBroker(data_dir=data, config=config) as broker:
        assert dict(broker.topics["later"].config) == {"retention.ms": "5000000"}
        assert read(broker.bootstrap_servers, "d-txn") == [*COMMITTED, b"seen"]
        assert committed(broker.bootstrap_servers) == 5
        assert not broker.bugs


def test_a_real_broker_starts_on_what_a_killed_odradek_left(tmp_path: Path) -> None:
    """It waits for the session of the broker that has gone, as after a death of its own."""
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "odradek", "serve", "--data-dir", str(tmp_path / "data"), "--port", str(port)]
    command += ["--config", "node.id=0", "--topic", "a:3:retention.ms=7654321"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        with process.stdout as output:
            assert "ready" in output.readline()
        write(f"127.0.0.1:{port}", 99)
        topic_ids = ids(f"127.0.0.1:{port}", "a")
    finally:
        process.kill()
        process.wait()
    kafka = RealKafka(folder=tmp_path)
    with kafka.running():
        client = admin(kafka.bootstrap_servers)

        def led() -> bool:
            topics = client.list_topics(timeout=60).topics
            return "a" in topics and all(each.leader == 0 for each in topics["a"].partitions.values())

        wait_until("leaders", led)
        assert ids(kafka.bootstrap_servers, "a") == topic_ids
        assert configs(kafka.bootstrap_servers, ResourceType.TOPIC, "a")["retention.ms"] == "7654321"
        assert len(read(kafka.bootstrap_servers, "a")) == 33


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_odradek_starts_on_what_a_real_broker_wrote(tmp_path: Path, kill: bool) -> None:
    kafka = RealKafka(folder=tmp_path, config=SETTINGS)
    with kafka.running(kill=True):
        client = admin(kafka.bootstrap_servers)
        topics = [
            NewTopic(name, 1, 1, config=how["config"] if isinstance(how, dict) else {}) for name, how in TOPICS.items()
        ]
        for future in client.create_topics(topics).values():
            future.result(60)
        fill(kafka.bootstrap_servers)
        change(kafka.bootstrap_servers)
        topic_ids = ids(kafka.bootstrap_servers, *NAMES)
        with open_transaction(kafka.bootstrap_servers):
            kafka.halt(kill=kill)
    with odradek.KafkaBroker(data_dir=kafka.log_dir, config=OLD_TIMESTAMPS) as broker:
        assert list(broker.cluster.nodes) == [0]
        check(broker.bootstrap_servers, topic_ids)
        go_on(broker.bootstrap_servers)
        assert not broker.bugs
    with odradek.KafkaBroker(data_dir=kafka.log_dir, config=OLD_TIMESTAMPS) as broker:
        assert "later" in broker.topics
        assert read(broker.bootstrap_servers, "d-txn") == [*COMMITTED, b"seen"]


def test_three_real_brokers_start_on_the_directories_of_three_nodes_and_back(tmp_path: Path) -> None:
    data = tmp_path / "data"
    topics = {"a": {"partitions": 3, "replication_factor": 3, "config": {"retention.ms": "7654321"}}}
    with odradek.KafkaBroker(nodes=3, data_dir=data, topics=topics, config=CONFIG) as broker:
        write(broker.bootstrap_servers, 100)
        topic_ids = ids(broker.bootstrap_servers, "a")
    with three_brokers(tmp_path, data) as bootstrap:
        client = admin(bootstrap)

        def in_sync() -> bool:
            try:
                known = client.list_topics(timeout=5).topics
            except KafkaException:
                return False
            return "a" in known and all(len(each.isrs) == 3 for each in known["a"].partitions.values())

        wait_until("replicas in sync", in_sync, 180)
        assert ids(bootstrap, "a") == topic_ids
        assert configs(bootstrap, ResourceType.TOPIC, "a")["retention.ms"] == "7654321"
        assert len(read(bootstrap, "a")) == 34
        write(bootstrap, 50)
    with odradek.KafkaBroker(nodes=3, data_dir=data, config=CONFIG) as broker:
        partitions = broker.topics["a"].partitions
        assert sum(partition.high_watermark for partition in partitions) == 150
        assert all(set(partition.isr) == {1, 2, 3} for partition in partitions)
        assert not broker.bugs


def write(bootstrap: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", **QUIET})
    for number in range(count):
        producer.produce("a", b"%d" % number, partition=number % 3)
    assert producer.flush(60) == 0


@contextmanager
def three_brokers(folder: Path, data: Path) -> Iterator[str]:
    """Three nodes of a real Kafka on ``node-1`` to ``node-3`` in ``data``."""
    ports = free_ports(6)
    voters = ",".join(f"{node}@127.0.0.1:{ports[2 + node]}" for node in (1, 2, 3))
    processes = []
    try:
        for node in (1, 2, 3):
            client, controller = (f"127.0.0.1:{ports[place]}" for place in (node - 1, 2 + node))
            properties = {
                "process.roles": "broker,controller",
                "node.id": str(node),
                "controller.quorum.voters": voters,
                "listeners": f"PLAINTEXT://{client},CONTROLLER://{controller}",
                "advertised.listeners": f"PLAINTEXT://{client}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                "controller.listener.names": "CONTROLLER",
                "log.dirs": str(data / f"node-{node}"),
                **TEST_DEFAULTS,
            }
            file = folder / f"node-{node}.properties"
            file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
            with open(folder / f"node-{node}.txt", "wb") as output:
                command = java_command("kafka.Kafka", str(file), heap="384m")
                processes.append(subprocess.Popen(command, stdout=output, stderr=output))
        yield ",".join(f"127.0.0.1:{port}" for port in ports[:3])
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
