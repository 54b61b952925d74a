"""PLAIN by itself; tests/vectors/login_conversations.json.gz has what a real Kafka says to odd tokens."""

from __future__ import annotations

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.credentials import ImageCredentials
from odradek.broker.security.sasl.plain import LOGIN_MODULE, PlainServer, plain
from odradek.broker.security.sasl.server import SaslError
from tests.broker.security.sasl.listener_configs import with_jaas

USERS = {"alice": b"secret", "ж": "пароль".encode()}


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b"\0alice\0secret", "alice"),
        (b"alice\0alice\0secret", "alice"),
        ("\0ж\0пароль".encode(), "ж"),
    ],
)
def test_the_right_password_logs_in(token: bytes, name: str) -> None:
    server = PlainServer(USERS)
    assert not server.complete
    assert server.evaluate(token) == b""
    assert server.complete
    assert server.principal == Principal("User", name)
    assert server.expires_ms is None


@pytest.mark.parametrize(
    ("token", "told"),
    [
        (b"\0alice\0wrong", "Invalid username or password"),
        (b"\0alice\0secre", "Invalid username or password"),
        (b"\0alice\0secret2", "Invalid username or password"),
        (b"\0bob\0secret", "Invalid username or password"),
        (b"bob\0alice\0secret", "authorization id that is different"),
        (b"bob\0alice\0wrong", "Invalid username or password"),
        (b"\0\0secret", "username not specified"),
        (b"\0alice\0", "password not specified"),
        (b"", "expected 3 tokens, got 1"),
        (b"\0\0\0\0\0\0", "expected 3 tokens, got 4"),
        (b"\0\xff\xfe\0secret", "Invalid username or password"),
    ],
)
def test_what_is_refused(token: bytes, told: str) -> None:
    server = PlainServer(USERS)
    with pytest.raises(SaslError, match=told):
        server.evaluate(token)
    assert not server.complete


def test_an_empty_password_in_the_configuration_lets_nobody_in() -> None:
    server = PlainServer({"alice": b""})
    for token in (b"\0alice\0", b"\0alice\0x"):
        with pytest.raises(SaslError):
            server.evaluate(token)


def test_the_users_are_options_of_the_login_module() -> None:
    image = ImageCredentials(ImageWriter().image, lambda: None)
    text = f'{LOGIN_MODULE} required username="broker" password="b" user_alice="a\\"s" user_="nobody";'
    new = plain(with_jaas("PLAIN", text), image, BrokerClock())
    server = new()
    server.evaluate(b'\0alice\0a"s')
    assert server.complete
    assert not new().complete, "each log-in has a server of its own"
    with pytest.raises(SaslError):
        new().evaluate(b"\0broker\0b")
