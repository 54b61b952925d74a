"""ListOffsets and OffsetForLeaderEpoch, as recorded from Kafka 4.3.1."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from odradek.broker.cluster import Cluster
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING
from odradek.broker.security.principal import Principal
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.generated.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.protocol.record_batch import HEADER_SIZE, build_batch
from odradek.protocol.records import Record
from odradek.storage.partition_log import Tier
from odradek.storage.trimming import apply_retention
from tests.fakes.ask import ask as ask_node
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.nodes import set_leader

NONE = (0, -1, -1, -1)


@pytest.fixture
def plane() -> DataPlane:
    """`a-0` holds timestamps START, START+1, START+2 at offsets 0 to 2; `a-1` is empty."""
    plane = DataPlane(topics={"a": 2})
    for i in range(3):
        plane.produce("a", plane.batch(timestamp=START_MS + i))
    return plane


def ask(
    plane: DataPlane, timestamp: int, version: int = 11, *, partition: int = 0, topic: str = "a", **fields: Any
) -> tuple[int, int, int, int]:
    """(error code, timestamp, offset, leader epoch) of one partition."""
    epoch = fields.pop("current_leader_epoch", -1)
    node = fields.pop("node", 1)
    asked = ListOffsetsPartition(partition, epoch, timestamp)
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(topic, [asked])], **fields)
    answer = plane.call(request, version, node=node).topics[0].partitions[0]
    assert answer.partition_index == partition
    return answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch


@pytest.mark.parametrize(
    ("release", "local_start"), [("3.4", (0, START_MS, 0)), ("3.5", (0, -1, 0)), ("3.8", (0, -1, 0))]
)
@pytest.mark.parametrize("version", [1, 7])
def test_older_releases_know_special_timestamps_in_any_version(
    release: str, local_start: tuple[int, int, int], version: int
) -> None:
    """A Kafka 3.6.2 knew -4 in versions 1 to 8, and looked -5 up as a time."""
    plane = DataPlane(config={"odradek.kafka.version": release}, topics={"a": 2})
    plane.produce("a", plane.batch(timestamp=START_MS))
    assert ask(plane, -4, version)[:3] == local_start
    assert ask(plane, -5, version)[:3] == (0, START_MS, 0)


@pytest.mark.parametrize("version", range(1, 12))
def test_every_version_answers(plane: DataPlane, version: int) -> None:
    assert ask(plane, -1, version)[:3] == (0, -1, 3)
    assert ask(plane, START_MS + 1, version)[:3] == (0, START_MS + 1, 1)
    assert ask(plane, -1, version)[3] == (0 if version >= 4 else -1)


@pytest.mark.parametrize(("timestamp", "since"), [(-3, 7), (-4, 8), (-5, 9), (-6, 11), (-9, 99)])
def test_special_timestamps_need_their_version(plane: DataPlane, timestamp: int, since: int) -> None:
    for version in range(1, 12):
        code = ask(plane, timestamp, version)[0]
        assert code == (0 if version >= since else ErrorCode.UNSUPPORTED_VERSION)


@pytest.mark.parametrize(
    ("tier", "start", "latest_tiered", "pending"),
    [
        (None, 0, -1, -1),
        (Tier(0), 0, -1, 0),
        (Tier(1), 0, -1, -1),
        (Tier(1, 0), 0, 0, 1),
        (Tier(2, 1), 0, 1, 2),
        (Tier(2, 2), 0, 2, -1),
        (Tier(2, 0), 2, 0, 2),
    ],
)
def test_a_tiered_log_tells_what_is_copied_and_what_is_not(
    plane: DataPlane, tier: Tier | None, start: int, latest_tiered: int, pending: int
) -> None:
    """The log has the offsets 0 to 2 (KIP-1005, KIP-1023)."""
    log = plane.cluster.topics.by_name("a").partitions[0].log
    log.log_start_offset = start
    log.tier = tier
    assert [ask(plane, special)[:3] for special in (-5, -6)] == [(0, -1, latest_tiered), (0, -1, pending)]
    assert ask(plane, -4)[2] == (start if tier is None else tier.local_start)


def test_a_deleted_segment_hides_the_later_records_of_its_time(plane: DataPlane) -> None:
    log = plane.cluster.topics.by_name("a").partitions[0].log
    log.roll(START_MS)
    plane.produce("a", plane.batch(timestamp=START_MS + 50))
    log.delete_records(3)
    assert ask(plane, START_MS + 1) == NONE
    assert ask(plane, START_MS + 50) == (0, START_MS + 50, 3, 0)
    apply_retention(log, START_MS)
    assert ask(plane, START_MS + 1) == (0, START_MS + 50, 3, 0)


def test_the_largest_timestamp_of_records_without_one(plane: DataPlane) -> None:
    plane.produce("a", plane.batch(2, timestamp=-1), partition=1)
    assert ask(plane, -3, partition=1) == (0, -1, 0, 0)


def test_records_deleted_within_an_open_transaction(plane: DataPlane) -> None:
    partition = plane.cluster.topics.by_name("a").partitions[0]
    for sequence in (0, 3):
        producer: dict[str, Any] = {"producer_id": 5, "producer_epoch": 0, "base_sequence": sequence}
        partition.append(plane.batch(3, transactional=True, timestamp=START_MS, **producer), now_ms=START_MS)
    stable = []
    for start in (3, 4, 6, 8):
        partition.delete_records(start)
        stable.append(ask(plane, -1, isolation_level=1)[2])
    assert stable == [3, 3, 6, 6]  # base offsets of the batches


def test_isolation_stops_at_the_stable_offset(plane: DataPlane) -> None:
    partition = plane.cluster.topics.get("a").partitions[0]  # type: ignore[union-attr]
    batch = plane.batch(2, producer_id=5, producer_epoch=0, base_sequence=0, transactional=True, timestamp=START_MS + 9)
    partition.append(batch, now_ms=START_MS)
    assert ask(plane, -1, isolation_level=0) == (0, -1, 5, 0)
    assert ask(plane, -1, isolation_level=1) == (0, -1, 3, 0)
    assert ask(plane, START_MS + 9, isolation_level=0)[2] == 3
    assert ask(plane, START_MS + 9, isolation_level=1) == NONE


@pytest.mark.parametrize("level", [-1, 2])
def test_list_offsets_stumbles_over_an_isolation_level_that_there_is_not(plane: DataPlane, level: int) -> None:
    assert ask(plane, -1, isolation_level=level)[0] == ErrorCode.UNKNOWN_SERVER_ERROR
    assert plane.call(ListOffsetsRequest(-1, level, []), 11).topics == []


def test_a_denied_topic_is_denied_whatever_the_isolation_level(guarded_cluster: Cluster) -> None:
    def codes(*names: str) -> list[int]:
        topics = [ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)]) for name in names]
        request = ListOffsetsRequest(isolation_level=9, topics=topics)
        answer = ask_node(guarded_cluster, request, 11, principal=Principal("User", "alice"))
        return [part.error_code for topic in answer.topics for part in topic.partitions]

    assert codes("theirs") == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    assert codes("theirs", "mine") == [ErrorCode.UNKNOWN_SERVER_ERROR] * 2


def test_list_offsets_is_refused_with_kafkas_errors(plane: DataPlane) -> None:
    refused = (-1, -1, -1)
    assert ask(plane, -1, topic="nope") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, *refused)
    assert ask(plane, -1, partition=9) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, *refused)
    assert ask(plane, -1, current_leader_epoch=9) == (ErrorCode.UNKNOWN_LEADER_EPOCH, *refused)
    set_leader(plane.cluster, "a", 0, 1)
    assert ask(plane, -1, current_leader_epoch=0) == (ErrorCode.FENCED_LEADER_EPOCH, *refused)
    assert ask(plane, -1, current_leader_epoch=1) == (0, -1, 3, 1)


def test_a_partition_named_twice_is_answered_once(plane: DataPlane) -> None:
    asked = [ListOffsetsPartition(0, -1, -1), ListOffsetsPartition(0, -1, -2), ListOffsetsPartition(1, -1, -1)]
    response = plane.call(ListOffsetsRequest(-1, topics=[ListOffsetsTopic("a", asked)]), 7)
    found = [(each.partition_index, each.error_code, each.offset) for each in response.topics[0].partitions]
    assert found == [(1, 0, 0), (0, ErrorCode.INVALID_REQUEST, -1)]


def test_many_partitions_are_opened_one_after_the_other() -> None:
    plane = DataPlane(topics={"a": 60})
    plane.produce("a", plane.batch(), partition=59)
    asked = [ListOffsetsPartition(index, -1, -1) for index in range(61)]
    request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("a", asked), ListOffsetsTopic("b", asked)])

    async def answer() -> Any:
        return await plane.call(request, 7)

    response = trio.run(answer)
    found = {
        (topic.name, each.partition_index): (each.error_code, each.offset)
        for topic in response.topics
        for each in topic.partitions
    }
    assert [found["a", index] for index in range(59)] == [(0, 0)] * 59
    assert found["a", 59] == (0, 1)
    assert found["a", 60] == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert {found["b", index] for index in range(61)} == {(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)}
    assert all(partition.opened for partition in plane.cluster.topics.by_name("a").partitions)


def test_list_offsets_is_answered_by_the_leader_only() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [2]})
    assert ask(plane, -1, topic="r", node=1)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ask(plane, -1, topic="r", node=2) == (0, -1, 0, 0)


# -- OffsetForLeaderEpoch


def epoch_end(
    plane: DataPlane, leader_epoch: int, *, current: int = -1, topic: str = "a", version: int = 4
) -> tuple[int, int, int]:
    """(error code, leader epoch, end offset)."""
    asked = OffsetForLeaderPartition(0, current, leader_epoch)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic, [asked])])
    answer = plane.call(request, version).topics[0].partitions[0]
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.mark.parametrize("version", [2, 3, 4])
def test_offset_for_leader_epoch_tells_where_epochs_end(plane: DataPlane, version: int) -> None:
    assert epoch_end(plane, 0, version=version) == (0, 0, 3)
    assert epoch_end(plane, 0, current=0, version=version) == (0, 0, 3)
    assert epoch_end(plane, 7, version=version) == (0, -1, -1)
    assert epoch_end(plane, -1, version=version) == (0, -1, -1)
    assert epoch_end(plane, 0, current=9, version=version) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1)
    assert epoch_end(plane, 0, topic="g-nope", version=version) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)


def test_an_older_epoch_ends_where_the_next_began(plane: DataPlane) -> None:
    set_leader(plane.cluster, "a", 0, 1)
    plane.produce("a", 2)
    assert epoch_end(plane, 0) == (0, 0, 3)
    assert epoch_end(plane, 1) == (0, 1, 5)
    assert epoch_end(plane, 0, current=0) == (ErrorCode.FENCED_LEADER_EPOCH, -1, -1)


def test_damaged_records_are_told_of_their_partition_alone(plane: DataPlane) -> None:
    plane.damage("a", HEADER_SIZE, b"\x7f")  # the length of the first record
    assert ask(plane, START_MS) == (ErrorCode.INVALID_RECORD, -1, -1, -1)
    assert ask(plane, -1)[0] == 0
    assert ask(plane, -1, partition=1)[0] == 0
    assert plane.cluster.bug_log.bugs == []


# -- a leader that does not know yet what is committed; asked of a cluster of Kafka 4.3.1


@pytest.fixture
def behind() -> Cluster:
    """Node 2 leads t-0 anew: of its five records it knows three committed, since node 3 has not come to it."""
    cluster = Cluster(nodes=4)
    partition = cluster.create_topic("t", assignments={0: [1, 2, 3]}).partitions[0]
    append(partition, 3)
    cluster.replicator.hold(partition, 3, NOTHING)
    append(partition, 2)
    cluster.replicator.node_lost(1)
    cluster.membership.lose(1)
    assert (partition.leader_id, partition.log.high_watermark, partition.log.log_end_offset) == (2, 3, 5)
    return cluster


def append(partition: Partition, count: int) -> None:
    partition.append(build_batch([Record(i, START_MS + i, None, b"v") for i in range(count)]), now_ms=START_MS)


def listed(
    cluster: Cluster, timestamp: int, *, node: int = 2, version: int = 7, replica: int = -1, epoch: int = -1
) -> tuple[str, int]:
    topics = [ListOffsetsTopic("t", [ListOffsetsPartition(0, epoch, timestamp)])]
    answer = (
        ask_node(cluster, ListOffsetsRequest(replica, topics=topics), version, node_id=node).topics[0].partitions[0]
    )
    return ErrorCode(answer.error_code).name, answer.offset


@pytest.mark.parametrize("replica", [-2, 0, 2, 77])
def test_list_offsets_of_replicas_tells_the_log_end(behind: Cluster, replica: int) -> None:
    assert listed(behind, -1, replica=replica) == ("NONE", 5)


def test_list_offsets_for_debugging_is_answered_by_any_replica(behind: Cluster) -> None:
    assert listed(behind, -1, node=3, replica=-2) == ("NONE", 3)
    assert listed(behind, -1, node=3, replica=2) == ("NOT_LEADER_OR_FOLLOWER", -1)
    assert listed(behind, -1, node=3) == ("NOT_LEADER_OR_FOLLOWER", -1)
    assert listed(behind, -1, node=4, replica=-2, epoch=9) == ("NOT_LEADER_OR_FOLLOWER", -1)
    assert listed(behind, -1, node=3, replica=-2, epoch=0) == ("FENCED_LEADER_EPOCH", -1)


@pytest.mark.trio
async def test_a_time_within_large_batches_is_found_while_others_are_served() -> None:
    plane = DataPlane(topics={"large": 3})
    rows = [Record(0, START_MS + index, b"k", bytes(200_000)) for index in range(5)]
    for index in range(2):
        found = plane.cluster.topics.get("large")
        assert found is not None
        found.partitions[index].append(build_batch(rows, codec=Codec.ZSTD), now_ms=START_MS)
    plane.produce("large", plane.batch(timestamp=START_MS + 9), partition=2)
    asked = [ListOffsetsPartition(0, -1, START_MS + 3), ListOffsetsPartition(1, -1, -3), ListOffsetsPartition(2, -1, 0)]
    waiting = plane.call(ListOffsetsRequest(-1, topics=[ListOffsetsTopic("large", asked)]), 11)
    answer = await waiting
    assert [(each.timestamp, each.offset) for each in answer.topics[0].partitions] == [
        (START_MS + 3, 3),
        (START_MS + 4, 4),
        (START_MS + 9, 0),
    ]
