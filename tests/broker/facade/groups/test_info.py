"""What follows from what is known of a group."""

from __future__ import annotations

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo


def member(member_id: str, **assignment: tuple[int, ...]) -> MemberInfo:
    return MemberInfo(member_id, None, "c", "/h", tuple(assignment), assignment, 1, 1)


def test_group_info_tells_owners_and_lag() -> None:
    members = (member("a", t=(0, 1), u=(0,)), member("b", t=(1,)))
    offsets = {("t", 0): OffsetInfo(1, 0, "", 0, 3), ("t", 1): OffsetInfo(1, 0, "", 0, None)}
    info = GroupInfo("g", "Stable", 1, "consumer", "range", "a", members, offsets, 1)
    assert list(info.assignments.items()) == [(("t", 0), ["a"]), (("t", 1), ["a", "b"]), (("u", 0), ["a"])]
    assert info.lag == 3
