"""Members leave, are dropped for their silence, or for tasks that they do not give up."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.commands import ExpireRevocation, FenceMember, StreamsGroupHeartbeat
from odradek.protocol.errors import ErrorCode
from tests.broker.coordinator.group.streams.driver import StreamsDriver


def test_a_member_leaves() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.join("b")
    reply = driver.leave("a")
    assert (reply.member_id, reply.member_epoch, list(reply.statuses)) == ("a", -1, [])
    assert list(driver.group.members) == ["b"]
    assert driver.group.epoch == 4
    driver.settle()
    assert driver.tasks()["b"][0] == [("0", task) for task in range(4)]


def test_leaving_what_is_not_there() -> None:
    driver = StreamsDriver()
    leaving = StreamsGroupHeartbeat("g", "x", -1)
    assert driver.error(leaving) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")
    driver.join("a")
    assert driver.error(leaving) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member x is not a member of group g.")


def test_silence_ends_a_session_and_heartbeats_keep_it() -> None:
    driver = StreamsDriver({"group.streams.session.timeout.ms": "50000"})
    driver.join("a")
    driver.join("b")
    for _ in range(3):
        driver.wait(20_000)
        driver.honest_beat("b")
    assert list(driver.group.members) == ["b"]
    driver.wait(60_000)
    assert driver.group.state_name == "Empty"


def test_tasks_are_given_up_in_time_or_the_member_is_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(900)
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.wait(200)
    assert list(driver.group.members) == ["b"]


def test_a_member_that_got_on_is_not_dropped() -> None:
    driver = StreamsDriver()
    driver.join("a", rebalance_timeout_ms=1000)
    driver.join("b")
    driver.beat("a", 2, active=(0, 1, 2, 3))
    driver.beat("a", 2, active=(0, 1))
    driver.wait(2000)
    assert set(driver.group.members) == {"a", "b"}


def test_late_timers_find_nobody() -> None:
    driver = StreamsDriver()
    assert driver.ask(FenceMember("g", "a")) is None
    driver.join("a")
    driver.ask(FenceMember("g", "x"))
    driver.ask(ExpireRevocation("g", "a", 1))
    driver.ask(ExpireRevocation("g", "x", 2))
    assert list(driver.group.members) == ["a"]
