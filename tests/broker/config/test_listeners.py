"""Listeners as text."""

from __future__ import annotations

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import Listener, SecurityProtocol, address_text, parse_listener

_PROTOCOLS = {"PLAINTEXT": SecurityProtocol.PLAINTEXT, "OUTSIDE": SecurityProtocol.SASL_SSL}


def test_protocols() -> None:
    assert [(str(p), p.number, p.tls, p.sasl) for p in SecurityProtocol] == [
        ("PLAINTEXT", 0, False, False),
        ("SSL", 1, True, False),
        ("SASL_PLAINTEXT", 2, False, True),
        ("SASL_SSL", 3, True, True),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLAINTEXT://:9092", Listener("PLAINTEXT", SecurityProtocol.PLAINTEXT, "", 9092)),
        ("outside://kafka.test:0", Listener("OUTSIDE", SecurityProtocol.SASL_SSL, "kafka.test", 0)),
        ("OUTSIDE://[::1]:65535", Listener("OUTSIDE", SecurityProtocol.SASL_SSL, "::1", 65535)),
    ],
)
def test_a_listener(text: str, expected: Listener) -> None:
    assert parse_listener(text, _PROTOCOLS) == expected


@pytest.mark.parametrize("text", ["kafka:9092", "PLAINTEXT://kafka", "PLAINTEXT://a:65536", "PLAINTEXT://a b:1"])
def test_no_listener(text: str) -> None:
    with pytest.raises(ConfigError, match="Unable to parse"):
        parse_listener(text, _PROTOCOLS)


def test_a_name_needs_a_protocol() -> None:
    with pytest.raises(ConfigError, match="No security protocol defined for listener INSIDE"):
        parse_listener("INSIDE://:1", _PROTOCOLS)


def test_a_listener_as_text() -> None:
    assert str(Listener("A", SecurityProtocol.SSL, "::1", 5)) == "A://[::1]:5"
    assert address_text("a", 5) == "a:5"
