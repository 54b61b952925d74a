"""Epochs, tasks and room."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.commands import StreamsGroupHeartbeat, TopicsRefused
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Held, Member
from odradek.broker.coordinator.group.streams.readiness import check_epoch, check_room, check_tasks
from odradek.broker.coordinator.group.streams.topic_creation import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import ConfiguredSubtopology, Subtopology, TopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver, owned

MEMBER = Member("m", 5, 4, assigned=Held({"0": {0: 5, 1: 3}}))


@pytest.mark.parametrize(("epoch", "has"), [(0, None), (5, None), (4, ()), (4, (0, 1))])
def test_fine(epoch: int, has: tuple[int, ...] | None) -> None:
    check_epoch(MEMBER, epoch, owned(has))


@pytest.mark.parametrize(
    ("epoch", "has", "how"), [(6, (), "greater"), (3, (), "smaller"), (4, None, "smaller"), (4, (0, 2), "smaller")]
)
def test_fenced(epoch: int, has: tuple[int, ...] | None, how: str) -> None:
    with pytest.raises(KafkaError, match=f"has a {how} member epoch") as error:
        check_epoch(MEMBER, epoch, owned(has))
    assert error.value.code is ErrorCode.FENCED_MEMBER_EPOCH


def test_tasks_that_there_are_not() -> None:
    shape = {"0": ConfiguredSubtopology(Subtopology("0", ("t",)), 2)}
    check_tasks(owned((0, 1), (1,)), shape)
    check_tasks(None, shape)
    with pytest.raises(KafkaError, match=r"Subtopology 7 does not exist in the topology\."):
        check_tasks(owned({"7": (0,)}), shape)
    for task in (2, -1):
        text = f"Task {task} for subtopology 0 is invalid. Number of tasks for this subtopology: 2"
        with pytest.raises(KafkaError, match=text):
            check_tasks(owned((), (task,)), shape)


def test_room() -> None:
    group = StreamsGroup("g")
    check_room(group, 1)
    group.put_member(Member("m"))
    with pytest.raises(KafkaError, match=r"The streams group has reached its maximum capacity of 1 members\.") as error:
        check_room(group, 1)
    assert error.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_the_first_member_declares_it() -> None:
    driver = StreamsDriver()
    driver.join("a", PLAIN._replace(epoch=2))
    with pytest.raises(KafkaError, match=r"Topology updates are not supported yet\.") as error:
        driver.join("b", PLAIN._replace(epoch=3))
    assert error.value.code is ErrorCode.INVALID_REQUEST
    with pytest.raises(KafkaError):
        driver.join("b", Topology(2, {"0": Subtopology("0", ("t", "u"))}))
    told = driver.join("b", PLAIN._replace(epoch=1))
    text = "The member's topology epoch 1 is behind the group's topology epoch 2."
    assert [(status.code, status.detail) for status in told.statuses] == [(0, text)]
    assert driver.error(StreamsGroupHeartbeat("h", "a", 0))[0] is ErrorCode.UNKNOWN_SERVER_ERROR


def test_refused_topics_are_tried_again_after_a_while() -> None:
    driver = StreamsDriver({"group.streams.heartbeat.interval.ms": "5000"})
    driver.creates = False
    driver.join("a", COUNTING)
    (asked,) = [effect for effect in driver.effects if isinstance(effect, CreateInternalTopics)]
    assert asked.topics == [TopicInfo("counts-changelog", 4)]
    assert asked.retry_ms == 10_000
    driver.ask(TopicsRefused("g", {"counts-changelog": "no room"}, asked.retry_ms))
    driver.effects.clear()
    (status,) = driver.beat("a", 2).statuses
    text = "Internal topics are missing: counts-changelog; Creation failed: counts-changelog (no room)."
    assert status.detail == text
    assert driver.effects == []
    driver.wait(10_000)
    driver.beat("a", 2)
    assert [type(effect) for effect in driver.effects] == [CreateInternalTopics]


def test_a_refusal_outlives_later_ones() -> None:
    driver = StreamsDriver()
    driver.creates = False
    topology = Topology(0, {"0": Subtopology("0", ("t",), changelogs=(TopicInfo("early"), TopicInfo("late")))})
    driver.join("a", topology)
    driver.ask(TopicsRefused("g", {"early": "no"}, 1_000))
    driver.wait(500)
    driver.ask(TopicsRefused("g", {"late": "no"}, 1_000))
    assert set(driver.group.soft.refused_at(driver.clock.now_ms())) == {"early", "late"}
    driver.wait(600)
    driver.effects.clear()
    driver.beat("a", 2)
    (again,) = [effect for effect in driver.effects if isinstance(effect, CreateInternalTopics)]
    assert [topic.name for topic in again.topics] == ["early"]


def test_other_groups_ask_for_a_refused_topic_themselves() -> None:
    driver = StreamsDriver()
    driver.creates = False
    driver.join("a", COUNTING)
    driver.ask(TopicsRefused("g", {"counts-changelog": "no"}, 1_000))
    driver.effects.clear()
    driver.ask(StreamsGroupHeartbeat("other", "a", 0, topology=COUNTING))
    assert [effect.group_id for effect in driver.effects if isinstance(effect, CreateInternalTopics)] == ["other"]


def test_only_three_reasons_are_told() -> None:
    names = [f"s{number}" for number in range(5)]
    topology = Topology(0, {"0": Subtopology("0", ("t",), changelogs=tuple(TopicInfo(name) for name in names))})
    driver = StreamsDriver()
    driver.creates = False
    driver.join("a", topology)
    driver.ask(TopicsRefused("g", dict.fromkeys(names, "no"), 100))
    (status,) = driver.beat("a", 2).statuses
    assert status.detail.count("(no)") == 3
    assert status.detail.endswith(" and 2 more.")
