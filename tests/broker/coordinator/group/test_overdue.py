from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.consumer.commands import ExpireRevocation, FenceMember
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.broker.coordinator.group.overdue import Overdue
from odradek.broker.runtime.machine import Outcome, make_outcome

NOW_MS = 1_000


class Out(Overdue[ConsumerGroup]):
    def __init__(self, *groups: ConsumerGroup) -> None:
        super().__init__({group.group_id: group for group in groups}.get)
        self.gone: list[str] = []

    def _put_out(self, group: ConsumerGroup, member: Member, now_ms: int) -> Outcome[None]:
        self.gone.append(f"{group.group_id} {member.member_id} {now_ms}")
        return make_outcome()


@pytest.fixture
def out() -> Out:
    group = ConsumerGroup("g")
    group.put_member(Member("m", epoch=3))
    return Out(group)


def test_a_silent_member_is_put_out(out: Out) -> None:
    out.fence(FenceMember("g", "m"), NOW_MS)
    assert out.gone == ["g m 1000"]


def test_a_member_that_gives_nothing_up_is_put_out_while_it_is_in_that_epoch(out: Out) -> None:
    out.expire_revocation(ExpireRevocation("g", "m", 2), NOW_MS)
    assert out.gone == []
    out.expire_revocation(ExpireRevocation("g", "m", 3), NOW_MS)
    assert out.gone == ["g m 1000"]


@pytest.mark.parametrize(("group_id", "member_id"), [("other", "m"), ("g", "other")])
def test_who_is_not_there_is_not_put_out(out: Out, group_id: str, member_id: str) -> None:
    for outcome in (
        out.fence(FenceMember(group_id, member_id), NOW_MS),
        out.expire_revocation(ExpireRevocation(group_id, member_id, 3), NOW_MS),
    ):
        assert (outcome.records, outcome.effects) == ((), ())
    assert out.gone == []
