"""First messages; what a real Kafka makes of odd ones: tests/scenarios/token_cases.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.bearer_tokens import BearerToken, TokenRefused, TokenValidator, UnsecuredValidator
from odradek.broker.security.sasl.credentials import Credentials
from odradek.broker.security.sasl.oauthbearer import (
    LOGIN_MODULE,
    SIGNED_HANDLER,
    UNSECURED_HANDLER,
    OAuthBearerServer,
    oauthbearer,
    parse_first_message,
)
from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken, SaslError, SaslServer
from tests.broker.security.sasl.listener_configs import listener_config
from tests.broker.security.sasl.token_server import judged
from tests.scenarios.authority import TokenSigner
from tests.scenarios.token_cases import INVALID_TOKEN, MESSAGE_OUTCOMES, MESSAGES, claims, first_message


def test_token_authorization_id_and_extensions() -> None:
    first = parse_first_message(b"n,a=al=2Cice,\x01auth=Bearer a.b-_~+/.c==\x01traceId=1 2\t\r\n\x01\x01")
    assert first.token == "a.b-_~+/.c=="
    assert first.authzid == "al=2Cice"
    assert first.extensions == {"traceId": "1 2\t\r\n"}
    assert first.token not in repr(first)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,\x01\x01",
        b"n,,\x01auth=Bearer\x01\x01",
        b"n,,\x01auth=Bearer a=b\x01\x01",
        b"n,,\x01auth=Bearer a\x01",
        b"n,,\x01auth=Bearer a\x01\x01\n",
        b"n,a=b=c,\x01auth=Bearer a\x01\x01",
        "n,a=ä,\x01auth=Bearer a\x01\x01".encode(),
        b"n,a=,\x01auth=Bearer a\x01\x01",
        b"p=tls-unique,,\x01auth=Bearer a\x01\x01",
        b"n,,\x01auth=B\xc3\xa4rer a\x01\x01",
    ],
)
def test_oauthbearer_first_message_that_is_malformed_is_refused(message: bytes) -> None:
    with pytest.raises(InvalidCredentials):
        parse_first_message(message)


def test_another_scheme_closes_the_connection_as_in_kafka() -> None:
    with pytest.raises(MalformedToken):
        parse_first_message(b"n,,\x01auth=Basic a\x01\x01")


def test_a_long_message_takes_no_longer_than_its_length_says() -> None:
    for message in (
        b"n,a=" + b"a" * 500_000,
        b"n,,\x01" + b"a=b\x01" * 100_000,
        b"n,,\x01auth=Bearer " + b"=" * 500_000,
    ):
        with pytest.raises(InvalidCredentials):
            parse_first_message(message)


def server() -> OAuthBearerServer:
    return OAuthBearerServer(UnsecuredValidator({}), BrokerClock())


def test_each_message_meets_its_fate() -> None:
    assert {name: judged(server(), make(claims())) for name, make in MESSAGES.items()} == MESSAGE_OUTCOMES


def test_an_accepted_token_says_who_and_for_how_long() -> None:
    login = server()
    assert not login.complete
    assert login.evaluate(first_message(claims(exp=4_000_000_000), extensions="pool=p\x01")) == b""
    assert login.complete
    assert login.principal == Principal("User", "alice")
    assert login.expires_ms == 4_000_000_000_000
    assert login.extensions == {"pool": "p"}


def test_a_refused_client_may_try_another_token() -> None:
    login = server()
    assert login.evaluate(first_message("a.b.c")).decode() == INVALID_TOKEN
    assert login.evaluate(first_message("d.e.f")).decode() == INVALID_TOKEN
    assert login.evaluate(first_message(claims())) == b""
    assert login.complete


def test_the_acknowledgement_ends_the_log_in_with_the_same_words() -> None:
    login = server()
    login.evaluate(first_message("a.b.c"))
    with pytest.raises(SaslError) as caught:
        login.evaluate(b"\x01")
    assert caught.value.message == INVALID_TOKEN


class Scripted(TokenValidator):
    """A validator that notes the order of what it is asked."""

    waits = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def validate(self, token: str, now_ms: int) -> BearerToken:
        self.asked.append(f"validate {token}")
        raise TokenRefused("unknown key", key_id="k")

    async def prepare(self) -> None:
        self.asked.append("prepare")

    async def missing(self, key_id: str) -> None:
        self.asked.append(f"missing {key_id}")


def test_keys_are_prepared_before_and_fetched_behind_the_decision() -> None:
    validator = Scripted()
    login = OAuthBearerServer(validator, BrokerClock())
    assert login.waits
    assert not server().waits
    assert trio.run(login.evaluate_async, first_message("a.b.c")).decode() == INVALID_TOKEN
    assert validator.asked == ["prepare", "validate a.b.c", "missing k"]


def made(values: dict[str, str], jaas: str = f"{LOGIN_MODULE} required;") -> SaslServer:
    prefix = "listener.name.sasl.oauthbearer.sasl."
    config = listener_config({f"{prefix}jaas.config": jaas} | {prefix + name: value for name, value in values.items()})
    credentials = Credentials(ImageWriter().image, lambda: None)
    return oauthbearer(config.for_mechanism("OAUTHBEARER"), credentials, BrokerClock())()


def test_the_callback_handler_says_which_tokens_count(tmp_path: Path) -> None:
    assert type(made({})) is OAuthBearerServer
    assert not made({"server.callback.handler.class": UNSECURED_HANDLER}).waits
    signed = {
        "server.callback.handler.class": SIGNED_HANDLER,
        "oauthbearer.jwks.endpoint.url": TokenSigner(tmp_path).jwks.as_uri(),
        "oauthbearer.expected.audience": "kafka",
        "oauthbearer.expected.issuer": "https://issuer.invalid",
    }
    assert type(made(signed)) is OAuthBearerServer


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"server.callback.handler.class": "com.example.Mine"}, "odradek runs no Java"),
        ({"server.callback.handler.class": SIGNED_HANDLER}, "set sasl.oauthbearer.jwks.endpoint.url"),
    ],
)
def test_what_cannot_be_served_is_refused(values: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        made(values)
    with pytest.raises(ConfigError, match="login module"):
        made({}, "org.apache.kafka.common.security.plain.PlainLoginModule required;")


class Accepts(TokenValidator):
    """A validator that knows one name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def validate(self, token: str, now_ms: int) -> BearerToken:
        return BearerToken(self._name, now_ms + 1000)


@pytest.mark.parametrize(("name", "accepted"), [("a\ud800", False), ("\udc00", False), ("a\x1b\0\n\u202e", True)])
def test_half_a_character_is_in_no_name(name: str, accepted: bool) -> None:
    server = OAuthBearerServer(Accepts(name), BrokerClock())
    answer = server.evaluate(b"n,,\x01auth=bearer a.b.c\x01\x01")
    assert server.complete is accepted
    assert answer == (b"" if accepted else b'{"status":"invalid_token"}')
