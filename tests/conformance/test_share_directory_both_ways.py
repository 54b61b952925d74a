"""A share group whose log directory goes from odradek to a real Kafka, back and there again: nothing is done twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

import odradek
from tests.conformance.foreign_kafka import ForeignKafka, static_voters
from tests.scenarios.share_member import Kind, ShareMember
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk

TOPIC, GROUP = "jobs", "workers"
CONFIG = {
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


def begin(bootstrap: str) -> None:
    """Ten jobs, and a group that begins with the first."""
    entry = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    group = ConfigResource(ResourceType.GROUP, GROUP, incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.incremental_alter_configs([group]).values():
        future.result(60)
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(10):
        producer.produce(TOPIC, str(number), partition=0)
    assert producer.flush(60) == 0


def take(bootstrap: str, count: int, *, accepted: set[int], rejected: set[int]) -> list[tuple[int | None, int | None]]:
    """Offset and number of deliveries of that many jobs; what is neither accepted nor rejected is released."""
    taken: list[tuple[int | None, int | None]] = []
    with ShareMember(bootstrap, GROUP, TOPIC, **{"share.acknowledgement.mode": "explicit"}) as consumer:
        messages = wait_until("jobs", lambda: consumer.poll(0.5))
        while len(taken) < count:
            for message in messages:
                taken.append((message.offset, message.delivery_count))
                kind: Kind = "ACCEPT" if message.offset in accepted else "RELEASE"
                consumer.acknowledge(message, "REJECT" if message.offset in rejected else kind)
            if len(taken) < count:
                messages = consumer.poll(60)
        assert set(consumer.commit_sync().values()) == {None}
    return taken


@pytest.mark.parametrize("kill", [False, True])
def test_a_share_group_goes_from_one_to_the_other_and_back(tmp_path: Path, kill: bool) -> None:
    kafka = ForeignKafka(1, tmp_path)
    kafka.quorum = {**static_voters([kafka]), **CONFIG}
    with odradek.KafkaBroker(data_dir=kafka.log_dir, topics={TOPIC: 1}, config=CONFIG) as broker:
        begin(broker.bootstrap_servers)
        taken = take(broker.bootstrap_servers, 10, accepted={0, 1, 2, 3}, rejected={5})
        assert taken == [(offset, 1) for offset in range(10)]
    with kafka.running(kill=kill):
        taken = take(kafka.bootstrap_servers, 5, accepted={4, 7}, rejected={8})
        assert taken == [(4, 2), (6, 2), (7, 2), (8, 2), (9, 2)]
    with odradek.KafkaBroker(data_dir=kafka.log_dir, config=CONFIG) as broker:
        assert take(broker.bootstrap_servers, 2, accepted={6}, rejected=set()) == [(6, 3), (9, 3)]
        assert broker.bugs == []
    with kafka.running(kill=kill):
        assert take(kafka.bootstrap_servers, 1, accepted={9}, rejected=set()) == [(9, 4)]
