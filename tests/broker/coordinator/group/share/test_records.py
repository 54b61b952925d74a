"""The records of share groups, as the generated classes read them."""

from __future__ import annotations

from odradek.broker.coordinator.group.share import records as r
from odradek.broker.coordinator.group.share.members import ShareMember, TopicStates
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.stored import decode_group_record
from odradek.protocol.uuids import uuid_to_text

TOPIC = bytes(15) + b"\1"
MEMBER = ShareMember("m", 4, 3, "r", "c", "/h", frozenset({"b", "a"}), {TOPIC: (0, 2)})


def shown(record: NewRecord) -> tuple[str, object, object]:
    key, value = decode_group_record(record.key, record.value)
    return type(key).__name__, to_json(key, 0), None if value is None else to_json(value, 0)


def test_what_is_written() -> None:
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


def test_tombstones_in_kafkas_order() -> None:
    assert [shown(record)[0] for record in r.member_tombstones("g", "m")] == [
        "ShareGroupCurrentMemberAssignmentKey",
        "ShareGroupTargetAssignmentMemberKey",
        "ShareGroupMemberMetadataKey",
    ]
    assert [shown(record)[0] for record in r.group_tombstones("g", [])] == [
        "ShareGroupTargetAssignmentMetadataKey",
        "ShareGroupStatePartitionMetadataKey",
        "ShareGroupMetadataKey",
    ]
