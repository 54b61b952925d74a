"""The group coordinator's account of what is stored for share groups."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.commands import DeleteGroup
from odradek.broker.coordinator.group.share.commands import (
    AlterShareOffsets,
    BeginDeleteOffsets,
    DeleteStates,
    EndDeleteOffsets,
    ForgetDeletedTopics,
    StatesInitialized,
)
from odradek.broker.coordinator.group.share.group import TopicStates
from odradek.protocol.errors import KafkaError
from tests.broker.coordinator.group.share.driver import TOPIC, ShareDriver

BOTH = {TOPIC: TopicStates("t", frozenset({0, 1}))}


@pytest.fixture
def left() -> ShareDriver:
    """A group that a member has left."""
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    driver.beat("m", -1)
    assert driver.group.initialized == BOTH
    return driver


def test_altering_is_for_empty_groups(left: ShareDriver) -> None:
    assert left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}})).reply == left.group.epoch
    assert left.group.initializing == {TOPIC: TopicStates("t", frozenset({1}))}
    left.ask(StatesInitialized("g", {TOPIC: [1]}))
    assert left.group.initializing == {}
    left.beat("m", 0, "t")
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}}))


def test_a_topic_that_is_altered_without_partitions_stays_in_its_record(left: ShareDriver) -> None:
    other = bytes(15) + b"\x07"
    left.ask(AlterShareOffsets("g", {TOPIC: {1: 5}, other: {}}))
    left.ask(StatesInitialized("g", {TOPIC: [1]}))
    assert {topic_id: row.partitions for topic_id, row in left.group.initializing.items()} == {other: frozenset()}


def test_altering_makes_a_group() -> None:
    driver = ShareDriver()
    driver.ask(AlterShareOffsets("g", {TOPIC: {0: 5}}))
    assert driver.group.is_empty
    assert driver.group.initializing == {TOPIC: TopicStates("t", frozenset({0}))}


def test_deleting_goes_in_two_steps_and_can_be_tried_again(left: ShareDriver) -> None:
    assert left.ask(BeginDeleteOffsets("g", ["t", "nope"])).reply == ({TOPIC: [0, 1]}, ["nope"])
    assert (left.group.initialized, left.group.deleting) == ({}, {TOPIC: "t"})
    assert left.ask(BeginDeleteOffsets("g", ["t"])).reply == ({TOPIC: [0, 1]}, [])
    left.ask(EndDeleteOffsets("g", [TOPIC]))
    assert left.group.deleting == {}
    assert left.ask(BeginDeleteOffsets("g", ["t"])).reply == ({}, ["t"])


def test_deleting_of_nothing_and_of_nobody(left: ShareDriver) -> None:
    driver = ShareDriver()
    with pytest.raises(KafkaError, match="Group g not found"):
        driver.ask(BeginDeleteOffsets("g", ["t"]))
    left.beat("m", 0, "t")
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        left.ask(BeginDeleteOffsets("g", ["t"]))


def test_a_group_goes_after_what_is_stored_for_it(left: ShareDriver) -> None:
    outcome = left.machine.decide(DeleteGroup("g"), left.now_ms)
    (effect,) = outcome.effects
    assert isinstance(effect, DeleteStates)
    assert effect.places == {TOPIC: [0, 1]}
    left.ask(DeleteGroup("g"))
    assert left.machine.group("g") is None


def test_deleted_topics_are_struck_off(left: ShareDriver) -> None:
    left.ask(ForgetDeletedTopics("g"))
    assert left.group.initialized == BOTH
    left.topics.facts.clear()
    left.ask(ForgetDeletedTopics("g"))
    assert left.group.initialized == {}
