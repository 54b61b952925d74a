"""DeleteRecords while a follower does not hear of it. What is answered was seen on a real cluster of three."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.broker.api.test_produce_wait import Trio3
from tests.broker.api.test_produce_wait import three as three


def delete(three: Trio3, before: int, timeout_ms: int = 30_000) -> Callable[[], tuple[int, int]]:
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


@pytest.fixture(autouse=True)
def _records(three: Trio3) -> None:
    for _ in range(3):
        assert three.send()().error_code == 0
    assert delete(three, 1)() == (0, 1)


def test_the_answer_waits_for_a_follower_that_is_cut_off(three: Trio3) -> None:
    three.broker.cut(*sorted((three.leader, three.followers[0])))
    receive = delete(three, 2)
    log_starts(three, 2)
    three.broker.mend(*sorted((three.leader, three.followers[0])))
    assert receive() == (0, 2)


def test_after_the_time_out_the_low_watermark_is_the_one_before(three: Trio3) -> None:
    three.broker.cut(*sorted((three.leader, three.followers[0])))
    receive = delete(three, -1, timeout_ms=500)
    log_starts(three, 3)
    three.broker.clock.advance(seconds=0.5)
    assert receive() == (ErrorCode.REQUEST_TIMED_OUT, 1)
    assert delete(three, 0)() == (0, 1), "nothing has to be deleted for this one"


def test_a_follower_out_of_sync_is_waited_for_until_its_node_is_fenced(three: Trio3) -> None:
    follower = three.followers[0]
    three.broker.pause_replication("t", 0, follower)
    receive = three.send()
    three.taken(4)
    three.broker.clock.advance(seconds=6)
    assert receive().error_code == 0
    assert follower not in three.partition.isr
    waiting = delete(three, 2)
    log_starts(three, 2)
    three.broker.kill_node(follower)
    assert waiting() == (0, 2)


def test_another_leader_ends_the_wait(three: Trio3) -> None:
    leader, follower = three.leader, three.followers[0]
    three.broker.cut(leader, follower)
    waiting = delete(three, 2)
    log_starts(three, 2)
    three.broker.move_leader("t", 0, three.followers[1])
    assert waiting() == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)


def test_the_deletion_is_late_over_a_slow_link(three: Trio3) -> None:
    three.broker.slow(three.leader, three.followers[0], ms=1000)
    waiting = delete(three, 2, timeout_ms=500)
    log_starts(three, 2)
    three.broker.clock.advance(seconds=0.5)
    assert waiting() == (ErrorCode.REQUEST_TIMED_OUT, 1)
    three.broker.clock.advance(seconds=0.5)
    assert delete(three, 2)() == (0, 2)
