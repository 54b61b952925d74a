"""Why a group reads nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo, OffsetInfo
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.why import reasons, why_text
from odradek.broker.facade.topics import TopicInfo

MEMBER = MemberInfo("c-1", None, "c", "/127.0.0.1", ("orders",), {"orders": (0,)}, 0, 0)
COMMITTED = {("orders", 0): OffsetInfo(3, 0, "", 0, 0)}
DONE = GroupInfo("g", "Stable", 1, "consumer", "range", None, (MEMBER,), COMMITTED, 1, "classic")


@pytest.mark.parametrize(
    ("group", "text"),
    [
        (DONE, "group 'g' has committed all that there is: there is nothing more to read"),
        (replace(DONE, members=(), state="Empty"), "group 'g' has no members (Empty): nobody reads for it"),
        (replace(DONE, state="PreparingRebalance"), "its members get no records until it is Stable"),
        (replace(DONE, unassigned=(("orders", 1),)), "nobody has orders-1, of the topics that it subscribes to"),
        (replace(DONE, offsets={}), "group 'g' has never committed"),
        (replace(DONE, members=(MEMBER, replace(MEMBER, assignment={}))), "1 of its 2 members have no partition"),
    ],
)
def test_its_own_state_tells(group: GroupInfo, text: str) -> None:
    assert any(text in reason for reason in reasons(group))
    assert text in why_text(Situation(topics={}, groups={"g": group}), "g")


def test_nothing_unusual() -> None:
    behind = replace(DONE, offsets={("orders", 0): OffsetInfo(1, 0, "", 0, 2)})
    topics = {"orders": TopicInfo("orders", "id", False, ())}
    text = why_text(Situation(topics=topics, groups={"g": behind}), "g")
    assert text.startswith("- nothing unusual is known of it\ngroups:\n  g: Stable")


def test_a_group_that_does_not_exist() -> None:
    text = why_text(Situation(topics={}, groups={"shipping": DONE}), "shiping")
    assert text == "group 'shiping' does not exist (did you mean 'shipping'?); the groups: shipping"
    assert why_text(Situation(topics={}, groups={}), "g").endswith("the groups: there is none")


def test_what_is_known_of_other_groups_is_left_out() -> None:
    wrong = replace(MEMBER, subscription=("missing",))
    groups = {"g": DONE, "h": replace(DONE, group_id="h", members=(wrong,))}
    situation = Situation(topics={}, groups=groups)
    assert "missing" not in why_text(situation, "g")
    assert "group 'h' subscribes to 'missing', which does not exist" in why_text(situation, "h")
