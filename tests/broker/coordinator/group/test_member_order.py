"""The kept order of a group's members is at each moment the one that is computed from nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.assignment import member_order
from odradek.broker.coordinator.group.member_order import MemberOrder

NAMES = [
    *(f"member-{number}" for number in range(40)),
    "Aa",
    "BB",
    "AaAa",
    "BBBB",
    "AaBB",
    "BBAa",
]  # equal hashes in Java
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.booleans(), st.integers(0, 2)), max_size=120)


@given(STEPS)
def test_members_come_go_and_are_asked_for(steps: list[tuple[str, bool, int]]) -> None:
    order, present, peak = MemberOrder(), dict.fromkeys(("first",)), 1
    order.add("first")
    for name, stays, asked in steps:
        if stays and name not in present:
            order.add(name)
            present[name] = None
        elif not stays and name in present:
            order.remove(name)
            del present[name]
        peak = max(peak, len(present) + 1)
        if asked == 1:
            assert order.with_change(peak, name, None) == member_order(list(present), peak, (name,))
        if asked == 2:  # another takes the first one's place
            assert order.with_change(peak, name, "first") == member_order(list(present), peak, (name,), ("first",))
