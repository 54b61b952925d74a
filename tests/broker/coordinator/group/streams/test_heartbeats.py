"""What heartbeats come to, beyond what the recorded conversations say."""

from __future__ import annotations

from odradek.broker.coordinator.group.classic.commands import LeaveGroup
from odradek.broker.coordinator.group.streams.commands import ExpireRevocation, FenceMember, StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.member import Endpoint, Owned
from odradek.broker.coordinator.group.streams.topic_creation import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import TopicStatus
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver


def test_a_heartbeat_of_a_settled_member_writes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    before = driver.journal.end_offset
    for _ in range(5):
        reply = driver.beat("a", 2)
        assert (reply.assigned, list(reply.statuses)) == (None, [])
    assert driver.journal.end_offset == before


def test_a_settled_member_hears_of_what_has_changed_since() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.settle()
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6
    driver.ask(StreamsGroupHeartbeat("g", "a", 3, host="/elsewhere"))
    assert driver.group.members["a"].client_host == "/elsewhere"
    driver.settle()
    epoch = driver.group.epoch
    end = driver.beat("a", epoch, shutdown=True)
    assert [status.code for status in end.statuses] == [TopicStatus.SHUTDOWN_APPLICATION]
    assert [status.code for status in driver.beat("a", epoch).statuses] == [TopicStatus.SHUTDOWN_APPLICATION]


def test_internal_topics_come_with_the_next_heartbeat() -> None:
    driver = StreamsDriver()
    first = driver.join("a", COUNTING)
    assert [status.code for status in first.statuses] == [TopicStatus.MISSING_INTERNAL_TOPICS]
    assert [type(effect) for effect in driver.effects].count(CreateInternalTopics) == 1
    second = driver.beat("a", 2)
    assert (list(second.statuses), second.member_epoch) == ([], 3)
    assert second.assigned is not None
    assert sorted(second.assigned.active["0"]) == [0, 1, 2, 3]


def test_a_refused_append_changes_nothing() -> None:
    driver = StreamsDriver()
    driver.join("a")
    driver.topics.put("t", 6)
    driver.change_topic("t", 6)
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    beat = StreamsGroupHeartbeat("g", "a", 2, host="/h")
    assert driver.error(beat)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert driver.error(StreamsGroupHeartbeat("g", "b", 0, topology=PLAIN))[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.group.epoch == 2
    assert driver.beat("a", 2).member_epoch == 3
    driver.settle()
    assert len(driver.tasks()["a"][0]) == 6


def test_a_new_group_that_could_not_be_stored_does_not_wait() -> None:
    driver = StreamsDriver({"group.streams.initial.rebalance.delay.ms": "1000"})
    driver.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    joining = StreamsGroupHeartbeat("g", "a", 0, topology=PLAIN, owned=Owned({}, {}, {}), rebalance_timeout_ms=1)
    assert driver.error(joining)[0] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    driver.journal.refuse = None
    assert driver.shard.timers.next_due_ms() is None or driver.machine.group("g") is None
    reply = driver.ask(joining)
    assert [status.code for status in reply.statuses] == [TopicStatus.ASSIGNMENT_DELAYED]


def test_end_points_are_numbered_anew_after_a_load() -> None:
    driver = StreamsDriver()
    driver.join("a", endpoint=Endpoint("h", 1))
    driver.join("b", endpoint=Endpoint("h", 2))
    driver.settle()
    known = driver.group.soft.endpoint_epoch
    assert driver.beat("a", 3, endpoint_epoch=known).endpoints is None
    driver.reload()
    told = driver.beat("a", 3, endpoint_epoch=known)
    assert told.endpoint_epoch == 0
    assert told.endpoints is not None
    assert {each.endpoint.port for each in told.endpoints} == {1, 2}


def test_other_kinds_are_no_streams_groups() -> None:
    driver = StreamsDriver()
    unknown = driver.error(StreamsGroupHeartbeat("g", "a", 3))
    assert unknown == (ErrorCode.GROUP_ID_NOT_FOUND, "Streams group g not found.")
    driver.join("a")
    left = driver.ask(LeaveGroup("g", [("a", None)]))
    assert left == [ErrorCode.UNKNOWN_MEMBER_ID]


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
