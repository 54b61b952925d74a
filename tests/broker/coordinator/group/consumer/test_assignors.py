"""The assignors give each member exactly the partitions that Kafka's own assignors gave it in the recorded stories.

The short way of the assignor `uniform` gives what the walk over all members gives.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, Partitions, TargetAssignment
from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS, assign_evenly
from tests.broker.coordinator.group.story_group import PARTS, check_story, tell


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_assignors_of_consumer_groups_assign_as_recorded(part: int) -> None:
    tell("assignments", part, as_kafkas)


def as_kafkas(release: str, row: Any) -> None:
    assign = ASSIGNORS[row["story"]["assignor"]]
    check_story(release, row, lambda spec, _: assign(spec))


T, U = bytes(16), bytes(15) + b"\1"


def assigned(order: list[str], counts: dict[bytes, int], present: TargetAssignment) -> dict[str, Partitions]:
    members = {member_id: MemberSpec(None, list(counts), len(counts)) for member_id in order}
    newcomer = next((member_id for member_id in order if member_id not in present.sizes), None)
    return assign_evenly(GroupSpec(members, True, counts, present, newcomer))


def assigned_by_a_walk(order: list[str], counts: dict[bytes, int], present: TargetAssignment) -> dict[str, Partitions]:
    """The same where the target does not tell how many members have so many partitions: all of them are looked at."""
    by_size, present.members_by_size = present.members_by_size, {}
    try:
        return assigned(order, counts, present)
    finally:
        present.members_by_size = by_size


@given(
    st.lists(st.permutations("abcdefghij"), min_size=1, max_size=8),
    st.lists(st.integers(1, 10), min_size=8, max_size=8),
    st.integers(0, 25),
    st.none() | st.integers(1, 9),
)
def test_assignors_give_each_partition_once_whoever_comes_and_goes(
    orders: list[list[str]], sizes: list[int], of_t: int, of_u: int | None
) -> None:
    counts = {T: of_t} if of_u is None else {T: of_t, U: of_u}
    usual = TargetAssignment()
    for order, size in zip(orders, sizes, strict=False):
        members = order[:size]
        for gone in [member_id for member_id in usual.by_member if member_id not in members]:
            usual.remove(gone)
        found = assigned(members, counts, usual)
        assert list(found.items()) == list(assigned_by_a_walk(members, counts, usual).items())
        for member_id, partitions in found.items():
            usual.set(member_id, partitions)
        given_out = [(topic, index) for part in usual.by_member.values() for topic in part for index in part[topic]]
        assert sorted(given_out) == [(topic, index) for topic in counts for index in range(counts[topic])]


def test_a_target_of_nobody_is_not_counted() -> None:
    target = TargetAssignment()
    target.set("a", {T: (0, 1)})
    target.set("nobody", {T: (2,)})
    assert assigned(["a", "b"], {T: 3}, target) == assigned_by_a_walk(["a", "b"], {T: 3}, target)
