"""Principals: text, equality, and that they do not change."""

from __future__ import annotations

import pytest

from odradek.broker.security.principal import ANONYMOUS, Principal


def test_text_and_back() -> None:
    assert str(Principal("User", "alice")) == "User:alice"
    assert Principal.parse("User:CN=a:b,O=x") == Principal("User", "CN=a:b,O=x")
    assert str(ANONYMOUS) == "User:ANONYMOUS"
    assert repr(ANONYMOUS) == "Principal('User', 'ANONYMOUS')"


@pytest.mark.parametrize("text", ["", "alice", "User:", ":alice", ":"])
def test_text_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="principalType:principalName"):
        Principal.parse(text)


def test_how_one_logged_in_makes_no_other_principal() -> None:
    by_token = Principal("User", "alice", token_authenticated=True)
    assert by_token == Principal("User", "alice")
    assert {by_token: 1}[Principal("User", "alice")] == 1
    assert by_token != Principal("Group", "alice")
    assert by_token != "User:alice"


def test_a_principal_does_not_change() -> None:
    principal = Principal("User", "alice")
    with pytest.raises(AttributeError):
        principal.name = "bob"
    with pytest.raises(AttributeError):
        del principal.name
