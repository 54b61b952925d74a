"""Share groups in a cluster of three nodes: leaders and coordinators move while members work, and no record is lost."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from confluent_kafka import AcknowledgeType, Producer, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from odradek import KafkaBroker
from tests.scenarios.target import wait_until

TOPIC, GROUP, RECORDS = "jobs", "workers", 300
TOPICS = {TOPIC: {"partitions": 3, "replication_factor": 3}}


class Worker:
    """A member that accepts what it gets, and tells which acknowledgements the broker has taken."""

    def __init__(self, bootstrap: str, done: Counter[tuple[int, int]]) -> None:
        self._done = done
        self._going = True
        self._bootstrap = bootstrap
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        consumer = ShareConsumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": GROUP,
                "share.acknowledgement.mode": "explicit",
                "max.poll.records": 5,
            }
        )
        consumer.subscribe([TOPIC])
        while self._going:
            taken: dict[int, list[int]] = {}
            for message in consumer.poll(0.2):
                if message.error() is None:
                    consumer.acknowledge(message, AcknowledgeType.ACCEPT)
                    taken.setdefault(message.partition() or 0, []).append(message.offset() or 0)
            for place, failure in consumer.commit_sync().items():
                if failure is None:
                    self._done.update((place.partition, offset) for offset in taken.get(place.partition, ()))
        consumer.close()

    def end(self) -> None:
        self._going = False
        self._thread.join(60)


def move_leaders(broker: KafkaBroker, round_: int) -> None:
    for partition in range(3):
        broker.move_leader(TOPIC, partition, (partition + round_) % 3 + 1)


def move_coordinators(broker: KafkaBroker, round_: int) -> None:
    for topic in ("__share_group_state", "__consumer_offsets"):
        for info in broker.all_topics[topic].partitions:
            broker.move_leader(topic, info.index, (info.index + round_) % 3 + 1)


def restart_nodes(broker: KafkaBroker, round_: int) -> None:
    node = round_ % 2 + 2
    broker.stop_node(node)
    time.sleep(0.3)
    broker.start_node(node)


@pytest.mark.parametrize("disturb", [move_leaders, move_coordinators, restart_nodes])
def test_records_are_accepted_once(disturb: Callable[[KafkaBroker, int], None]) -> None:
    config = {"offsets.topic.num.partitions": "3", "share.coordinator.state.topic.num.partitions": "3"}
    with KafkaBroker(nodes=3, topics=TOPICS, config=config) as broker:
        bootstrap = broker.bootstrap_servers
        entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
        group = ConfigResource(ResourceType.GROUP, GROUP, incremental_configs=[entry])
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for future in admin.incremental_alter_configs([group]).values():
            future.result(60)
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        done: Counter[tuple[int, int]] = Counter()
        workers = [Worker(bootstrap, done) for _ in range(3)]
        try:
            for number in range(RECORDS):
                producer.produce(TOPIC, str(number), partition=number % 3)
                producer.flush(60)
                if number % 50 == 49:
                    wait_until("the first accepted record", lambda: len(done) > 0)
                    disturb(broker, number // 50)
            wait_until("every record", lambda: len(done) == RECORDS)
        finally:
            for worker in workers:
                worker.end()
        assert set(done.values()) == {1}
        assert broker.bugs == []
