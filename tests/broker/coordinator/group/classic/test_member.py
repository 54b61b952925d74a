"""A member of a classic group on its own."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.group.classic.member import Member, session_key
from odradek.broker.coordinator.group.classic.records import StoredMember


def member() -> Member:
    return Member("g", "m", "i", "c", "/h", 20, 10, (("range", b"r"), ("rr", b"q")), b"a")


def test_a_member_is_stored_with_the_metadata_of_the_groups_protocol() -> None:
    assert member().to_stored("rr") == StoredMember("m", "i", "c", "/h", 20, 10, b"q", b"a")
    assert member().to_stored(None).subscription == b""


def test_a_stored_member_comes_back_with_that_protocol_alone() -> None:
    again = Member.from_stored("g", "rr", member().to_stored("rr"))
    assert again.protocols == (("rr", b"q"),)
    assert again.to_stored("rr") == member().to_stored("rr")
    assert again.session_key == session_key("g", "m")


def test_a_renamed_member_waits_for_nothing() -> None:
    old = member()
    old.join_ticket = 4
    new = old.renamed("g", "n")
    assert (new.member_id, new.join_ticket, new.session_key) == ("n", None, session_key("g", "n"))
    assert new.to_stored("range") == old.to_stored("range")._replace(member_id="n")


def test_metadata_of_a_protocol_it_does_not_have() -> None:
    with pytest.raises(KeyError):
        member().metadata("sticky")


@pytest.mark.parametrize(("is_new", "ticket", "keeps"), [(False, 1, True), (False, None, False), (True, 1, False)])
def test_who_waits_for_the_others_need_not_send_heartbeats(is_new: bool, ticket: int | None, keeps: bool) -> None:
    waiting = member()
    waiting.is_new = is_new
    waiting.sync_ticket = ticket
    assert waiting.keeps_session is keeps
