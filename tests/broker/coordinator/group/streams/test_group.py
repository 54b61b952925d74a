"""What a streams group permits; what is written is read again, and records of other releases are understood."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.epoch_group import LEAVING
from odradek.broker.coordinator.group.groups import CommitOffsets, GroupChanged, Groups, OffsetToCommit
from odradek.broker.coordinator.group.records import decode_key, decode_value, encode_value, record_type_of
from odradek.broker.coordinator.group.streams import group as r
from odradek.broker.coordinator.group.streams.group import (
    NOTHING_HELD,
    REPLAYS,
    Held,
    Holders,
    Member,
    MemberMetadata,
    MemberState,
    Owned,
    StreamsGroup,
    StreamsStep,
    Target,
    in_map_order,
)
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.streams_group_heartbeat import Endpoint
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from odradek.protocol.generated.stored.streams_group_member_metadata import Endpoint as StoredEndpoint
from odradek.protocol.generated.stored.streams_group_member_metadata import KeyValue
from odradek.protocol.json_form import to_json
from odradek.protocol.message import ZERO_UUID
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import COUNTING, PLAIN, heartbeat, in_process
from tests.fakes.group_driver import commit_offsets

HELD = Held({"0": {1: 5}}, {"1": frozenset({2})})


def test_any_of() -> None:
    assert Owned({"0": [1, 9]}, {}, {}).any_of(HELD)
    assert Owned({}, {"1": [2]}, {}).any_of(HELD)
    assert not Owned({"1": [2]}, {"0": [1]}, {"0": [1]}).any_of(HELD)
    assert not Owned({}, {}, {}).any_of(HELD)


def test_empty() -> None:
    assert NOTHING_HELD.is_empty
    assert not HELD.is_empty


def test_subtopologies_as_kafka_walks_them() -> None:
    assert in_map_order(["10", "2", "0", "1"]) == ["0", "1", "2", "10"]


def test_a_state_of_a_later_release_is_unknown() -> None:
    assert MemberState(3) is MemberState.UNRELEASED_TASKS
    assert MemberState(99) is MemberState.UNKNOWN


def shown(record: NewRecord) -> tuple[str, object, object]:
    key, value = decode_group_record(record.key, record.value)
    return type(key).__name__, to_json(key, 0), None if value is None else to_json(value, 0)


MEMBER = Member(
    "m",
    4,
    3,
    MemberState.UNREVOKED_TASKS,
    MemberMetadata(None, None, "", "", 5, 0, "p", StoredEndpoint("h", 9), [KeyValue("a", "1"), KeyValue("b", "2")]),
    assigned=Held({"1": {2: 4, 0: 3}}, {"0": frozenset({3, 1})}),
    revoking=Held({"0": {7: 2}}),
)


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


def test_active_standby_and_what_has_to_be_given_up() -> None:
    member = Member(
        "m", metadata=in_process("p"), assigned=Held({"0": {1: 3}}, {"0": frozenset({2})}), revoking=Held({"0": {5: 3}})
    )
    holders = Holders()
    holders.add(member)
    assert (holders.active("0", 1), holders.active("0", 5), holders.active("0", 2)) == ("p", "p", None)
    assert holders.has_copy("p", "0", 2)
    assert not holders.has_copy("q", "0", 2)
    holders.remove(member)
    assert (holders.active("0", 1), holders.active("0", 5)) == (None, None)
    assert not holders.has_copy("p", "0", 2)


def test_who_was_given_a_task_meanwhile_keeps_it() -> None:
    holders = Holders()
    old, new = (Member(name, metadata=in_process(name), assigned=Held({"0": {1: 3}})) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    assert holders.active("0", 1) == "new"


def test_a_member_of_the_same_process_keeps_what_it_was_given_meanwhile() -> None:
    holders = Holders()
    held = Held({"0": {1: 3}}, {"0": frozenset({2})}, {"0": frozenset({3})})
    old, new = (Member(name, metadata=in_process("p"), assigned=held) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    assert holders.active("0", 1) == "p"
    assert holders.has_copy("p", "0", 2)
    assert holders.has_copy("p", "0", 3)
    holders.remove(new)
    assert holders.active("0", 1) is None
    assert not holders.has_copy("p", "0", 2)
    assert not holders.has_copy("p", "0", 3)


def test_a_task_stays_with_the_next_member_when_the_one_before_is_stored_again() -> None:
    holders = Holders()
    old, new = (Member(name, metadata=in_process(name), assigned=Held({"0": {1: 3}})) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    holders.add(old)
    holders.remove(old)
    assert holders.active("0", 1) == "new"


def test_two_processes_have_copies() -> None:
    holders = Holders()
    members = [
        Member(name, metadata=in_process(name), assigned=Held({}, {}, {"0": frozenset({1})})) for name in ("a", "b")
    ]
    for member in members:
        holders.add(member)
    holders.remove(members[0])
    assert [holders.has_copy(name, "0", 1) for name in ("a", "b")] == [False, True]


@pytest.fixture
def committing() -> StreamsGroup:
    """With a member in epoch 5, which has one task and has to revoke another."""
    group = StreamsGroup("g")
    group.put_member(Member("m", 5, assigned=Held({"0": {0: 3}}), revoking=Held({"0": {1: 4}})))
    group.set_topology(PLAIN)
    return group


def commit(epoch: int, *places: tuple[str, int], member_id: str = "m", version: int = 9) -> CommitOffsets:
    offsets = [OffsetToCommit(topic, ZERO_UUID, partition, 1, -1, "") for topic, partition in places]
    return commit_offsets("g", offsets, member_id=member_id, generation_id=epoch, api_version=version)


def test_offset_commit_of_strangers_and_old_clients_is_refused(committing: StreamsGroup) -> None:
    with pytest.raises(KafkaError, match=r"Member x is not a member of group g\.") as unknown:
        committing.check_commit(commit(5, member_id="x"))
    assert unknown.value.code is ErrorCode.UNKNOWN_MEMBER_ID
    with pytest.raises(KafkaError) as old:
        committing.check_commit(commit(5, version=8))
    assert old.value.code is ErrorCode.UNSUPPORTED_VERSION
    committing.set_topology(None)
    with pytest.raises(KafkaError, match="Topology is not available"):
        committing.check_commit(commit(4, ("t", 0)))


def group_with(member: Member | None = None) -> StreamsGroup:
    group = StreamsGroup("g")
    if member is not None:
        group.put_member(member)
    return group


def test_the_state_of_a_streams_group_follows_its_members() -> None:
    group = group_with()
    assert group.state_name == "Empty"
    group.put_member(Member("m", 3))
    assert group.state_name == "NotReady"
    group.set_topology(PLAIN)
    assert group.state_name == "Stable" if group.members["m"].epoch == 1 else "Reconciling"
    group.set_epoch(3, 0, -1, {})
    assert group.state_name == "NotReady"
    group.set_epoch(3, 0, 0, {})
    assert group.state_name == "Assigning"
    group.set_assignment(3, 7)
    assert group.state_name == "Stable"
    group.put_member(Member("n", 2))
    assert group.state_name == "Reconciling"


def test_the_filter_of_a_group_that_is_not_ready() -> None:
    group = group_with(Member("m"))
    assert group.is_in_state({"not_ready"})
    assert not group.is_in_state({"notready"})
    assert group_with().is_in_state({"empty"})


def test_subscriptions_last_as_long_as_members() -> None:
    group = group_with(Member("m"))
    assert not group.is_subscribed_to("t")
    group.set_topology(PLAIN)
    assert group.is_subscribed_to("t")
    assert not group.is_subscribed_to("u")
    group.remove_member("m")
    assert not group.is_subscribed_to("t")


def test_only_an_empty_group_is_deleted() -> None:
    group_with().check_delete()
    with pytest.raises(KafkaError) as error:
        group_with(Member("m")).check_delete()
    assert error.value.code is ErrorCode.NON_EMPTY_GROUP


def test_the_last_member_takes_the_wish_to_end_with_it() -> None:
    group = group_with(Member("m"))
    group.put_member(Member("n"))
    group.soft.shutdown_by = "m"
    group.remove_member("m")
    assert group.soft.shutdown_by == "m"
    group.remove_member("n")
    assert group.soft.shutdown_by is None


def test_members_in_the_order_in_which_kafka_describes_them() -> None:
    """These ids joined in this order on a real Kafka 4.3.1, which told them as 3, 1, 0, 5, 4, 2."""
    ids = [
        "3501e088d6a34d3e",
        "fb368220216d27a2",
        "90656c8fbb4e5c11",
        "21fdac3af325ffbe",
        "e580c35ea161d909",
        "69f0441ec9bafe62",
    ]
    group = StreamsGroup("g")
    for member_id in ids:
        group.put_member(Member(member_id))
    assert [ids.index(member.member_id) for member in group.in_map_order()] == [3, 1, 0, 5, 4, 2]


def wait(group: StreamsGroup) -> None:
    group.soft.waits_for_first = True


def test_without_records_nothing_is_said_to_have_changed() -> None:
    step = StreamsStep(StreamsGroup("g"), 5)
    outcome = step.outcome("reply", Groups())
    assert (outcome.records, outcome.reply, outcome.effects, outcome.then) == ([], "reply", [], None)


def test_soft_state_changes_on_the_group_that_then_lives() -> None:
    groups = Groups()
    step = StreamsStep(StreamsGroup("g"), 5)
    step.records.append(NewRecord(b"k"))
    step.later.append(wait)
    outcome = step.outcome(None, groups)
    assert [type(effect) for effect in outcome.effects] == [GroupChanged]
    assert outcome.then is not None
    assert outcome.then() == ()
    live = StreamsGroup("g")
    groups.put(live)
    outcome.then()
    assert live.soft.waits_for_first
    assert not step.group.soft.waits_for_first


def test_where_a_member_is_and_which_endpoints_it_knows_is_no_news() -> None:
    assert heartbeat("g", "m", 3, client_id="c", host="/h", endpoint_epoch=4).says_nothing


@pytest.mark.parametrize(
    "news",
    [
        {"owned": Owned({}, {}, {})},
        {"topology": PLAIN},
        {"endpoint": Endpoint("h", 1)},
        {"client_tags": []},
        {"process_id": "p"},
        {"rack_id": "r"},
        {"rebalance_timeout_ms": 1},
        {"shutdown": True},
    ],
)
def test_streams_heartbeat_with_any_other_field_says_something(news: dict[str, Any]) -> None:
    assert not heartbeat("g", "m", 3, **news).says_nothing


def replay(group: StreamsGroup, *records: NewRecord) -> StreamsGroup:
    for record in records:
        key_class, value_class, change = REPLAYS[record_type_of(record.key)]
        value = None if record.value is None else decode_value(value_class, record.value)
        change(group, decode_key(key_class, record.key), value)
    return group


def test_what_is_written_is_read_again() -> None:
    target = Target({"0": frozenset({2})}, {"1": frozenset({0})})
    group = replay(
        StreamsGroup("g"),
        r.member_record("g", MEMBER),
        r.topology_record("g", COUNTING),
        r.epoch_record("g", 7, -5, 0, {"a": "1"}),
        r.target_record("g", "m", target),
        r.RECORDS.target_epoch("g", 6, 99),
        r.current_record("g", MEMBER),
    )
    assert group.members == {"m": MEMBER}
    assert group.topology == COUNTING
    assert (group.epoch, group.metadata_hash, group.validated_topology_epoch) == (7, -5, 0)
    assert group.assignment_configs == {"a": "1"}
    assert (group.assignment_epoch, group.assignment_timestamp) == (6, 99)
    assert group.targets == {"m": target}
    assert group.holders.active("1", 2) == group.holders.active("0", 7) == "p"


def test_streams_group_replays_a_member_that_left() -> None:
    group = replay(StreamsGroup("g"), r.member_record("g", MEMBER), r.current_record("g", MEMBER))
    current_gone, target_gone, member_gone = r.RECORDS.member_tombstones("g", "m")
    replay(group, current_gone)
    assert group.members["m"].epoch == LEAVING
    assert group.holders.active("1", 2) is None
    replay(group, target_gone, member_gone)
    assert group.members == {}


def test_a_group_that_is_gone() -> None:
    group = replay(StreamsGroup("g"), r.topology_record("g", COUNTING))
    target_epoch, _, topology = r.group_tombstones("g", [])
    replay(group, target_epoch, topology)
    assert (group.assignment_epoch, group.topology) == (-1, None)


def test_records_in_the_order_of_a_compacted_log() -> None:
    group = replay(StreamsGroup("g"), r.current_record("g", MEMBER), r.member_record("g", MEMBER))
    assert group.members == {"m": MEMBER}
    assert group.holders.active("1", 2) == "p"


def test_tasks_without_epochs_have_the_members_own() -> None:
    record = r.current_record("g", Member("m", 8, 7, assigned=Held({"0": {1: 5}})))
    assert record.value is not None
    stored: Any = decode_value(current.StreamsGroupCurrentMemberAssignmentValue, record.value)
    stored.active_tasks[0].assignment_epochs = None
    stored.state = 55
    group = replay(StreamsGroup("g"), NewRecord(record.key, encode_value(stored)))
    member = group.members["m"]
    assert member.assigned.active == {"0": {1: 8}}
    assert member.state is MemberState.UNKNOWN


def test_a_type_that_this_release_does_not_write_is_read_past() -> None:
    assert 18 not in REPLAYS
