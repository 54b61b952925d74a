"""The members of a classic group, without the group."""

from __future__ import annotations

from struct import pack

import pytest

from odradek.broker.coordinator.group.classic.commands import Protocols
from odradek.broker.coordinator.group.classic.member import Member
from odradek.broker.coordinator.group.classic.roster import Roster
from odradek.protocol.errors import ErrorCode, KafkaError

RANGE, STICKY, RR = ("range", b""), ("sticky", b""), ("rr", b"")


def member(member_id: str, *protocols: tuple[str, bytes], instance_id: str | None = None) -> Member:
    return Member("g", member_id, instance_id, "client", "/host", 60_000, 10_000, protocols or (RANGE,))


def roster(*members: Member) -> Roster:
    made = Roster("g")
    for each in members:
        made.add(each)
    return made


def test_the_first_member_leads_and_the_next_one_follows_it() -> None:
    group = roster(member("a"), member("b"), member("c"))
    assert group.leader == "a"
    group.remove("a")
    assert group.leader == "b"
    group.remove("b")
    group.remove("c")
    assert group.leader is None


def test_what_all_members_offer_is_shared() -> None:
    group = roster(member("a", RANGE, STICKY), member("b", STICKY, RR))
    assert group.shares_any((RANGE, STICKY))
    assert not group.shares_any((RANGE, RR))
    group.update(group.members["b"], (RANGE, RR), 10_000, 60_000)
    assert group.shares_any((RANGE,))
    assert not group.shares_any((STICKY,))
    group.remove("a")
    assert group.shares_any((RR,))


def test_among_shared_protocols_the_preferred_one_wins() -> None:
    group = roster(member("a", RR, STICKY), member("b", RR, STICKY), member("c", STICKY, RR, RANGE))
    assert group.select_protocol() == "rr"
    only_sticky: Protocols = (STICKY,)
    assert group.select_protocol(group.members["a"], only_sticky) == "sticky"


def test_all_have_joined_when_nobody_is_missing() -> None:
    group = roster(member("a"), member("b"))
    group.pending_join["c"] = None
    for ticket, member_id in enumerate(("a", "b")):
        assert group.await_join(group.members[member_id], ticket) is None
    assert not group.all_joined, "an id was given out, and its client has not come back"
    group.remove("c")
    assert group.all_joined
    assert group.await_join(group.members["a"], 7) == 0
    assert group.stop_awaiting_join(group.members["a"]) == 7
    assert not group.all_joined


def test_the_leader_is_one_of_those_who_have_joined() -> None:
    group = roster(member("a"), member("b"))
    assert not group.elect_joined_leader()
    group.await_join(group.members["b"], 1)
    assert group.elect_joined_leader()
    assert group.leader == "b"


def test_a_static_member_takes_its_old_place() -> None:
    group = roster(member("a", instance_id="i"), member("b"))
    group.pending_sync = {"a", "b"}
    group.replace_static(group.members["a"], "new")
    assert list(group.members) == ["new", "b"]
    assert group.leader == "new"
    assert group.pending_sync == {"new", "b"}
    assert group.validate_member("new", "i") is group.members["new"]


@pytest.mark.parametrize(
    ("member_id", "instance_id", "code"),
    [
        ("nobody", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("a", "unknown", ErrorCode.UNKNOWN_MEMBER_ID),
        ("b", "i", ErrorCode.FENCED_INSTANCE_ID),
    ],
)
def test_who_does_not_belong_is_refused(member_id: str, instance_id: str | None, code: ErrorCode) -> None:
    group = roster(member("a", instance_id="i"), member("b"))
    with pytest.raises(KafkaError) as refused:
        group.validate_member(member_id, instance_id)
    assert refused.value.code == code


def test_topics_are_known_while_all_subscriptions_are_readable() -> None:
    subscription = pack(">hih1si", 0, 1, 1, b"t", -1)
    group = roster(member("a", ("range", subscription)))
    assert group.find_topics("range") == frozenset({"t"})
    assert group.find_topics(None) is None
    group.add(member("b", ("range", subscription[:4])))
    assert group.find_topics("range") is None
    assert Roster("g").find_topics(None) == frozenset()
