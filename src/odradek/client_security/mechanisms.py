"""The client's side of a SASL mechanism: a first message, and an answer to each of the broker's."""

from __future__ import annotations

from typing import Protocol

from odradek.client_security.errors import SecurityOptionError
from odradek.client_security.options import SaslOptions


class Mechanism(Protocol):
    """One log-in. Raises AuthenticationError when it does not trust the broker's messages."""

    name: str

    def first(self) -> bytes:
        """The message that begins the log-in."""
        ...

    def answer(self, challenge: bytes) -> bytes | None:
        """The next message; None when the log-in is complete."""
        ...


class Plain:
    """PLAIN (RFC 4616): name and password as they are."""

    name = "PLAIN"

    def __init__(self, username: str, password: str) -> None:
        self._message = b"\0".join((b"", username.encode(), password.encode()))

    def first(self) -> bytes:
        return self._message

    def answer(self, challenge: bytes) -> bytes | None:
        return None


def mechanism_for(options: SaslOptions, host: str) -> Mechanism:
    """A new log-in at the broker `host`. Raises SecurityOptionError, and WireError where a token must be fetched."""
    module = options.module
    if options.mechanism == "PLAIN":
        return Plain(module["username"], module["password"])
    if options.mechanism == "OAUTHBEARER":
        from odradek.client_security.oauthbearer import OAuthBearer
        from odradek.client_security.tokens import token_for

        return OAuthBearer(*token_for(options))
    if options.mechanism == "GSSAPI":
        from odradek.client_security.gssapi import Gssapi

        return Gssapi(options, host)
    from odradek.client_security.scram import HASHES, Scram

    if options.mechanism not in HASHES:
        raise SecurityOptionError(f"sasl.mechanism: {options.mechanism}")
    delegated = module.get("tokenauth", "false").lower() == "true"
    return Scram(options.mechanism, module["username"], module["password"], delegated=delegated)
