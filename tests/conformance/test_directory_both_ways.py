"""One log directory in turns: odradek writes it, a real Kafka goes on with it, odradek goes on where Kafka stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

import odradek
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import WireClient
from tests.conformance.foreign_kafka import ForeignKafka, bootstrap_servers, static_voters
from tests.conformance.test_metadata_directory import Quorum
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

OURS, KAFKAS = "made-by-odradek", "made-by-kafka"
RETENTION = {OURS: "123456789000", KAFKAS: "987654321000"}
GROUP, TRANSACTIONAL_ID = "both-ways", "both-ways-tx"
ONE_OF_EACH = {"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"}
TOPICS = {OURS: {"partitions": 2, "config": {"retention.ms": RETENTION[OURS]}}}


def write(bootstrap: str, topic: str, word: bytes) -> None:
    """A record, a committed and an aborted transaction, and the group's offset behind the first record."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
    producer.produce(topic, word, partition=0)
    producer.flush(60)
    transactional = Producer({"bootstrap.servers": bootstrap, "transactional.id": TRANSACTIONAL_ID})
    transactional.init_transactions(60)
    for value, end in (
        (word + b" committed", transactional.commit_transaction),
        (b"aborted", transactional.abort_transaction),
    ):
        transactional.begin_transaction()
        transactional.produce(topic, value, partition=0)
        transactional.flush(60)
        end(60)
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()


def read(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    settings = {"bootstrap.servers": bootstrap, "group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    values: list[bytes | None] = []
    while len(values) < count:
        message = consumer.poll(60)
        assert message is not None, f"{topic} gives no more than {values}"
        if message.error() is None:
            values.append(message.value())
    consumer.close()
    return values


def committed(bootstrap: str, topic: str) -> int:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP})
    try:
        (found,) = consumer.committed([TopicPartition(topic, 0)], 60)
        return int(found.offset)
    finally:
        consumer.close()


def retention(bootstrap: str, topic: str) -> str:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    (future,) = admin.describe_configs([resource]).values()
    return str(future.result(60)["retention.ms"].value)


def topics(bootstrap: str) -> dict[str, tuple[bytes, int]]:
    """Topic -> id and number of partitions, once all have leaders."""
    host, _, port = bootstrap.partition(":")

    def led() -> dict[str, tuple[bytes, int]]:
        with WireClient(host, int(port)) as client:
            found = client.request(MetadataRequest(None)).topics
        whole = all(partition.leader_id >= 0 for topic in found for partition in topic.partitions)
        return {topic.name: (topic.topic_id, len(topic.partitions)) for topic in found} if whole else {}

    return wait_until("leaders", led)


def check(bootstrap: str, topic: str, values: list[bytes]) -> None:
    assert read(bootstrap, topic, len(values)) == values
    assert retention(bootstrap, topic) == RETENTION[topic]
    assert committed(bootstrap, topic) == 1


def stage(word: bytes) -> list[bytes]:
    return [word, word + b" committed"]


@pytest.mark.parametrize(
    ("quorum", "kill"), [(static_voters, False), (bootstrap_servers, False), (static_voters, True)]
)
def test_a_directory_goes_from_one_to_the_other_and_back(tmp_path: Path, quorum: Quorum, kill: bool) -> None:
    kafka = ForeignKafka(1, tmp_path)
    kafka.quorum = {**quorum([kafka]), **ONE_OF_EACH}
    with odradek.KafkaBroker(data_dir=kafka.log_dir, topics=TOPICS, config=ONE_OF_EACH) as broker:
        write(broker.bootstrap_servers, OURS, b"one")
        known = topics(broker.bootstrap_servers)
        ids = (kafka.log_dir / "meta.properties").read_text()
    with kafka.running(kill=kill):
        known = go_on_with_kafka(kafka.bootstrap_servers, known)
    assert set(ids.split()) <= set((kafka.log_dir / "meta.properties").read_text().split())
    with odradek.KafkaBroker(data_dir=kafka.log_dir, config=ONE_OF_EACH) as broker:
        assert topics(broker.bootstrap_servers) == known
        check(broker.bootstrap_servers, OURS, [*stage(b"one"), *stage(b"two")])
        check(broker.bootstrap_servers, KAFKAS, stage(b"three"))
        write(broker.bootstrap_servers, OURS, b"four")
        check(broker.bootstrap_servers, OURS, [*stage(b"one"), *stage(b"two"), *stage(b"four")])


def go_on_with_kafka(bootstrap: str, known: dict[str, tuple[bytes, int]]) -> dict[str, tuple[bytes, int]]:
    assert topics(bootstrap) == known
    check(bootstrap, OURS, stage(b"one"))
    write(bootstrap, OURS, b"two")
    made = NewTopic(KAFKAS, 3, 1, config={"retention.ms": RETENTION[KAFKAS]})
    admin = AdminClient({"bootstrap.servers": bootstrap})
    (future,) = admin.create_topics([made]).values()
    future.result(60)
    write(bootstrap, KAFKAS, b"three")
    now = topics(bootstrap)
    assert {name: now[name] for name in known} == known
    return now
