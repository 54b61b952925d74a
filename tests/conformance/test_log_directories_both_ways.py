"""Several log directories in turns: odradek fills them and moves a replica, a real Kafka goes on, odradek after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

import odradek
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from odradek.wire_client import WireClient
from tests.conformance.foreign_kafka import ForeignKafka, bootstrap_servers
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

OURS, KAFKAS = "made-by-odradek", "made-by-kafka"
Places = dict[tuple[str, int], str]


def client(bootstrap: str) -> WireClient:
    host, _, port = bootstrap.partition(":")
    return WireClient(host, int(port), timeout_s=60)


def places(bootstrap: str) -> Places:
    """The directory of each replica; empty while one is on its way."""
    with client(bootstrap) as asked:
        results = asked.request(DescribeLogDirsRequest(None)).results
    assert [result.error_code for result in results] == [0] * len(results)
    found = [(r.log_dir, t.name, p) for r in results for t in r.topics for p in t.partitions]
    if any(partition.is_future_key for _, _, partition in found):
        return {}
    return {(name, p.partition_index): directory for directory, name, p in found}


def move(bootstrap: str, topic: str, index: int, directory: Path) -> None:
    asked = [AlterReplicaLogDir(str(directory), [AlterReplicaLogDirTopic(topic, [index])])]
    with client(bootstrap) as mover:
        ((result,),) = [topic.partitions for topic in mover.request(AlterReplicaLogDirsRequest(asked)).results]
    assert ErrorCode(result.error_code) is ErrorCode.NONE
    wait_until("the move", lambda: places(bootstrap).get((topic, index)) == str(directory))


def write(bootstrap: str, topic: str, partitions: int, value: bytes) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    for index in range(partitions):
        producer.produce(topic, value, partition=index)
    assert producer.flush(60) == 0


def read(bootstrap: str, topic: str, partitions: int, count: int) -> list[list[bytes | None]]:
    """The values of each partition."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader"})
    values: list[list[bytes | None]] = []
    for index in range(partitions):
        consumer.assign([TopicPartition(topic, index, 0)])
        messages = [consumer.poll(60) for _ in range(count)]
        assert all(message is not None and message.error() is None for message in messages)
        values.append([message.value() for message in messages if message is not None])
    consumer.close()
    return values


@pytest.mark.parametrize("kill", [False, True])
def test_directories_go_from_one_to_the_other_and_back(tmp_path: Path, kill: bool) -> None:
    kafka = ForeignKafka(1, tmp_path)
    first, second = directories = [kafka.log_dir, tmp_path / "more"]
    log_dirs = {"log.dirs": ",".join(map(str, directories))}
    kafka.quorum = {**bootstrap_servers([kafka]), **log_dirs}
    with odradek.KafkaBroker(topics={OURS: 3}, config=log_dirs) as broker:
        write(broker.bootstrap_servers, OURS, 3, b"one")
        move(broker.bootstrap_servers, OURS, 0, second)
        write(broker.bootstrap_servers, OURS, 3, b"two")
        known = places(broker.bootstrap_servers)
    assert known == {(OURS, 0): str(second), (OURS, 1): str(second), (OURS, 2): str(first)}
    ids = [(path / "meta.properties").read_text().split() for path in directories]
    with kafka.running(kill=kill):
        bootstrap = kafka.bootstrap_servers
        assert {place: path for place, path in places(bootstrap).items() if place[0] == OURS} == known
        assert read(bootstrap, OURS, 3, 2) == [[b"one", b"two"]] * 3
        made = NewTopic(KAFKAS, 3, 1)
        admin = AdminClient({"bootstrap.servers": bootstrap})
        (future,) = admin.create_topics([made]).values()
        future.result(60)
        write(bootstrap, KAFKAS, 3, b"three")
        move(bootstrap, OURS, 1, first)
        write(bootstrap, OURS, 3, b"three")
        known = places(bootstrap)
    for path, before in zip(directories, ids, strict=True):
        assert set(before) <= set((path / "meta.properties").read_text().split())
    with odradek.KafkaBroker(config=log_dirs) as broker:
        assert places(broker.bootstrap_servers) == known
        assert read(broker.bootstrap_servers, OURS, 3, 3) == [[b"one", b"two", b"three"]] * 3
        assert read(broker.bootstrap_servers, KAFKAS, 3, 1) == [[b"three"]] * 3
        move(broker.bootstrap_servers, KAFKAS, 0, second if known[KAFKAS, 0] == str(first) else first)
        write(broker.bootstrap_servers, KAFKAS, 3, b"four")
        assert read(broker.bootstrap_servers, KAFKAS, 3, 2) == [[b"three", b"four"]] * 3
