"""The endpoints of members, and the records of streams groups as the generated classes read them."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams import records as r
from odradek.broker.coordinator.group.streams.records import (
    NO_METADATA,
    NOTHING_HELD,
    Held,
    Member,
    MemberMetadata,
    MemberState,
    Owned,
    Target,
    endpoints,
    in_map_order,
)
from odradek.broker.coordinator.group.streams.topology import Topology, configure
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.stored.streams_group_member_metadata import Endpoint, KeyValue
from odradek.protocol.generated.stored.streams_group_topology import Subtopology
from odradek.protocol.json_form import to_json
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, Topics

HELD = Held({"0": {1: 5}}, {"1": frozenset({2})})


def test_any_of() -> None:
    assert Owned({"0": [1, 9]}, {}, {}).any_of(HELD)
    assert Owned({}, {"1": [2]}, {}).any_of(HELD)
    assert not Owned({"1": [2]}, {"0": [1]}, {"0": [1]}).any_of(HELD)
    assert not Owned({}, {}, {}).any_of(HELD)


def test_all_in() -> None:
    assert Owned({"0": [1]}, {"1": [2]}, {}).all_in(HELD)
    assert Owned({}, {}, {}).all_in(HELD)
    assert not Owned({"0": [1, 2]}, {}, {}).all_in(HELD)
    assert not Owned({}, {"0": [1]}, {}).all_in(HELD)


def test_empty() -> None:
    assert NOTHING_HELD.is_empty
    assert not HELD.is_empty


def test_subtopologies_as_kafka_walks_them() -> None:
    assert in_map_order(["10", "2", "0", "1"]) == ["0", "1", "2", "10"]


def test_a_state_of_a_later_release_is_unknown() -> None:
    assert MemberState(3) is MemberState.UNRELEASED_TASKS
    assert MemberState(99) is MemberState.UNKNOWN


def test_reconciled() -> None:
    assert Member("m", 4).is_reconciled_to(4)
    assert not Member("m", 4).is_reconciled_to(5)
    assert not Member("m", 4, state=MemberState.UNREVOKED_TASKS).is_reconciled_to(4)


WIDE = Topology(0, {"0": Subtopology("0", ["t", "u"])})


def test_source_partitions_of_active_and_standby_tasks() -> None:
    topics = Topics(t=3, u=1)
    configured = configure(WIDE, topics)
    member = Member(
        "m",
        metadata=NO_METADATA.replace(user_endpoint=Endpoint("h", 1)),
        assigned=Held({"0": {0: 1, 2: 1}}, {"0": frozenset({1})}),
    )
    (told,) = endpoints([member, Member("n")], configured, topics)
    assert (told.user_endpoint.host, told.user_endpoint.port) == ("h", 1)
    roles = (told.active_partitions, told.standby_partitions)
    active, standby = (sorted((row.topic, row.partitions) for row in rows) for rows in roles)
    assert active == [("t", [0, 2]), ("u", [0])]
    assert standby == [("t", [1]), ("u", [1])]  # as Kafka: cut only where tasks outnumber partitions


def test_topics_that_do_not_allow_to_say() -> None:
    member = Member("m", metadata=NO_METADATA.replace(user_endpoint=Endpoint("h", 1)), assigned=Held({"0": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(u=1)), Topics(u=1))
    with pytest.raises(KafkaError):
        endpoints([member], configure(PLAIN, Topics(t=1)), Topics(u=1))
    strange = member._replace(assigned=Held({"9": {0: 1}}))
    with pytest.raises(KafkaError):
        endpoints([strange], configure(PLAIN, Topics(t=1)), Topics(t=1))


def shown(record: NewRecord) -> tuple[str, object, object]:
    key, value = decode_group_record(record.key, record.value)
    return type(key).__name__, to_json(key, 0), None if value is None else to_json(value, 0)


MEMBER = Member(
    "m",
    4,
    3,
    MemberState.UNREVOKED_TASKS,
    MemberMetadata(None, None, "", "", 5, 0, "p", Endpoint("h", 9), [KeyValue("a", "1"), KeyValue("b", "2")]),
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
    assert [(shown(record)[0], shown(record)[2]) for record in r.RECORDS.member_tombstones("g", "m")] == [
        ("StreamsGroupCurrentMemberAssignmentKey", None),
        ("StreamsGroupTargetAssignmentMemberKey", None),
        ("StreamsGroupMemberMetadataKey", None),
    ]
