"""When tasks are assigned: the initial delay, the interval between assignments."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.problems import TopicStatus
from tests.broker.coordinator.group.streams.driver import StreamsDriver

DELAY = {"group.streams.initial.rebalance.delay.ms": "1000"}


def test_an_empty_group_waits_for_more_members() -> None:
    driver = StreamsDriver(DELAY)
    told = driver.join("a")
    assert (told.member_epoch, [status.code for status in told.statuses]) == (1, [TopicStatus.ASSIGNMENT_DELAYED])
    assert told.statuses[0].detail == "Assignment delayed due to the configured initial rebalance delay."
    driver.join("b")
    driver.wait(999)
    assert driver.group.state_name == "Assigning"
    driver.wait(1)
    driver.settle()
    assert {member_id: len(active) for member_id, (active, _) in driver.tasks().items()} == {"a": 2, "b": 2}


def test_later_members_do_not_wait() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.wait(1000)
    assert list(driver.join("b").statuses) == []


def test_a_group_that_is_empty_when_the_delay_ends_gets_nothing() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.leave("a")
    driver.wait(2000)
    assert driver.group.assignment_epoch == 1
    assert driver.join("a").statuses[0].code is TopicStatus.ASSIGNMENT_DELAYED


def test_a_coordinator_that_loads_the_group_does_not_go_on_waiting() -> None:
    driver = StreamsDriver(DELAY)
    driver.join("a")
    driver.reload()
    assert list(driver.beat("a", 1).statuses) == []
    assert driver.group.assignment_epoch == 2


def test_assignments_follow_one_another_at_intervals() -> None:
    driver = StreamsDriver({"group.streams.assignment.interval.ms": "500"})
    driver.join("a")
    told = driver.join("b")
    assert [status.detail for status in told.statuses] == [
        "Assignment delayed due to the configured assignment interval."
    ]
    driver.wait(499)
    driver.beat("b", 2)
    assert driver.group.assignment_epoch == 2
    driver.wait(1)
    assert list(driver.beat("b", 2).statuses) == []
    assert driver.group.assignment_epoch == 3
