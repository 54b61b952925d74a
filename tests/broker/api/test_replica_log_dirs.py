"""AlterReplicaLogDirs with several nodes or log directories, and where a log has failed; see tests/scenarios too."""

from __future__ import annotations

import errno
from pathlib import Path

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.node import IN_MEMORY
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from tests.fakes.ask import ask
from tests.fakes.durable import durable, opened
from tests.fakes.file_system import FaultyFileSystem


def outcome(cluster: Cluster, path: str = IN_MEMORY) -> ErrorCode:
    request = AlterReplicaLogDirsRequest([AlterReplicaLogDir(path, [AlterReplicaLogDirTopic("t", [0])])])
    (topic,) = ask(cluster, request).results
    return ErrorCode(topic.partitions[0].error_code)


def test_a_replica_of_another_node_is_not_available() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("t", assignments={0: [2]})
    assert outcome(cluster) is ErrorCode.REPLICA_NOT_AVAILABLE
    assert outcome(cluster, "/elsewhere") is ErrorCode.LOG_DIR_NOT_FOUND


def test_a_partition_that_has_failed_is_offline() -> None:
    cluster = Cluster()
    topic = cluster.create_topic("t", assignments={0: [1]})
    assert outcome(cluster) is ErrorCode.NONE
    topic.partitions[0].fail(StorageError("the disk is gone"))
    assert outcome(cluster) is ErrorCode.KAFKA_STORAGE_ERROR


def described(cluster: Cluster) -> list[tuple[str, list[tuple[str, int, int]]]]:
    """Each directory's name with topic, partition and size of its replicas."""
    return [
        (
            Path(result.log_dir).name,
            [(t.name, p.partition_index, p.partition_size) for t in result.topics for p in t.partitions],
        )
        for result in ask(cluster, DescribeLogDirsRequest(None)).results
        if result.total_bytes >= result.usable_bytes > 0
    ]


def test_a_replica_moves_between_the_directories_of_its_node(tmp_path: Path) -> None:
    cluster = opened([tmp_path / "a", tmp_path / "b"])
    topic = cluster.create_topic("t", partitions=2)
    batch = build_batch([Record(0, 0, None, b"value", ())])
    topic.partitions[0].append(batch, now_ms=0)
    size = len(batch)
    assert described(cluster) == [("a", [("t", 0, size)]), ("b", [("t", 1, 0)])]
    for _ in range(2):
        assert outcome(cluster, str(tmp_path / "b")) is ErrorCode.NONE
        assert described(cluster) == [("a", []), ("b", [("t", 0, size), ("t", 1, 0)])]
    assert outcome(cluster, str(tmp_path / "c")) is ErrorCode.LOG_DIR_NOT_FOUND
    cluster.delete_topic("t")
    assert outcome(cluster, str(tmp_path / "b")) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    cluster.create_topic("t")
    assert described(cluster) == [("a", []), ("b", [("t", 0, 0)])]  # where it was asked for
    cluster.close_logs()


def test_a_full_directory_keeps_the_replica_where_it_is(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    cluster = durable([tmp_path / "a", tmp_path / "b"], fs)
    cluster.open_directory()
    topic = cluster.create_topic("t")
    batch = build_batch([Record(0, 0, None, b"value", ())])
    topic.partitions[0].append(batch, now_ms=0)
    fs.refuse = lambda call, path: errno.ENOSPC if call == "copy" else None
    assert outcome(cluster, str(tmp_path / "b")) is ErrorCode.KAFKA_STORAGE_ERROR
    topic.partitions[0].append(batch, now_ms=0)
    assert topic.partitions[0].log.log_end_offset == 2
    assert described(cluster) == [("a", [("t", 0, 2 * len(batch))]), ("b", [])]
    fs.refuse = lambda call, path: None
    assert outcome(cluster, str(tmp_path / "b")) is ErrorCode.NONE
    assert topic.partitions[0].log.log_end_offset == 2
    cluster.close_logs()
