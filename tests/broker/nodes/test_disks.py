"""Disks that fail and are slow, as clients see it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek import KafkaBroker
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponsePartition,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.wire_client import WireError
from tests.fakes.brokers import broker_fixture
from tests.fakes.wire_client import WireClient

ALL = {"partitions": 2, "replication_factor": 3}
broker = broker_fixture(nodes=3, topics={"t": ALL})


def dial(broker: KafkaBroker, node: int) -> WireClient:
    return WireClient("127.0.0.1", broker.cluster.nodes[node].port)


def produced(client: WireClient, partition: int = 0, value: bytes = b"v") -> int:
    batch = build_batch([Record(0, 1, None, value)])
    asked = TopicProduceData("t", bytes(16), [PartitionProduceData(partition, batch)])
    found: int = (
        client.request(ProduceRequest(None, 1, 30_000, [asked]), 9).responses[0].partition_responses[0].error_code
    )
    return found


def fetched(client: WireClient, offset: int, partition: int = 0) -> int:
    asked = FetchTopic(
        topic="t", partitions=[FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 20)]
    )
    request = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=-1, topics=[asked])
    found: int = client.request(request, 12).responses[0].partitions[0].error_code
    return found


def leader(broker: KafkaBroker, partition: int = 0) -> int:
    return broker.topics["t"].partitions[partition].leader


def eventually(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize("how", ["full", "write"])
def test_a_broker_whose_disk_fails_answers_that_and_halts(broker: KafkaBroker, how: Any) -> None:
    """As a broker of Kafka 4.3.1 with one log directory: KAFKA_STORAGE_ERROR, then the process ends."""
    first = leader(broker)
    with dial(broker, first) as client, broker.fail_disk(first, how):
        assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        eventually(lambda: leader(broker) != first)
        with pytest.raises(WireError):
            dial(broker, first).close()
        with dial(broker, leader(broker)) as other:
            assert produced(other) == 0
    assert first in broker.topics["t"].partitions[0].isr
    assert [record.value for record in broker.records("t", 0)] == [b"v"]


def test_a_follower_halts_too_and_its_leader_goes_on(broker: KafkaBroker) -> None:
    first = leader(broker)
    follower = next(node for node in broker.topics["t"].partitions[0].replicas if node != first)
    broker.fail_disk(follower)
    with dial(broker, first) as client:
        assert produced(client) == 0
    eventually(lambda: str(broker.cluster.nodes[follower].port) not in broker.bootstrap_servers)
    broker.heal()
    assert len(broker.bootstrap_servers.split(",")) == 3


def test_break_disk_of_one_partition_leaves_the_others(broker: KafkaBroker) -> None:
    """As a broker of Kafka 4.3.1 whose second log directory fails: others lead, and the node has it no more."""
    broker.produce("t", "before", partition=0)
    first = leader(broker)
    with broker.fail_disk(topic="t", partition=0), dial(broker, first) as client:
        assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        eventually(lambda: leader(broker) != first)
        assert produced(client) == fetched(client, 0) == ErrorCode.KAFKA_STORAGE_ERROR
        found = shown(client)
        assert found.offline_replicas == [first]
        assert set(found.isr_nodes) == {1, 2, 3} - {first}
        assert set(found.replica_nodes) == {1, 2, 3}
        with dial(broker, leader(broker)) as now:
            assert produced(now) == 0
            assert fetched(now, 0) == 0
        with dial(broker, leader(broker, 1)) as other:
            assert produced(other, 1) == 0
        assert first in broker.topics["t"].partitions[1].isr, "its other partitions are there"
        assert broker.topics["t"].partitions[0].replica_ends[first] == 1
        with pytest.raises(ValueError, match="no live in-sync replica"):
            broker.topic("t").move_leader(0, first)
    assert set(broker.topics["t"].partitions[0].isr) == {1, 2, 3}
    assert broker.topics["t"].partitions[0].replica_ends[first] == 2
    broker.topic("t").elect(0)
    with dial(broker, first) as client:
        assert leader(broker) == first
        assert shown(client).offline_replicas == []
        assert produced(client) == 0


def shown(client: WireClient) -> MetadataResponsePartition:
    """Partition t-0 in Metadata."""
    topic = client.request(MetadataRequest([MetadataRequestTopic(name="t")]), 12).topics[0]
    found: MetadataResponsePartition = next(each for each in topic.partitions if each.partition_index == 0)
    return found


def test_the_last_controller_goes_on_while_its_disk_fails() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        broker.add_node()
        with broker.fail_disk(1), dial(broker, 1) as client:
            assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
            eventually(lambda: broker.nodes[1].state == "down")
            assert broker.cluster.controller_id == 1
            broker.create_topic("more")
        assert broker.nodes[1].state == "up"
        assert not broker.bugs


def test_the_last_replica_in_sync_leads_again_when_its_disk_is_mended(broker: KafkaBroker) -> None:
    first = leader(broker)
    others = [node for node in (1, 2, 3) if node != first]
    broker.kill_node(others[0])
    broker.kill_node(others[1])
    broker.produce("t", "alone", partition=0)
    with broker.fail_disk(topic="t", partition=0), dial(broker, first) as client:
        assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        eventually(lambda: leader(broker) == -1)
        assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        broker.kill_node(first)
        broker.start_node(first)
        assert leader(broker) == -1
    assert leader(broker) == first
    broker.heal()
    assert [record.value for record in broker.records("t", 0)] == [b"alone"]
    assert set(broker.topics["t"].partitions[0].isr) == {1, 2, 3}


def test_a_partition_without_another_replica_keeps_its_leader() -> None:
    with KafkaBroker(topics=["t"]) as broker:
        for _ in range(3):
            broker.produce("t", bytes(100))
        with broker.fail_disk(1, "read", topic="t", partition=0, offset=0), dial(broker, 1) as client:
            assert fetched(client, 0) == ErrorCode.KAFKA_STORAGE_ERROR
            assert produced(client) == 0
        with dial(broker, 1) as client:
            assert fetched(client, 0) == 0


def test_a_read_that_fails_moves_the_leader_too(broker: KafkaBroker) -> None:
    broker.produce("t", bytes(100), partition=0)
    first = leader(broker)
    with broker.fail_disk(first, "read", topic="t", partition=0, offset=0), dial(broker, first) as client:
        assert fetched(client, 0) == ErrorCode.KAFKA_STORAGE_ERROR
        eventually(lambda: leader(broker) != first)
        with dial(broker, leader(broker)) as now:
            assert fetched(now, 0) == 0


def test_new_leaders_have_disks_of_their_own(broker: KafkaBroker) -> None:
    first = leader(broker)
    broker.fail_disk(first, topic="t", partition=0)
    other = next(node for node in broker.topics["t"].partitions[0].replicas if node != first)
    broker.topic("t").move_leader(0, other)
    with dial(broker, other) as client:
        assert produced(client) == 0
    broker.topic("t").move_leader(0, first)
    with dial(broker, first) as client:
        assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR


def test_break_disk_meets_topics_that_come_later(broker: KafkaBroker) -> None:
    broker.fail_disk(1)
    broker.create_topic("later", 3)
    broken = next(each for each in broker.topics["later"].partitions if each.leader == 1)
    with pytest.raises(Exception, match="No space left on device"):
        broker.produce("later", "v", partition=broken.index)


def test_a_replica_that_was_lost_is_there_after_a_new_start(tmp_path: Path) -> None:
    with KafkaBroker(nodes=3, topics={"t": ALL}, data_dir=tmp_path) as broker:
        first = leader(broker)
        broker.produce("t", "before", partition=0)
        broker.fail_disk(topic="t", partition=0)
        with dial(broker, first) as client:
            assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        eventually(lambda: leader(broker) != first)
    with KafkaBroker(nodes=3, data_dir=tmp_path) as broker:
        assert set(broker.topics["t"].partitions[0].isr) == {1, 2, 3}
        with dial(broker, leader(broker)) as client:
            assert shown(client).offline_replicas == []
            assert produced(client) == 0


@pytest.fixture
def synced(tmp_path: Path) -> Iterator[KafkaBroker]:
    with KafkaBroker(topics=["t"], data_dir=tmp_path, config={"odradek.flush": "always"}) as running:
        yield running


def test_break_disk_at_sync_fails_the_produce(synced: KafkaBroker) -> None:
    with dial(synced, 1) as client:
        with synced.fail_disk(how="sync", topic="t"):
            assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
            assert produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        assert produced(client) == 0


def test_a_slow_sync_keeps_answers_back(synced: KafkaBroker) -> None:
    synced.clock.freeze()
    answers: list[int] = []
    with dial(synced, 1) as client, synced.slow_disk(1, ms=500):
        asking = threading.Thread(target=lambda: answers.append(produced(client)))
        asking.start()
        eventually(lambda: synced.topics["t"].partitions[0].log_end_offset == 1)
        synced.clock.advance(seconds=0.4)
        assert not answers
        while not answers:
            synced.clock.advance(seconds=0.1)
            asking.join(0.01)
        asking.join()
    assert answers == [0]


def test_a_disk_fault_with_wrong_arguments_is_refused(broker: KafkaBroker, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"how='ful': expected one of .* .did you mean 'full'"):
        broker.fail_disk(1, "ful")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="node_id is needed: one of 1, 2, 3"):
        broker.fail_disk()
    with pytest.raises(ValueError, match="no node 9: the cluster has 1, 2, 3"):
        broker.fail_disk(9)
    with pytest.raises(KafkaError, match="no topic 'tt'"):
        broker.fail_disk(1, topic="tt")
    with pytest.raises(KafkaError, match="'t' has no partition 7"):
        broker.fail_disk(1, topic="t", partition=7)
    with pytest.raises(ValueError, match="does not lead t-0"):
        broker.fail_disk(leader(broker) % 3 + 1, topic="t", partition=0)
    with pytest.raises(ValueError, match="it goes with how='read' and partition="):
        broker.fail_disk(1, topic="t", offset=3)
    with pytest.raises(ValueError, match="name the topic too"):
        broker.fail_disk(1, partition=0)
    with pytest.raises(ValueError, match="a slow sync needs logs on disk: give the broker a data_dir"):
        broker.slow_disk(1, ms=5)
    with pytest.raises(ValueError, match="ms=0: expected more than 0"):
        broker.slow_disk(1, ms=0)
    with KafkaBroker(data_dir=tmp_path) as kept, pytest.raises(ValueError, match=r"set odradek.flush=always"):
        kept.fail_disk(how="sync")
