"""A group's topology: who may declare it, and what is told while topics are missing."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.commands import StreamsGroupHeartbeat, TopicsRefused
from odradek.broker.coordinator.group.streams.effects import CreateInternalTopics
from odradek.broker.coordinator.group.streams.topology import Subtopology, TopicInfo, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, StreamsDriver


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
