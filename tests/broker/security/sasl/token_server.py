"""What an OAUTHBEARER server makes of a message, in the words of `tests.scenarios.token_cases`."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.security.sasl.oauthbearer import OAuthBearerServer
from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken, SaslError
from tests.scenarios.token_cases import ACCEPTED, CLOSED, INVALID, INVALID_TOKEN, REFUSED

TOO_LONG = ("exp in 293 years", "exp is the largest number")
"""Tokens that a mechanism accepts and that the listener closes for: such a session's end cannot be counted."""


def of_the_mechanism(outcomes: Mapping[str, str], *too_long: str) -> dict[str, str]:
    """What the mechanism alone says of tokens whose outcomes were recorded over the wire."""
    return {name: ACCEPTED if name in too_long else outcome for name, outcome in outcomes.items()}


def judged(server: OAuthBearerServer, message: bytes) -> str:
    """ACCEPTED, REFUSED, CLOSED, or what the client is told."""
    answer = ""
    try:
        answer = server.evaluate(message).decode()
        if not answer:
            assert server.complete
            return ACCEPTED
        assert not server.complete
        server.evaluate(b"\x01")
    except MalformedToken:
        return CLOSED
    except InvalidCredentials:
        return INVALID
    except SaslError as told:
        return REFUSED if told.message == INVALID_TOKEN == answer else told.message
    raise AssertionError("the \\x01 of a client has no answer")
