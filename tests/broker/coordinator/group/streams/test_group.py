"""A streams group: its states, and what it permits."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.stored import decode_group_record
from tests.broker.coordinator.group.streams.driver import PLAIN


def group_with(member: Member | None = None) -> StreamsGroup:
    group = StreamsGroup("g")
    if member is not None:
        group.put_member(member)
    return group


def test_states() -> None:
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


def test_tombstones_in_kafkas_order() -> None:
    keys = [
        type(decode_group_record(record.key, record.value)[0]).__name__
        for record in group_with(Member("m")).tombstones()
    ]
    assert keys == [
        "StreamsGroupCurrentMemberAssignmentKey",
        "StreamsGroupTargetAssignmentMemberKey",
        "StreamsGroupTargetAssignmentMetadataKey",
        "StreamsGroupMemberMetadataKey",
        "StreamsGroupMetadataKey",
        "StreamsGroupTopologyKey",
    ]


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
