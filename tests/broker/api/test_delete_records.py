"""DeleteRecords, as recorded from Kafka 4.3.1."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.broker.api.test_produce import Trio3
from tests.broker.api.test_produce import three as three
from tests.fakes.data_plane import DataPlane, partitions_of


@pytest.fixture
def plane() -> DataPlane:
    plane = DataPlane(topics={"a": 1})
    plane.produce("a", 5)
    return plane


def delete(plane: DataPlane, offset: int, *, topic: str = "a", version: int = 2, node: int = 1) -> tuple[int, int]:
    """(error code, low watermark)."""
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])], 1000)
    answer = plane.call(request, version, node=node).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_start_moves_and_never_back(plane: DataPlane, version: int) -> None:
    assert delete(plane, 3, version=version) == (0, 3)
    assert delete(plane, 0, version=version) == (0, 3)
    assert delete(plane, -1, version=version) == (0, 5)
    assert delete(plane, 5, version=version) == (0, 5)


def test_delete_records_makes_records_unfetchable(plane: DataPlane) -> None:
    delete(plane, 3)
    assert partitions_of(plane.fetch({"a": 2}))[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert partitions_of(plane.fetch({"a": 3}))[0].log_start_offset == 3


def test_delete_records_is_refused_with_kafkas_errors(plane: DataPlane) -> None:
    plane.topic("compacted", cleanup_policy="compact")
    plane.topic("both", cleanup_policy="compact,delete")
    plane.cluster.ensure_topic("__consumer_offsets")
    assert delete(plane, 99_999) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(plane, -3) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(plane, 1, topic="nope") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert delete(plane, 0, topic="compacted") == (ErrorCode.POLICY_VIOLATION, -1)
    assert delete(plane, 0, topic="both") == (0, 0)
    assert delete(plane, 0, topic="__consumer_offsets") == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)


def test_delete_records_is_refused_by_other_nodes_than_the_leader() -> None:
    plane = DataPlane(nodes=2)
    plane.cluster.create_topic("r", assignments={0: [2]})
    assert delete(plane, 0, topic="r", node=1) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    assert delete(plane, 0, topic="r", node=2) == (0, 0)


# -- while a follower does not hear of it; what is answered was seen on a real cluster of three


def delete_at_leader(three: Trio3, before: int, timeout_ms: int = 30_000) -> Callable[[], tuple[int, int]]:
    """Ask the leader; the error code and the low watermark are received by what is returned."""
    request = DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, before)])], timeout_ms)
    client = three.clients[three.leader]
    number = client.send(request, 2)

    def receive() -> tuple[int, int]:
        answer = client.receive(request, 2, number).topics[0].partitions[0]
        return answer.error_code, answer.low_watermark

    return receive


def log_starts(three: Trio3, at: int) -> None:
    """Wait until the leader has deleted."""
    while three.partition.log_start_offset != at:
        pass


@pytest.fixture
def records(three: Trio3) -> None:
    for _ in range(3):
        assert three.send()().error_code == 0
    assert delete_at_leader(three, 1)() == (0, 1)


@pytest.mark.usefixtures("records")
def test_the_answer_waits_for_a_follower_that_is_cut_off(three: Trio3) -> None:
    with three.broker.cut(*sorted((three.leader, three.followers[0]))):
        receive = delete_at_leader(three, 2)
        log_starts(three, 2)
    assert receive() == (0, 2)


@pytest.mark.usefixtures("records")
def test_delete_records_that_times_out_tells_the_low_watermark_before(three: Trio3) -> None:
    three.broker.cut(*sorted((three.leader, three.followers[0])))
    receive = delete_at_leader(three, -1, timeout_ms=500)
    log_starts(three, 3)
    three.broker.clock.advance(seconds=0.5)
    assert receive() == (ErrorCode.REQUEST_TIMED_OUT, 1)
    assert delete_at_leader(three, 0)() == (0, 1), "nothing has to be deleted for this one"


@pytest.mark.usefixtures("records")
def test_a_follower_out_of_sync_is_waited_for_until_its_node_is_fenced(three: Trio3) -> None:
    follower = three.followers[0]
    three.broker.topic("t").pause_replication(0, follower)
    receive = three.send()
    three.taken(4)
    three.broker.clock.advance(seconds=6)
    assert receive().error_code == 0
    assert follower not in three.partition.isr
    waiting = delete_at_leader(three, 2)
    log_starts(three, 2)
    three.broker.kill_node(follower)
    assert waiting() == (0, 2)


@pytest.mark.usefixtures("records")
def test_delete_records_stops_waiting_when_the_leader_moves(three: Trio3) -> None:
    leader, follower = three.leader, three.followers[0]
    three.broker.cut(leader, follower)
    waiting = delete_at_leader(three, 2)
    log_starts(three, 2)
    three.broker.topic("t").move_leader(0, three.followers[1])
    assert waiting() == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)


@pytest.mark.usefixtures("records")
def test_the_deletion_is_late_over_a_slow_link(three: Trio3) -> None:
    three.broker.slow(three.leader, three.followers[0], ms=1000)
    waiting = delete_at_leader(three, 2, timeout_ms=500)
    log_starts(three, 2)
    three.broker.clock.advance(seconds=0.5)
    assert waiting() == (ErrorCode.REQUEST_TIMED_OUT, 1)
    three.broker.clock.advance(seconds=0.5)
    assert delete_at_leader(three, 2)() == (0, 2)
