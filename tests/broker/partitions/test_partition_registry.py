"""The live partitions follow the image: made, grown, moved, configured, deleted."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.metadata.image import MetadataDelta
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.generated.messages.find_coordinator import FindCoordinatorRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.broken_log import SYNC, Breakage, break_log, mend_log
from odradek.storage.memory_backend import MemoryBackend
from tests.fakes.configs import set_configs
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.durable import opened
from tests.fakes.held_file import Disk, held_disk
from tests.fakes.nodes import set_leader
from tests.fakes.wire_client import WireClient


def batch() -> bytes:
    return build_batch([Record(0, 0, b"k", b"v", ())])


def test_names_and_ids_lead_to_one_topic() -> None:
    cluster = Cluster(nodes=2)
    topic = cluster.create_topic("a", partitions=2, replication_factor=2)
    topics = cluster.topics
    assert topics.get("a") is topics.by_id(topic.topic_id) is topics.by_name("a") is topic
    assert topics.all() == [topic]
    assert topics.get("b") is topics.by_id(b"?" * 16) is None
    assert (topic.replication_factor, topic.internal) == (2, False)


def test_a_topic_made_anew_is_another_topic() -> None:
    cluster = Cluster()
    old = cluster.create_topic("a")
    old.partitions[0].append(batch(), now_ms=0)
    cluster.delete_topic("a")
    new = cluster.create_topic("a")
    assert old.deleted
    assert old.partitions[0].deleted
    assert new.partitions[0].log.log_end_offset == 0


def test_partitions_stay_the_same_objects() -> None:
    cluster = Cluster(nodes=2)
    partition = cluster.create_topic("a", replication_factor=2).partitions[0]
    cluster.controller.create_partitions("a", 3)
    set_leader(cluster, "a", 0, 2)
    topic = cluster.topics.by_name("a")
    assert topic.partitions[0] is partition
    assert [each.index for each in topic.partitions] == [0, 1, 2]
    assert (partition.leader_id, partition.leader_epoch) == (2, 1)


def test_everything_at_once_changes_nothing_that_is_right_already() -> None:
    cluster = Cluster()
    topic = cluster.create_topic("a", partitions=2, configs={"retention.ms": "5"})
    partitions = list(topic.partitions)
    cluster.topics.publish(MetadataDelta.of_everything(cluster.image), cluster.image)
    assert cluster.topics.by_name("a") is topic
    assert topic.partitions == partitions
    assert topic.config.overrides == {"retention.ms": "5"}


def test_topic_config_changes_reach_open_logs() -> None:
    cluster = Cluster()
    log = cluster.create_topic("a").partitions[0].log
    other = cluster.create_topic("b", configs={"retention.ms": "7"}).partitions[0].log
    set_configs(cluster, 2, "a", {"retention.ms": "5"})
    assert log.config.retention_ms == 5
    set_configs(cluster, 2, "a", {})
    set_configs(cluster, 4, "", {"log.retention.ms": "6", "min.insync.replicas": "1"})
    assert (log.config.retention_ms, other.config.retention_ms) == (6, 7)


def test_a_config_of_a_topic_opens_no_log_of_an_unused_partition() -> None:
    cluster = Cluster()
    partition = cluster.create_topic("a").partitions[0]
    set_configs(cluster, 2, "a", {"retention.ms": "5"})
    assert not partition.opened
    assert partition.log.config.retention_ms == 5


def test_a_partition_that_goes_on_with_another_log_is_told() -> None:
    plane = DataPlane(nodes=2)
    partition = plane.cluster.create_topic("a", assignments={0: [1, 2]}).partitions[0]
    told: list[object] = []
    plane.cluster.topics.on_other_log = told.append
    set_leader(plane.cluster, "a", 0, 2)
    partition.track_replicas(plane.cluster.replicator, START_MS)
    set_leader(plane.cluster, "a", 0, 1)
    assert told == []
    partition.track_replicas(plane.cluster.replicator, START_MS).by_node[2].lag = NOTHING
    partition.append(plane.batch(), now_ms=START_MS)
    set_leader(plane.cluster, "a", 0, 2)
    assert told == [partition]


def test_closing_tells_of_a_log_that_would_not(tmp_path: Path) -> None:
    assert Cluster().topics.close()
    cluster = opened(tmp_path)
    for name in ("a", "b"):
        cluster.create_topic(name).partitions[0].append(batch(), now_ms=0)
    log = cluster.topics.by_name("a").partitions[0].log
    break_log(log, Breakage(SYNC, lambda: None))
    other = cluster.topics.by_name("b").partitions[0]
    clean = cluster.topics.close()
    assert (clean, other.deleted, repr(cluster.topics.by_name("a"))) == (False, True, "Topic(a, 1 partitions)")
    mend_log(log)
    cluster.close_logs()


def test_a_topic_that_the_disk_will_not_let_go_is_gone_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("a").partitions[0].append(batch(), now_ms=0)

    def fail(*arguments: object) -> None:
        raise StorageError("no")

    with monkeypatch.context() as patched:
        patched.setattr(cluster.directory.backend.fs.__class__, "rename", fail)  # type: ignore[union-attr]
        cluster.delete_topic("a")
    assert cluster.topics.get("a") is None
    cluster.close_logs()
    again = opened(tmp_path)
    assert again.topics.get("a") is None
    assert not (tmp_path / "a-0").exists()
    again.close_logs()


# -- Back-pressure: Produce waits here while the file writer is behind.


SMALL = {"odradek.memory.bytes": "0"}
MB = 1 << 20
VERSION = 12
OFFSETS = range(18)
"""How many batches of a mebibyte make it crowded: 16 MiB may wait to be written, and the last one is in memory."""


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with held_disk(monkeypatch) as disk:
        yield disk


def request(value: bytes = bytes(MB - 200), acks: int = 1) -> ProduceRequest:
    batch = memoryview(build_batch([Record(0, 1, None, value)]))
    return ProduceRequest(None, acks, 30_000, [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])])


def pool_of(cluster: Cluster) -> Any:
    assert isinstance(cluster.topics.backend, MemoryBackend)
    return cluster.topics.backend.pool


def log_end(plane: DataPlane) -> int:
    return plane.cluster.topics.by_name("t").partitions[0].log.log_end_offset


def crowd(plane: DataPlane) -> None:
    """Append until it is crowded."""
    plane.topic("t")
    for _ in OFFSETS:
        assert not pool_of(plane.cluster).crowded
        assert not plane.call(request(), VERSION).responses[0].partition_responses[0].error_code
    assert pool_of(plane.cluster).crowded


@pytest.mark.trio
async def test_produce_waits_until_enough_is_written(disk: Disk) -> None:
    plane = DataPlane(config=SMALL)
    crowd(plane)
    answers = []

    async def produce(number: int) -> None:
        response = await plane.call(request(b"%d" % number), VERSION)
        answers.append(response.responses[0].partition_responses[0].base_offset)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(produce, number)
        await wait_all_tasks_blocked()
        assert not answers
        assert log_end(plane) == 18
        disk.work()
    assert sorted(answers) == [18, 19, 20, 21, 22]
    assert plane.cluster.topics.crowded is None


@pytest.mark.trio
async def test_producers_that_waited_do_not_come_in_all_at_once(disk: Disk) -> None:
    plane = DataPlane(config=SMALL)
    crowd(plane)
    answered = 0

    async def produce() -> None:
        nonlocal answered
        await plane.call(request(), VERSION)
        answered += 1

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(produce)
        await wait_all_tasks_blocked()
        for _ in range(3):
            before = answered
            disk.begun.acquire()
            disk.permits.release()
            while answered == before:
                await trio.lowlevel.checkpoint()
            await wait_all_tasks_blocked()
            assert answered == before + 1, "each makes it crowded again"
            assert pool_of(plane.cluster).held <= 20 * MB
        disk.work()
    assert answered == 5


@pytest.mark.trio
async def test_who_stops_waiting_appends_nothing(disk: Disk) -> None:
    plane = DataPlane(config=SMALL)
    crowd(plane)
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: plane.call(request(), VERSION))
            await wait_all_tasks_blocked()
            scope.cancel()
    assert log_end(plane) == 18


@pytest.mark.trio
async def test_a_full_disk_ends_the_wait(disk: Disk, caplog: pytest.LogCaptureFixture) -> None:
    plane = DataPlane(config=SMALL)
    crowd(plane)
    answers = []

    async def produce() -> None:
        response = await plane.call(request(), VERSION)
        answers.append(response.responses[0].partition_responses[0].error_code)

    with caplog.at_level(logging.ERROR, "odradek.storage"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(produce)
            await wait_all_tasks_blocked()
            disk.error = OSError(28, "No space left on device")
            disk.permits.release()
    assert answers == [0]
    assert "No space left on device" in caplog.text
    log = plane.cluster.topics.by_name("t").partitions[0].log
    read = log.read(0, max_bytes=64 * MB, up_to_offset=19)
    assert [batch.base_offset for part in read.parts for batch in iter_batches(part)] == list(range(19))


@pytest.mark.trio
async def test_a_deleted_topic_frees_those_who_wait(disk: Disk) -> None:
    plane = DataPlane(config=SMALL, topics={"other": 1})
    crowd(plane)
    codes: dict[str, int] = {}

    async def produce(topic: str) -> None:
        asked = request()
        asked.topic_data[0].name = topic
        response = await plane.call(asked, VERSION)
        codes[topic] = response.responses[0].partition_responses[0].error_code

    async with trio.open_nursery() as nursery:
        for topic in ("t", "other"):
            nursery.start_soon(produce, topic)
        await wait_all_tasks_blocked()
        assert not codes
        plane.cluster.delete_topic("t")  # the disk still stands: nothing is written
    assert codes == {"t": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "other": ErrorCode.NONE}


# -- over the wire


def connected(broker: KafkaBroker) -> WireClient:
    return WireClient.at(broker.bootstrap_servers)


def until(true: Callable[[], object]) -> None:
    while not true():
        pass


@pytest.fixture
def broker(disk: Disk) -> Iterator[KafkaBroker]:
    with KafkaBroker(config=SMALL, topics=["t"]) as broker:
        with connected(broker) as client:
            for _ in OFFSETS:
                assert not client.request(request(), VERSION).responses[0].partition_responses[0].error_code
        yield broker
        disk.work()


def fetched(client: WireClient) -> list[int]:
    """The offsets of the topic, of answers as large as they come."""
    offsets: list[int] = []
    while True:
        begin = offsets[-1] + 1 if offsets else 0
        wanted = FetchTopic("t", partitions=[FetchPartition(0, fetch_offset=begin, partition_max_bytes=64 * MB)])
        asked = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=64 * MB, topics=[wanted])
        records = client.request(asked, VERSION).responses[0].partitions[0].records
        if not records:
            return offsets
        offsets += [batch.base_offset for batch in iter_batches(records)]


def test_other_requests_are_answered_while_producers_wait(broker: KafkaBroker, disk: Disk) -> None:
    with connected(broker) as producer, connected(broker) as other:
        asked = request()
        number = producer.send(asked, VERSION)
        until(lambda: broker.requests[-1].state == "waiting")
        assert fetched(other) == list(OFFSETS)
        assert [topic.name for topic in other.request(MetadataRequest(topics=None), VERSION).topics] == ["t"]
        other.request(FindCoordinatorRequest("g"), 3)
        commit = OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, committed_offset=3)])
        committed = other.request(OffsetCommitRequest("g", topics=[commit]), 8)
        assert not committed.topics[0].partitions[0].error_code
        assert fetched(other) == list(OFFSETS)
        disk.work()
        assert producer.receive(asked, VERSION, number).responses[0].partition_responses[0].base_offset == 18
        assert fetched(other) == list(range(19))


def test_what_is_not_answered_waits_too(broker: KafkaBroker, disk: Disk) -> None:
    with connected(broker) as producer:
        for number in range(3):
            producer.send(request(b"%d" % number, acks=0), VERSION)
        asked = MetadataRequest(topics=None)
        number = producer.send(asked, VERSION)
        disk.work()
        producer.receive(asked, VERSION, number)
        assert [bytes(record.value or b"") for record in list(broker.records("t"))[-3:]] == [b"0", b"1", b"2"]


def test_a_fork_does_not_wait(broker: KafkaBroker, disk: Disk) -> None:
    snapshot = broker.snapshot()
    with broker.fork() as other:
        other.produce("t", "x")
        with connected(other) as client:
            assert client.request(request(b"y"), VERSION).responses[0].partition_responses[0].base_offset == 19
            assert fetched(client) == list(range(20))
    disk.work()
    with connected(broker) as client:
        assert client.request(request(b"z"), VERSION).responses[0].partition_responses[0].base_offset == 18
        broker.restore(snapshot)
    with connected(broker) as client:
        assert fetched(client) == list(OFFSETS)


def test_a_reset_while_the_disk_works(broker: KafkaBroker, disk: Disk) -> None:
    broker.reset()
    with connected(broker) as client:
        asked = request(b"new")
        number = client.send(asked, VERSION)
        disk.work()
        assert client.receive(asked, VERSION, number).responses[0].partition_responses[0].base_offset == 0
        assert [bytes(record.value or b"") for record in broker.records("t")] == [b"new"]


def test_a_topic_that_is_deleted_while_the_disk_works(broker: KafkaBroker, disk: Disk) -> None:
    broker.topic("t").delete()
    broker.create_topic("t")
    with connected(broker) as client:
        asked = request(b"new")
        number = client.send(asked, VERSION)
        disk.work()
        assert client.receive(asked, VERSION, number).responses[0].partition_responses[0].base_offset == 0
        assert fetched(client) == [0]


def test_a_broker_stops_while_a_producer_waits(disk: Disk) -> None:
    with KafkaBroker(config=SMALL, topics=["t"]) as broker, connected(broker) as client:
        for _ in OFFSETS:
            assert not client.request(request(), VERSION).responses[0].partition_responses[0].error_code
        client.send(request(), VERSION)
        until(lambda: broker.requests[-1].state == "waiting")
