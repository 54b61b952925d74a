"""Joining what is stored of topics."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.share import group as r
from odradek.broker.coordinator.group.share.group import ShareGroup, ShareMember, TopicStates, joined
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.errors import KafkaError
from odradek.protocol.json_form import to_json
from odradek.protocol.stored import decode_group_record
from odradek.protocol.uuids import uuid_to_text
from tests.fakes.group_driver import commit_offsets

A, B = bytes(16), bytes(15) + b"\1"


def test_partitions_of_both_and_the_name_of_the_second() -> None:
    one = {A: TopicStates("old", frozenset({0, 1}))}
    other = {A: TopicStates("new", frozenset({1, 2})), B: TopicStates("b", frozenset({0}))}
    assert joined(one, other) == {
        A: TopicStates("new", frozenset({0, 1, 2})),
        B: TopicStates("b", frozenset({0})),
    }


TOPIC = bytes(15) + b"\1"
MEMBER = ShareMember("m", 4, 3, "r", "c", "/h", frozenset({"b", "a"}), {TOPIC: (0, 2)})


def shown(record: NewRecord) -> tuple[str, object, object]:
    key, value = decode_group_record(record.key, record.value)
    return type(key).__name__, to_json(key, 0), None if value is None else to_json(value, 0)


def test_a_share_group_writes_its_records() -> None:
    topic = uuid_to_text(TOPIC)
    assert shown(r.member_record("g", MEMBER)) == (
        "ShareGroupMemberMetadataKey",
        {"groupId": "g", "memberId": "m"},
        {"rackId": "r", "clientId": "c", "clientHost": "/h", "subscribedTopicNames": ["a", "b"]},
    )
    assert shown(r.current_record("g", MEMBER))[2] == {
        "memberEpoch": 4,
        "previousMemberEpoch": 3,
        "state": 0,
        "assignedPartitions": [{"topicId": topic, "partitions": [0, 2]}],
    }
    assert shown(r.epoch_record("g", 7, -5))[2] == {"epoch": 7, "metadataHash": -5}
    assert shown(r.states_record("g", {}, {TOPIC: TopicStates("t", frozenset({2, 0}))}, {TOPIC: "t"}))[2] == {
        "initializingTopics": [],
        "initializedTopics": [{"topicId": topic, "topicName": "t", "partitions": [0, 2]}],
        "deletingTopics": [{"topicId": topic, "topicName": "t"}],
    }


def test_share_group_writes_tombstones_in_kafkas_order() -> None:
    assert [shown(record)[0] for record in r.RECORDS.member_tombstones("g", "m")] == [
        "ShareGroupCurrentMemberAssignmentKey",
        "ShareGroupTargetAssignmentMemberKey",
        "ShareGroupMemberMetadataKey",
    ]
    assert [shown(record)[0] for record in r.group_tombstones("g", [])] == [
        "ShareGroupTargetAssignmentMetadataKey",
        "ShareGroupStatePartitionMetadataKey",
        "ShareGroupMetadataKey",
    ]


def group_of(*members: ShareMember) -> ShareGroup:
    group = ShareGroup("g")
    for member in members:
        group.put(member)
    return group


def test_the_state_of_a_share_group_follows_its_members() -> None:
    group = group_of()
    assert (group.state_name, group.is_empty, group.is_in_state({"empty"})) == ("Empty", True, True)
    group.put(ShareMember("m"))
    assert (group.state_name, group.is_empty, group.is_in_state({"empty"})) == ("Stable", False, False)
    with pytest.raises(KafkaError, match="NON_EMPTY_GROUP"):
        group.check_delete()


def test_there_are_no_committed_offsets() -> None:
    group = group_of()
    with pytest.raises(KafkaError, match="Group g is not a consumer group"):
        group.check_commit(commit_offsets("g", []))
    group.check_fetch(None, -1)
    assert group.expiry_basis() is None


def test_share_group_counts_the_subscriptions_of_its_members() -> None:
    group = group_of(ShareMember("a", topics=frozenset({"t", "u"})), ShareMember("b", topics=frozenset({"t"})))
    assert group.subscribed == {"t": 2, "u": 1}
    assert group.topics_with(ShareMember("b", topics=frozenset({"v"})), without="b") == {"t": 1, "u": 1, "v": 1}
    assert group.topics_with(None, without="a") == {"t": 1}
    group.put(ShareMember("a", topics=frozenset({"u"})))
    group.remove("b")
    group.remove("b")
    assert group.subscribed == {"u": 1}
    assert group.is_subscribed_to("u")


def test_topics_that_something_is_stored_of() -> None:
    group = group_of()
    group.initialized = {bytes(16): TopicStates("t", frozenset({0}))}
    group.deleting = {bytes(15) + b"\1": "u"}
    assert [group.names(name) for name in ("t", "u", "v")] == [True, True, False]
