"""Share groups in a cluster of three nodes: leaders and coordinators move while members work, and no record is lost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from odradek import KafkaBroker
from tests.scenarios.share_member import ShareMember
from tests.scenarios.target import wait_until

TOPIC, GROUP, RECORDS = "jobs", "workers", 300
TOPICS = {TOPIC: {"partitions": 3, "replication_factor": 3}}


class Worker:
    """A member that accepts what it gets, and tells which acknowledgements the broker has taken."""

    def __init__(self, bootstrap: str, done: Counter[tuple[int, int]]) -> None:
        self._done = done
        self._going = True
        self._bootstrap = bootstrap
        self._thread = ThreadPoolExecutor(1)
        self._work_done = self._thread.submit(self._work)

    def _work(self) -> None:
        settings = {"share.acknowledgement.mode": "explicit", "max.poll.records": 5}
        with ShareMember(self._bootstrap, GROUP, TOPIC, **settings) as member:
            while self._going:
                self._take(member)

    def _take(self, member: ShareMember) -> None:
        taken: dict[int, list[int]] = {}
        for message in member.poll(0.2):
            if message.error is None:
                member.acknowledge(message, "ACCEPT")
                taken.setdefault(message.partition, []).append(message.offset)
        for (_, partition), failure in member.commit_sync().items():
            if failure is None:
                self._done.update((partition, offset) for offset in taken.get(partition, ()))

    def tell(self) -> None:
        """Raise what ended the member before its time."""
        if self._work_done.done():
            self._work_done.result()

    def end(self) -> None:
        self._going = False
        self._thread.shutdown()
        self._work_done.result()


def move_leaders(broker: KafkaBroker, round_: int) -> None:
    for partition in range(3):
        broker.topic(TOPIC).move_leader(partition, (partition + round_) % 3 + 1)


def move_coordinators(broker: KafkaBroker, round_: int) -> None:
    for topic in ("__share_group_state", "__consumer_offsets"):
        for info in broker.all_topics[topic].partitions:
            broker.topic(topic).move_leader(info.index, (info.index + round_) % 3 + 1)


def restart_nodes(broker: KafkaBroker, round_: int) -> None:
    node = round_ % 2 + 2
    broker.stop_node(node)
    time.sleep(0.3)
    broker.start_node(node)


def upgrade_nodes(broker: KafkaBroker, round_: int) -> None:
    """From the first release that has share groups for everybody to that with dead letter queues."""
    if round_ + 1 in broker.nodes:
        broker.upgrade("4.4", node=round_ + 1)


@pytest.mark.parametrize(
    ("disturb", "version"),
    [(move_leaders, "4.4"), (move_coordinators, "4.4"), (restart_nodes, "4.4"), (upgrade_nodes, "4.2")],
)
def test_share_consumers_accept_records_once_through_a_failover(
    disturb: Callable[[KafkaBroker, int], None], version: str
) -> None:
    config = {"offsets.topic.num.partitions": "3", "share.coordinator.state.topic.num.partitions": "3"}
    with KafkaBroker(nodes=3, topics=TOPICS, config=config, kafka_version=version) as broker:
        bootstrap = broker.bootstrap_servers
        entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
        group = ConfigResource(ResourceType.GROUP, GROUP, incremental_configs=[entry])
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for future in admin.incremental_alter_configs([group]).values():
            future.result(60)
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 0})
        done: Counter[tuple[int, int]] = Counter()
        workers = [Worker(bootstrap, done) for _ in range(3)]

        def accepted(count: int) -> bool:
            for worker in workers:
                worker.tell()
            return len(done) >= count

        try:
            for number in range(RECORDS):
                producer.produce(TOPIC, str(number), partition=number % 3)
                producer.flush(60)
                if number % 50 == 49:
                    wait_until("the first accepted record", lambda: accepted(1))
                    disturb(broker, number // 50)
            wait_until("every record", lambda: accepted(RECORDS))
        finally:
            for worker in workers:
                worker.end()
        assert (len(done), set(done.values())) == (RECORDS, {1})
        assert {node.release for node in broker.nodes.values()} == {"4.4"}
        assert broker.bugs == []
