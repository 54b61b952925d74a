"""Addresses of clients as Java's `InetAddress.getHostAddress` prints them."""

from __future__ import annotations

import pytest

from odradek.broker.security.addresses import host_of, resolved


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
