"""Members as values."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.member import Member, MemberState


def test_a_state_of_a_later_release_is_unknown() -> None:
    assert MemberState(3) is MemberState.UNRELEASED_TASKS
    assert MemberState(99) is MemberState.UNKNOWN


def test_reconciled() -> None:
    assert Member("m", 4).is_reconciled_to(4)
    assert not Member("m", 4).is_reconciled_to(5)
    assert not Member("m", 4, state=MemberState.UNREVOKED_TASKS).is_reconciled_to(4)
