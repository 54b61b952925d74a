"""The records of streams groups, as the generated classes read them."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams import records as r
from odradek.broker.coordinator.group.streams.member import Endpoint, Held, Member, MemberState, Target
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import COUNTING


def shown(record: NewRecord) -> tuple[str, object, object]:
    key, value = decode_group_record(record.key, record.value)
    return type(key).__name__, to_json(key, 0), None if value is None else to_json(value, 0)


MEMBER = Member(
    "m",
    4,
    3,
    MemberState.UNREVOKED_TASKS,
    endpoint=Endpoint("h", 9),
    client_tags=(("a", "1"), ("b", "2")),
    process_id="p",
    rebalance_timeout_ms=5,
    topology_epoch=0,
    assigned=Held({"1": {2: 4, 0: 3}}, {"0": frozenset({3, 1})}),
    revoking=Held({"0": {7: 2}}),
)


def test_a_members_own_words() -> None:
    assert shown(r.member_record("g", MEMBER)) == (
        "StreamsGroupMemberMetadataKey",
        {"groupId": "g", "memberId": "m"},
        {
            "instanceId": None,
            "rackId": None,
            "clientId": "",
            "clientHost": "",
            "rebalanceTimeoutMs": 5,
            "topologyEpoch": 0,
            "processId": "p",
            "userEndpoint": {"host": "h", "port": 9},
            "clientTags": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
        },
    )


def test_what_a_member_has() -> None:
    key, _, value = shown(r.current_record("g", MEMBER))
    assert key == "StreamsGroupCurrentMemberAssignmentKey"
    assert isinstance(value, dict)
    assert (value["memberEpoch"], value["previousMemberEpoch"], value["state"]) == (4, 3, 2)
    assert value["activeTasks"] == [{"subtopologyId": "1", "partitions": [0, 2], "assignmentEpochs": [3, 4]}]
    assert [row["partitions"] for row in value["standbyTasks"]] == [[1, 3]]
    assert value["activeTasksPendingRevocation"][0]["assignmentEpochs"] == [2]


def test_the_group_and_its_targets() -> None:
    assert shown(r.epoch_record("g", 7, -5, 0, {"b": "2", "a": "1"}))[2] == {
        "epoch": 7,
        "metadataHash": -5,
        "validatedTopologyEpoch": 0,
        "lastAssignmentConfigs": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
    }
    target = Target({"1": frozenset({1, 0}), "0": frozenset({2})})
    assert shown(r.target_record("g", "m", target))[2] == {
        "activeTasks": [{"subtopologyId": "0", "partitions": [2]}, {"subtopologyId": "1", "partitions": [0, 1]}],
        "standbyTasks": [],
        "warmupTasks": [],
    }


def test_the_topology() -> None:
    _, key, value = shown(r.topology_record("g", COUNTING))
    assert key == {"groupId": "g"}
    assert isinstance(value, dict)
    assert value["subtopologies"][0]["stateChangelogTopics"] == [
        {"name": "counts-changelog", "partitions": 0, "replicationFactor": 0, "topicConfigs": []}
    ]


def test_tombstones_of_a_member() -> None:
    assert [(shown(record)[0], shown(record)[2]) for record in r.member_tombstones("g", "m")] == [
        ("StreamsGroupCurrentMemberAssignmentKey", None),
        ("StreamsGroupTargetAssignmentMemberKey", None),
        ("StreamsGroupMemberMetadataKey", None),
    ]
