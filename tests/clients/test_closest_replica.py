"""A consumer with a rack reads from the replica there (KIP-392): librdkafka finds it and stays with it."""

from __future__ import annotations

from confluent_kafka import Consumer

from odradek import KafkaBroker

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
PATIENCE_S = 60


def read_one(consumer: Consumer) -> bytes | None:
    message = consumer.poll(PATIENCE_S)
    assert message is not None, "no record came"
    assert message.error() is None, message.error()
    value: bytes | None = message.value()
    return value


def test_a_consumer_reads_from_its_own_rack() -> None:
    config = {"broker.rack": "a,b,c", "replica.selector.class": RACK_AWARE}
    with KafkaBroker(nodes=3, config=config) as broker:
        broker.create_topic("t", replication_factor=3)
        near = broker.topics["t"].partitions[0].replicas[1]
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "g",
                "auto.offset.reset": "earliest",
                "client.rack": "abc"[near - 1],
            }
        )
        try:
            consumer.subscribe(["t"])
            for number in range(3):
                broker.produce("t", b"%d" % number)
                assert read_one(consumer) == b"%d" % number
            fetches = [line for line in broker.cluster.recent.lines() if " Fetch " in line]
        finally:
            consumer.close()
        address = broker.bootstrap_servers.split(",")[near - 1]
        assert len(fetches) > 2
        assert fetches[-1].startswith(address), fetches
        assert not broker.bugs
