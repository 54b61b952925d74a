"""The client's first message of an OAUTHBEARER log-in (RFC 7628), read as Kafka reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken

_SASL_NAME = r"(?:[\x01-+\--<>-\x7F]|=2C|=3D)+"  # ASCII but "=" and ","
_PAIR = r"[A-Za-z]+=[\x21-\x7E \t\r\n]+\x01"
_MESSAGE = re.compile(rf"n,(?:a=(?P<authzid>{_SASL_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)


class FirstMessage(NamedTuple):
    """A token, for whom the client wants to act ("" for itself), and the extensions that it sent along."""

    token: str
    authzid: str
    extensions: Mapping[str, str]

    def __repr__(self) -> str:
        return f"FirstMessage(authzid={self.authzid!r}, {len(self.extensions)} extensions)"


def parse_first_message(message: bytes) -> FirstMessage:
    """InvalidCredentials for what is no such message; MalformedToken for another scheme than Bearer."""
    found = _MESSAGE.fullmatch(message.decode("utf-8", "replace"))
    if found is None:
        raise InvalidCredentials("Invalid OAUTHBEARER client first message")
    pairs = dict(pair.split("=", 1) for pair in found["pairs"].split("\x01")[:-1])
    auth = _AUTH.fullmatch(pairs.pop("auth", ""))
    if auth is None:
        raise InvalidCredentials("Invalid OAUTHBEARER client first message: 'auth' missing or malformed")
    if auth["scheme"].lower() != "bearer":
        raise MalformedToken("Invalid scheme in OAUTHBEARER client first message")
    return FirstMessage(auth["token"], found["authzid"] or "", pairs)
