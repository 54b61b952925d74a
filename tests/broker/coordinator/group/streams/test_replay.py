"""What is written is read again; records of other releases are understood."""

from __future__ import annotations

from typing import Any

from odradek.broker.coordinator.group.records import decode_value, encode_key, encode_value
from odradek.broker.coordinator.group.streams import records as r
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import LEAVING, Held, Member, MemberState, Target
from odradek.broker.coordinator.group.streams.replay import apply, changes_topics, deletes_group, key_of
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored import streams_group_current_member_assignment as current
from tests.broker.coordinator.group.streams.driver import COUNTING
from tests.broker.coordinator.group.streams.test_records import MEMBER


def replay(group: StreamsGroup, *records: NewRecord) -> StreamsGroup:
    for record in records:
        record_type = int.from_bytes(record.key[:2], "big")
        apply(group, record_type, key_of(record_type, record.key), NewRecord(record.key, record.value))
    return group


def test_what_is_written_is_read_again() -> None:
    target = Target({"0": frozenset({2})}, {"1": frozenset({0})})
    group = replay(
        StreamsGroup("g"),
        r.member_record("g", MEMBER),
        r.topology_record("g", COUNTING),
        r.epoch_record("g", 7, -5, 0, {"a": "1"}),
        r.target_record("g", "m", target),
        r.target_epoch_record("g", 6, 99),
        r.current_record("g", MEMBER),
    )
    assert group.members == {"m": MEMBER}
    assert group.topology == COUNTING
    assert (group.epoch, group.metadata_hash, group.validated_topology_epoch) == (7, -5, 0)
    assert group.assignment_configs == {"a": "1"}
    assert (group.assignment_epoch, group.assignment_timestamp) == (6, 99)
    assert group.targets == {"m": target}
    assert group.holders.active("1", 2) == group.holders.active("0", 7) == "p"


def test_a_member_that_left() -> None:
    group = replay(StreamsGroup("g"), r.member_record("g", MEMBER), r.current_record("g", MEMBER))
    current_gone, target_gone, member_gone = r.member_tombstones("g", "m")
    replay(group, current_gone)
    assert group.members["m"].epoch == LEAVING
    assert group.holders.active("1", 2) is None
    replay(group, target_gone, member_gone)
    assert group.members == {}


def test_a_group_that_is_gone() -> None:
    group = replay(StreamsGroup("g"), r.topology_record("g", COUNTING))
    target_epoch, epoch, topology = r.group_tombstones("g", [])
    replay(group, target_epoch, topology)
    assert (group.assignment_epoch, group.topology) == (-1, None)
    assert deletes_group(int.from_bytes(epoch.key[:2], "big"), None)
    assert changes_topics(int.from_bytes(topology.key[:2], "big"))


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


def test_a_type_that_this_release_does_not_write() -> None:
    assert key_of(18, encode_key(current.StreamsGroupCurrentMemberAssignmentKey("g", "m"))) is None
