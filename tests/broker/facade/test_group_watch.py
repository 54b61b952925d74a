"""When a group counts as stable, and what a wait in vain says."""

from __future__ import annotations

from dataclasses import replace

from odradek.broker.facade.group_info import GroupInfo, MemberInfo
from odradek.broker.facade.group_watch import is_stable, late

MEMBER = MemberInfo("m", None, "c", "/127.0.0.1", ("t",), {"t": (0,)}, 1, 1)
STABLE = GroupInfo("g", "Stable", 1, "consumer", "range", "m", (MEMBER,), {}, 1)


def test_all_partitions_are_to_be_assigned_unless_a_number_is_asked_for() -> None:
    half = replace(STABLE, unassigned=(("t", 1),))
    assert is_stable(1, None)(STABLE)
    assert is_stable(None, None)(STABLE)
    assert not is_stable(2, None)(STABLE)
    assert not is_stable(1, None)(half)
    assert is_stable(1, 1)(half)
    assert not is_stable(1, 2)(STABLE)
    assert not is_stable(None, None)(replace(STABLE, state="PreparingRebalance"))


def test_a_wait_in_vain_says_how_the_group_stands() -> None:
    text = str(late(replace(STABLE, unassigned=(("t", 1),)), 1.5))
    assert text == "group 'g' after 1.5 s: Stable, generation 1, members: m, assigned: t-0, missing: t-1"
