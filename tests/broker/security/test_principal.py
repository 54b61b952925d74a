"""Principals: text, equality, and that they do not change. Addresses as Java prints them."""

from __future__ import annotations

import pytest

from odradek.broker.security.principal import ANONYMOUS, Principal, host_of, resolved


def test_principal_is_written_and_read_as_text() -> None:
    assert str(Principal("User", "alice")) == "User:alice"
    assert Principal.parse("User:CN=a:b,O=x") == Principal("User", "CN=a:b,O=x")
    assert str(ANONYMOUS) == "User:ANONYMOUS"
    assert repr(ANONYMOUS) == "Principal('User', 'ANONYMOUS')"


@pytest.mark.parametrize("text", ["", "alice", "User:", ":alice", ":"])
def test_principal_text_that_is_malformed_is_refused(text: str) -> None:
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


# -- addresses


@pytest.mark.parametrize(
    ("address", "host"),
    [
        (("127.0.0.1", 9), "127.0.0.1"),
        (("::1", 9, 0, 0), "0:0:0:0:0:0:0:1"),
        (("::", 9, 0, 0), "0:0:0:0:0:0:0:0"),
        (("::ffff:10.0.0.7", 9, 0, 0), "10.0.0.7"),
        (("::FFFF:A00:7", 9, 0, 0), "10.0.0.7"),
        (("::10.0.0.7", 9, 0, 0), "0:0:0:0:0:0:a00:7"),
        (("2001:db8::a:0:1", 9, 0, 0), "2001:db8:0:0:0:a:0:1"),
        (("fe80::1%eth0", 9, 0, 2), "fe80:0:0:0:0:0:0:1%2"),
    ],
)
def test_one_form_for_each_address(address: tuple[object, ...], host: str) -> None:
    assert host_of(address) == host


def test_a_name_stands_for_an_address() -> None:
    assert resolved("127.1") == resolved("::ffff:127.0.0.1") == "127.0.0.1"
    assert resolved("0::1") == "0:0:0:0:0:0:0:1"


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a" * 70 + ".com", "..", "a\0b", "\u202e", "%"])
def test_a_text_that_is_no_name_stands_for_none(name: str) -> None:
    with pytest.raises(OSError):
        resolved(name)
