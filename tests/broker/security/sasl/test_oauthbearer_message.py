"""First messages; what a real Kafka makes of odd ones: tests/scenarios/token_cases.py."""

from __future__ import annotations

import pytest

from odradek.broker.security.sasl.oauthbearer_message import parse_first_message
from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken


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
def test_other_messages_are_invalid(message: bytes) -> None:
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
