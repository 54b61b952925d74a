"""Three nodes in one process, each with its own port: leaders and coordinators are spread, and clients find them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.scenarios.group_members import LIBRARIES, Joining, Member
from tests.scenarios.java_host import JavaHost
from tests.scenarios.python_clients import KITS, Kit, Out, Reading, Settings
from tests.scenarios.target import Target, odradek_target, unique, wait_until
from tests.scenarios.test_transactions_python import read


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    with odradek_target(nodes=3) as started:
        yield started


@pytest.fixture
def topic(broker: Target) -> str:
    name = unique("spread")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(name, 6, replication_factor=3)])[name].result(60)
    return name


def test_leaders_and_ports_are_spread(broker: Target, topic: str) -> None:
    found: Any = AdminClient({"bootstrap.servers": broker.bootstrap}).list_topics(topic, timeout=60)
    assert sorted(found.brokers) == [1, 2, 3]
    assert len({node.port for node in found.brokers.values()}) == 3
    leaders = [partition.leader for partition in found.topics[topic].partitions.values()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]
    assert all(sorted(each.replicas) == [1, 2, 3] for each in found.topics[topic].partitions.values())


@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
def test_every_partition_is_written_and_read(kit: Kit, broker: Target, topic: str) -> None:
    records = [Out(b"%d" % n, partition=n % 6) for n in range(60)]
    kit.produce(broker.bootstrap, topic, records, Settings(idempotent=True))
    seen = kit.consume(broker.bootstrap, topic, 60, Reading(start=dict.fromkeys(range(6), 0)))
    assert sorted(int(each.value or b"") for each in seen) == list(range(60))


def _owns(member: Member, partitions: int) -> bool:
    return len(member.owned) == partitions


@pytest.mark.parametrize("library", LIBRARIES)
def test_groups_find_their_coordinator(library: str, broker: Target, topic: str) -> None:
    for _ in range(3):  # three names fall on other nodes
        member = Member(library, Joining(broker.bootstrap, unique("group"), (topic,)))
        wait_until("assignment", partial(_owns, member, 6))
        member.commit({(topic, 0): (1, "")})
        assert member.committed((topic, 0)) == (1, "")
        member.leave()


def test_coordinators_are_spread(broker: Target) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    prefix = unique("group")
    groups = [f"{prefix}{digit}" for digit in range(10)]  # hashes that follow one another, so partitions that do
    for group in groups:
        consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
        consumer.commit(offsets=[confluent_kafka.TopicPartition("__consumer_offsets", 0, 1)], asynchronous=False)
        consumer.close()
    described = admin.describe_consumer_groups(groups)
    assert {described[group].result(60).coordinator.id for group in groups} == {1, 2, 3}


def test_a_transaction_spans_nodes(broker: Target, topic: str) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": unique("txn")})
    producer.init_transactions(60)
    for commit in (True, False):
        producer.begin_transaction()
        for partition in range(6):
            producer.produce(topic, b"%d" % commit, partition=partition)
        if commit:
            producer.commit_transaction(60)
        else:
            producer.abort_transaction(60)
    assert read(broker.bootstrap, topic, isolation="read_committed", partitions=6) == ["1"] * 6


@pytest.mark.jdk
@pytest.mark.parametrize(
    "scenario",
    [
        "Data.idempotentProducerWithManyInFlight",
        "Groups.rangeOfTwoMembers",
        "Transactions.copyingIsExactlyOnceWhateverStepItDiesAt",
        "Administration.deletedRecords",
    ],
)
def test_java_on_three_nodes(scenario: str, java: JavaHost, broker: Target) -> None:
    result = java.scenario(scenario, broker.bootstrap)
    assert result["ok"], result["error"]


@pytest.mark.jdk
def test_a_streams_application_finds_its_coordinator(java: JavaHost, broker: Target) -> None:
    for _ in range(2):  # two names may fall on other nodes
        result = java.scenario("Streaming.streamsProtocolScalesOutAndIn", broker.bootstrap)
        assert result["ok"], result["error"]
