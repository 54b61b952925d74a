"""The members of a consumer group as values."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.coordinator.group.consumer.group import ClassicMember, Member, MemberMetadata, MemberState

_METADATA = MemberMetadata("i", "r", "c", "/h", ("t",), "t.*", 7, "uniform", ClassicMember(10, (("range", b"m"),)))
_VALUES: dict[str, Any] = {
    "member_id": "m",
    "metadata": _METADATA,
    "epoch": 3,
    "previous_epoch": 2,
    "state": MemberState.UNREVOKED_PARTITIONS,
    "assigned": {b"t": {0: 3}},
    "revoking": {b"u": {1: 2}},
}


def test_each_field_of_a_member_has_a_value_here() -> None:
    member: Any = Member("m")
    fields = {name for name in dir(member) if name[0] != "_" and not callable(getattr(member, name))}
    assert fields == _VALUES.keys()
    assert all(_METADATA)


@pytest.mark.parametrize("field", _VALUES)
def test_members_that_differ_in_one_field_are_not_equal(field: str) -> None:
    other = getattr(Member("another"), field)
    assert Member(**_VALUES) == Member(**_VALUES)
    assert Member(**_VALUES) != Member(**{**_VALUES, field: other})


def test_a_step_changes_neither_identity_nor_metadata() -> None:
    after = Member(**_VALUES).in_epoch(9, MemberState.STABLE, {}, {})
    assert after == Member("m", _METADATA, 9, 3, MemberState.STABLE, {}, {})


def test_other_metadata_changes_nothing_else() -> None:
    after = Member(**_VALUES).with_metadata(MemberMetadata())
    assert after == Member(**{**_VALUES, "metadata": MemberMetadata()})
