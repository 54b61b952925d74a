"""Elections and reassignments with several nodes; what a reassignment under way shows was asked of Kafka 4.3.1."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.metadata.image import ResourceType
from odradek.broker.metadata.node import IN_MEMORY
from odradek.broker.partitions.replicas import NOTHING
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.protocol.generated.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from odradek.protocol.generated.messages.describe_log_dirs import DescribeLogDirsRequest
from odradek.protocol.generated.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from odradek.protocol.generated.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs
from tests.fakes.durable import durable, opened
from tests.fakes.file_system import FaultyFileSystem
from tests.fakes.nodes import set_node_up


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(nodes=4)
    made.create_topic("a", assignments={0: [1, 2], 1: [2, 3]})
    return made


def elected(cluster: Cluster, kind: int, asked: list[TopicPartitions] | None) -> list[tuple[str, int, int]]:
    response = ask(cluster, ElectLeadersRequest(kind, asked))
    return [
        (topic.topic, entry.partition_id, entry.error_code)
        for topic in response.replica_election_results
        for entry in topic.partition_result
    ]


def test_elect_leaders_gives_preferred_leaders_back(cluster: Cluster) -> None:
    set_node_up(cluster, 1, False)
    set_node_up(cluster, 1, True)
    topic = cluster.topics.get("a")
    assert topic is not None
    assert topic.partitions[0].leader_id == 2
    assert elected(cluster, 0, None) == [("a", 0, 0)]
    assert topic.partitions[0].leader_id == 1
    assert elected(cluster, 0, [TopicPartitions("a", [0])]) == [("a", 0, 84)]
    set_node_up(cluster, 2, False)
    assert elected(cluster, 0, [TopicPartitions("a", [1])]) == [("a", 1, 80)]
    set_node_up(cluster, 3, False)
    assert elected(cluster, 1, [TopicPartitions("a", [1])]) == [("a", 1, 83)]


# -- reassignments

Asked = tuple[str, str | None]


def reassign(
    cluster: Cluster, replicas: list[int] | None, *, topic: str = "a", index: int = 0, allow: bool = True
) -> Asked:
    topics = [ReassignableTopic(topic, [ReassignablePartition(index, replicas)])]
    [result] = ask(cluster, AlterPartitionReassignmentsRequest(1000, allow, topics)).responses
    [partition] = result.partitions
    return ErrorCode(partition.error_code).name, partition.error_message


def ongoing(
    cluster: Cluster, topics: list[ListPartitionReassignmentsTopics] | None = None
) -> list[tuple[str, int, list[int], list[int], list[int]]]:
    """(topic, partition, replicas, adding, removing)."""
    return [
        (topic.name, one.partition_index, one.replicas, one.adding_replicas, one.removing_replicas)
        for topic in ask(cluster, ListPartitionReassignmentsRequest(topics=topics)).topics
        for one in topic.partitions
    ]


def seen(cluster: Cluster) -> tuple[int, int, list[int], list[int]]:
    """(leader, leader epoch, replicas, ISR) of a-0 as Metadata shows them."""
    [topic] = ask(cluster, MetadataRequest([MetadataRequestTopic(name="a")]), 12).topics
    one = topic.partitions[0]
    return one.leader_id, one.leader_epoch, one.replica_nodes, one.isr_nodes


def hold(cluster: Cluster, *nodes: int) -> None:
    for node in nodes:
        cluster.replicator.hold(cluster.topics.by_name("a").partitions[0], node, NOTHING)


def let_go(cluster: Cluster, node: int) -> None:
    cluster.replicator.hold(cluster.topics.by_name("a").partitions[0], node, None)


def put(cluster: Cluster) -> None:
    cluster.topics.by_name("a").partitions[0].append(build_batch([Record(0, 1, None, b"v")]), now_ms=1)


OK = ("NONE", None)


def test_a_reassignment_is_done_at_once_if_nothing_keeps_the_new_replicas(cluster: Cluster) -> None:
    put(cluster)
    assert reassign(cluster, [3, 2]) == OK
    assert seen(cluster) == (3, 1, [3, 2], [2, 3])
    assert ongoing(cluster) == []
    partition = cluster.topics.by_name("a").partitions[0]
    assert partition.replica_set is None
    assert partition.log.high_watermark == 1
    assert not cluster.replicator.differing


def test_a_reassignment_is_under_way_until_the_new_replicas_are_in_sync(cluster: Cluster) -> None:
    put(cluster)
    hold(cluster, 4)
    assert reassign(cluster, [4, 2]) == OK
    assert seen(cluster) == (1, 0, [4, 2, 1], [1, 2])
    listed = [("a", 0, [4, 2, 1], [4], [1])]
    assert ongoing(cluster) == listed
    assert ongoing(cluster, [ListPartitionReassignmentsTopics("a", [0, 3])]) == listed
    assert ongoing(cluster, [ListPartitionReassignmentsTopics("a", [1])]) == []
    assert ongoing(cluster, [ListPartitionReassignmentsTopics("b", [0])]) == []
    put(cluster)
    let_go(cluster, 4)
    assert ongoing(cluster) == []
    assert seen(cluster) == (4, 1, [4, 2], [2, 4])
    assert cluster.topics.by_name("a").partitions[0].log.high_watermark == 2


def test_a_throttled_reassignment_is_under_way_until_its_records_were_let_through(cluster: Cluster) -> None:
    cluster.clock.freeze()
    for _ in range(2):
        put(cluster)
    batch_bytes = len(build_batch([Record(0, 1, None, b"v")]))
    throttle = {"leader.replication.throttled.rate": str(batch_bytes // 2)}
    set_configs(cluster, ResourceType.BROKER, "1", throttle, 1)
    set_configs(cluster, ResourceType.TOPIC, "a", {"leader.replication.throttled.replicas": "0:1"})
    assert reassign(cluster, [3]) == OK
    assert ongoing(cluster) == [("a", 0, [3, 1, 2], [3], [1, 2])]
    cluster.clock.advance(3)
    cluster.replicator.look()
    assert ongoing(cluster) == []
    assert seen(cluster) == (3, 1, [3], [3])


def test_a_reassignment_is_replaced_by_another_one(cluster: Cluster) -> None:
    hold(cluster, 4)
    reassign(cluster, [4, 2])
    assert reassign(cluster, [3, 2]) == OK
    assert ongoing(cluster) == []
    assert seen(cluster) == (3, 1, [3, 2], [2, 3])


def test_a_reassignment_is_cancelled(cluster: Cluster) -> None:
    hold(cluster, 4)
    assert reassign(cluster, None) == ("NO_REASSIGNMENT_IN_PROGRESS", None)
    reassign(cluster, [1, 2, 4])
    assert seen(cluster) == (1, 0, [1, 2, 4], [1, 2])
    assert reassign(cluster, [1, 2, 4]) == OK
    assert ongoing(cluster) == [("a", 0, [1, 2, 4], [4], [])]
    assert reassign(cluster, None) == OK
    assert seen(cluster) == (1, 1, [1, 2], [1, 2])
    assert ongoing(cluster) == []
    assert reassign(cluster, None) == ("NO_REASSIGNMENT_IN_PROGRESS", None)


def test_the_number_of_replicas_counts_what_is_under_way(cluster: Cluster) -> None:
    factor = "INVALID_REPLICATION_FACTOR"
    assert reassign(cluster, [1], allow=False) == (factor, "The replication factor is changed from 2 to 1")
    hold(cluster, 4)
    reassign(cluster, [1, 2, 4])
    assert reassign(cluster, [1, 2], allow=False) == (factor, "The replication factor is changed from 3 to 2")
    assert reassign(cluster, [1, 2, 4], allow=False) == OK


def test_other_orders_and_fewer_replicas_are_there_at_once(cluster: Cluster) -> None:
    assert reassign(cluster, [2, 1]) == OK
    assert seen(cluster) == (1, 0, [2, 1], [1, 2])
    assert reassign(cluster, [2]) == OK
    assert seen(cluster) == (2, 1, [2], [2])


def test_a_node_that_is_down_gets_its_replica_when_it_is_back(cluster: Cluster) -> None:
    cluster.replicator.node_lost(4)
    cluster.membership.lose(4)
    put(cluster)
    assert reassign(cluster, [1, 4]) == OK
    assert seen(cluster) == (1, 0, [1, 4, 2], [1, 2])
    cluster.membership.rejoin(4)
    cluster.replicator.node_back(4)
    assert seen(cluster) == (1, 1, [1, 4], [1, 4])
    assert not cluster.replicator.differing


@pytest.mark.parametrize(
    ("topic", "index", "replicas", "error"),
    [
        ("a", 0, [1, 9], "assignment includes broker 9, but no such broker is registered."),
        ("a", 0, [1, 1], "assignment includes the broker 1 more than once."),
        ("a", 0, [], "assignment includes an empty replica list."),
        ("a", 0, [-1], "assignment includes broker -1, but no such broker is registered."),
        ("a", 5, [1], "Unable to find partition a:5."),
        ("nope", 0, [1], "Unable to find a topic named nope."),
    ],
)
def test_alter_partition_reassignments_to_impossible_replicas_is_refused(
    cluster: Cluster, topic: str, index: int, replicas: list[int], error: str
) -> None:
    unknown = error.startswith("Unable")
    code = "UNKNOWN_TOPIC_OR_PARTITION" if unknown else "INVALID_REPLICA_ASSIGNMENT"
    text = error if unknown else f"The manual partition {error}"
    assert reassign(cluster, replicas, topic=topic, index=index) == (code, text)


# -- AlterReplicaLogDirs with several nodes or log directories, and where a log has failed; see tests/scenarios too.


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
