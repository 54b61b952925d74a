"""A partition's copy: its log and its replicas, and whether the partition has just that."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.facade.state.partition_copies import CopyLog, PartitionCopy, forked_into, opened
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.memory_backend import MemoryBackend


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
    assert copy.is_what(partition)
    _append(partition)
    assert not copy.is_what(partition)
    log, replicas = copy.put_into(partition, _copy())
    partition.go_on_with(log, replicas, cluster.replicator)
    copy.is_in(partition)
    assert copy.is_what(partition)
    assert partition.log.log_end_offset == copy.log.log_end_offset == 1
    partition.delete_records(-1, now_ms=1)
    assert not copy.is_what(partition)
    assert copy.log.log_start_offset == 0


def test_a_compacted_log_is_another_one() -> None:
    cluster = Cluster()
    partition = cluster.create_topic("t", configs={"cleanup.policy": "compact"}).partitions[0]
    for _ in range(2):
        partition.append(build_batch([Record(0, 1, b"k", b"v", ())]), now_ms=1)
    partition.log.roll(1)
    copy = PartitionCopy(partition, _copy())
    assert copy.is_what(partition)
    assert partition.log.compact(1, force=True) is not None
    assert not copy.is_what(partition)
    log, replicas = copy.put_into(partition, _copy())
    assert log.segments[0].size > partition.log.segments[0].size
    partition.go_on_with(log, replicas, cluster.replicator)
    copy.is_in(partition)
    assert copy.is_what(partition)


def test_replicas_that_differ_are_copied_with_their_logs() -> None:
    cluster, partition = _cluster(nodes=3)
    _append(partition)
    slow = next(node for node in partition.replicas if node != partition.leader_id)
    cluster.replicator.hold(partition, slow, NOTHING)
    _append(partition)
    copy = PartitionCopy(partition, _copy())
    assert not copy.is_what(partition), "its replicas may change without a record"
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
