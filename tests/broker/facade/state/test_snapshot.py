"""Snapshots, and their copies of partitions."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from odradek import Fault, KafkaBroker, open_broker
from odradek.broker.cluster import Cluster
from odradek.broker.facade.records.record import StoredRecord
from odradek.broker.facade.state.snapshot import CopyLog, PartitionCopy, forked_into, opened
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.memory_backend import MemoryBackend
from tests.storage.logs import compact


def _cluster(nodes: int = 1) -> tuple[Cluster, Partition]:
    cluster = Cluster(nodes=nodes)
    return cluster, cluster.create_topic("t", partitions=2, replication_factor=nodes).partitions[0]


def _copy() -> CopyLog:
    return forked_into(MemoryBackend(), 1)


def _append(partition: Partition) -> None:
    partition.append(build_batch([Record(0, 1, None, b"v", ())]), now_ms=1)


def test_only_open_logs_are_copied() -> None:
    cluster, partition = _cluster()
    assert list(opened(cluster.topics)) == []
    _append(partition)
    assert [found for _, found in opened(cluster.topics)] == [partition]


def test_a_copy_knows_whether_the_partition_still_has_it() -> None:
    cluster, partition = _cluster()
    _append(partition)
    copy = PartitionCopy(partition, _copy())
    assert copy.matches(partition)
    _append(partition)
    assert not copy.matches(partition)
    log, replicas = copy.put_into(partition, _copy())
    partition.go_on_with(log, replicas, cluster.replicator)
    copy.restored_in(partition)
    assert copy.matches(partition)
    assert partition.log.log_end_offset == copy.log.log_end_offset == 1
    partition.delete_records(-1)
    assert not copy.matches(partition)
    assert copy.log.log_start_offset == 0


def test_a_compacted_log_is_another_one() -> None:
    cluster = Cluster()
    partition = cluster.create_topic("t", configs={"cleanup.policy": "compact"}).partitions[0]
    for _ in range(2):
        partition.append(build_batch([Record(0, 1, b"k", b"v", ())]), now_ms=1)
    partition.log.roll(1)
    copy = PartitionCopy(partition, _copy())
    assert copy.matches(partition)
    assert compact(partition.log, 1, force=True) is not None
    assert not copy.matches(partition)
    log, replicas = copy.put_into(partition, _copy())
    assert log.segments[0].size > partition.log.segments[0].size
    partition.go_on_with(log, replicas, cluster.replicator)
    copy.restored_in(partition)
    assert copy.matches(partition)


def test_replicas_that_differ_are_copied_with_their_logs() -> None:
    cluster, partition = _cluster(nodes=3)
    _append(partition)
    slow = next(node for node in partition.replicas if node != partition.leader_id)
    cluster.replicator.hold(partition, slow, NOTHING)
    _append(partition)
    copy = PartitionCopy(partition, _copy())
    assert not copy.matches(partition), "its replicas may change without a record"
    cluster.replicator.heal()
    assert partition.replica_set is None
    log, replicas = copy.put_into(partition, _copy())
    assert replicas is not None
    assert {node: replica.end for node, replica in replicas.by_node.items()} == {
        node: 1 if node == slow else 2 for node in partition.replicas
    }
    assert all(replica.log is log for replica in replicas.by_node.values())
    assert replicas.by_node[slow].lag is NOTHING
    assert log is not copy.log


_MIB = 1024 * 1024


def _values(records: list[StoredRecord]) -> list[bytes | None]:
    return [record.value for record in records]


def test_a_snapshot_tells_how_much_it_holds() -> None:
    with KafkaBroker(topics={"a": 2, "b": 1}) as broker:
        broker.group("g").set_offsets({("a", 0): 0})
        assert repr(broker.snapshot()) == "<Snapshot: 2 topics, 3 partitions>"


def test_a_broker_on_disk_has_no_snapshots_of_replicas_that_differ(tmp_path: Path) -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, data_dir=tmp_path, topics={"t": topic}) as broker:
        follower = broker.topics["t"].partitions[0].replicas[1]
        broker.topic("t").pause_replication(0, follower)
        broker.produce("t", "1")
        with pytest.raises(ValueError, match="the replicas of t-0 differ"):
            broker.snapshot()
        broker.heal()
        snapshot = broker.snapshot()
        broker.topic("t").pause_replication(0, follower)
        broker.produce("t", "2")
        broker.restore(snapshot)
        assert _values(list(broker.records("t"))) == [b"1"]
        assert broker.topics["t"].partitions[0].replica_ends[follower] == 1


def test_snapshots_share_the_records() -> None:
    """64 MiB in 64 partitions: what a snapshot takes itself is less than a hundredth."""
    with KafkaBroker(topics={"a": 64}) as broker:
        for _ in range(64):
            broker.produce_all("a", [bytes(_MIB // 16)] * 16)
        tracemalloc.start()
        try:
            snapshot = broker.snapshot()
            taken, _ = tracemalloc.get_traced_memory()
            broker.restore(snapshot)
            restored, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (taken < _MIB // 2, restored < _MIB) == (True, True), (taken, restored)


def test_a_snapshot_outlives_what_it_was_taken_of() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.produce_all("a", ["1", "2", "3"])
        snapshot = broker.snapshot()
        for _ in range(3):
            broker.topic("a").delete()
            broker.create_topic("a")
            broker.produce("a", "other")
            broker.restore(snapshot)
            assert _values(list(broker.records("a"))) == [b"1", b"2", b"3"]
            broker.topic("a").delete_records()


def test_snapshots_are_gone_to_in_any_order() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        taken = []
        for number in range(4):
            taken.append(broker.snapshot())
            broker.produce("a", str(number))
        for number in (3, 0, 2, 2, 1, 3):
            broker.restore(taken[number])
            assert _values(list(broker.records("a"))) == [b"0", b"1", b"2"][:number]
            broker.produce("a", "elsewhere")


def test_faults_set_later_end_and_those_that_ended_do_not_return() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        ended, kept, later = (Fault("Produce", delay_ms=1) for _ in range(3))
        broker.set_faults(ended, kept)
        snapshot = broker.snapshot()
        broker.set_faults(kept, later)
        broker.restore(snapshot)
        faults = broker.cluster.dispatcher.faults
        assert faults is not None
        assert faults.faults == [kept]


@pytest.mark.trio
async def test_in_a_trio_run_of_the_caller() -> None:
    async with open_broker(topics=["a"]) as broker:
        await broker.produce("a", "1")
        snapshot = await broker.snapshot()
        await broker.produce("a", "2")
        await broker.restore(snapshot)
        assert _values(list(broker.records("a"))) == [b"1"]
