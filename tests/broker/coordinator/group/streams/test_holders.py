"""Which process has which task."""

from __future__ import annotations

from odradek.broker.coordinator.group.streams.holders import Holders
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.tasks import Held


def test_active_standby_and_what_has_to_be_given_up() -> None:
    member = Member(
        "m", process_id="p", assigned=Held({"0": {1: 3}}, {"0": frozenset({2})}), revoking=Held({"0": {5: 3}})
    )
    holders = Holders()
    holders.add(member)
    assert (holders.active("0", 1), holders.active("0", 5), holders.active("0", 2)) == ("p", "p", None)
    assert holders.has_copy("p", "0", 2)
    assert not holders.has_copy("q", "0", 2)
    holders.remove(member)
    assert (holders.active("0", 1), holders.active("0", 5)) == (None, None)
    assert not holders.has_copy("p", "0", 2)


def test_who_was_given_a_task_meanwhile_keeps_it() -> None:
    holders = Holders()
    old, new = (Member(name, process_id=name, assigned=Held({"0": {1: 3}})) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    assert holders.active("0", 1) == "new"


def test_a_member_of_the_same_process_keeps_what_it_was_given_meanwhile() -> None:
    holders = Holders()
    held = Held({"0": {1: 3}}, {"0": frozenset({2})}, {"0": frozenset({3})})
    old, new = (Member(name, process_id="p", assigned=held) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    assert holders.active("0", 1) == "p"
    assert holders.has_copy("p", "0", 2)
    assert holders.has_copy("p", "0", 3)
    holders.remove(new)
    assert holders.active("0", 1) is None
    assert not holders.has_copy("p", "0", 2)
    assert not holders.has_copy("p", "0", 3)


def test_a_task_stays_with_the_next_member_when_the_one_before_is_stored_again() -> None:
    holders = Holders()
    old, new = (Member(name, process_id=name, assigned=Held({"0": {1: 3}})) for name in ("old", "new"))
    holders.add(old)
    holders.add(new)
    holders.remove(old)
    holders.add(old)
    holders.remove(old)
    assert holders.active("0", 1) == "new"


def test_two_processes_have_copies() -> None:
    holders = Holders()
    members = [Member(name, process_id=name, assigned=Held({}, {}, {"0": frozenset({1})})) for name in ("a", "b")]
    for member in members:
        holders.add(member)
    holders.remove(members[0])
    assert [holders.has_copy(name, "0", 1) for name in ("a", "b")] == [False, True]
