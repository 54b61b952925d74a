"""Heartbeats of share groups. The epochs are those of a real Kafka (tests/vectors/share_conversations.json.gz)."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.commands import MetadataChanged
from odradek.broker.coordinator.group.share.commands import ExpireShareMember
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.coordinator.group.share.driver import OTHER, TOPIC, ShareDriver


def test_the_first_heartbeat_has_states_begun_and_the_next_gets_the_partitions() -> None:
    driver = ShareDriver()
    assert driver.beat("m", 0, "t") == (2, 5000, {})
    assert driver.initialized == [(2, {TOPIC: [0, 1]})]
    assert driver.beat("m", 2) == (3, 5000, {TOPIC: (0, 1)})
    assert driver.beat("m", 3) == (3, 5000, None)
    assert driver.beat("m", 2) == (3, 5000, None)
    with pytest.raises(KafkaError, match="smaller member epoch"):
        driver.beat("m", 1)


def test_states_that_the_share_coordinator_refuses_are_asked_for_again() -> None:
    driver = ShareDriver()
    driver.refuse = True
    driver.beat("m", 0, "t")
    assert driver.group.initializing == {}
    driver.refuse = False
    driver.beat("m", 2)
    assert driver.beat("m", 2).assigned == {TOPIC: (0, 1)}


def test_members_share_partitions_when_there_are_more_of_them() -> None:
    driver = ShareDriver()
    driver.beat("m0", 0, "t")
    driver.beat("m0", 2)
    for number in range(1, 4):
        driver.beat(f"m{number}", 0, "t")
    driver.settle(*driver.group.members)
    held = driver.held()
    assert all(len(places) == 1 for places in held.values())
    assert sorted(index for places in held.values() for _, index in places) == [0, 0, 1, 1]


def test_assignments_keep_their_distance_in_time() -> None:
    driver = ShareDriver(group_share_assignment_interval_ms="1000")
    driver.beat("m", 0, "t")
    assert driver.beat("m", 2).member_epoch == 2
    driver.now_ms += 1_000
    assert driver.beat("m", 2).member_epoch == 3


def test_topics_that_grow_and_go() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t", "u")
    driver.beat("m", 2)
    driver.topics.put("t", TOPIC, 3)
    driver.topics.put("u", OTHER, 1)
    driver.ask(MetadataChanged(["t", "u"]))
    driver.settle("m")
    assert driver.held()["m"] == {(TOPIC, 0), (TOPIC, 1), (TOPIC, 2), (OTHER, 0)}
    del driver.topics.facts["t"]
    driver.ask(MetadataChanged(["t"]))
    driver.settle("m")
    assert driver.held()["m"] == {(OTHER, 0)}


def test_a_member_at_rest_hears_of_what_has_changed_since() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t", "u")
    driver.settle("m")
    end, epoch = len(driver.log), driver.group.epoch
    assert driver.beat("m", epoch) == (epoch, 5000, None)
    assert len(driver.log) == end
    driver.topics.put("u", OTHER, 1)
    driver.ask(MetadataChanged(["u"]))
    driver.settle("m")
    assert driver.held()["m"] == {(TOPIC, 0), (TOPIC, 1), (OTHER, 0)}
    end, epoch = len(driver.log), driver.group.epoch
    driver.beat("m", epoch)
    assert len(driver.log) == end
    driver.beat("n", 0, "t", "u")
    driver.settle("n", "m")
    assert driver.group.members["m"].epoch == driver.group.members["n"].epoch == driver.group.epoch > epoch
    driver.beat("m", driver.group.epoch, rack="r")
    assert driver.group.members["m"].rack_id == "r"


def test_a_silent_member_is_out() -> None:
    driver = ShareDriver()
    driver.beat("m", 0, "t")
    driver.beat("n", 0, "t")
    epoch = driver.group.epoch
    driver.ask(ExpireShareMember("g", "m"))
    driver.ask(ExpireShareMember("g", "m"))
    assert list(driver.group.members) == ["n"]
    assert driver.group.epoch == epoch + 1
    with pytest.raises(KafkaError) as caught:
        driver.beat("m", 2)
    assert caught.value.code is ErrorCode.UNKNOWN_MEMBER_ID


def test_so_many_members_and_no_more() -> None:
    driver = ShareDriver(group_share_max_size="2")
    driver.beat("a", 0, "t")
    driver.beat("b", 0, "t")
    driver.beat("a", 0, "t")
    with pytest.raises(KafkaError, match="maximum capacity of 2 members") as caught:
        driver.beat("c", 0, "t")
    assert caught.value.code is ErrorCode.GROUP_MAX_SIZE_REACHED
