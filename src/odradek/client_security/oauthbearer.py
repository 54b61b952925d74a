"""OAUTHBEARER (RFC 7628), the client's side, with Kafka's extensions (KIP-342)."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.client_security.errors import SecurityOptionError

_SEPARATOR = "\x01"


class OAuthBearer:
    """One log-in with a token."""

    name = "OAUTHBEARER"

    def __init__(self, token: str, extensions: Mapping[str, str]) -> None:
        for name, value in extensions.items():
            if not (name.isascii() and name.isalpha()) or name == "auth":
                raise SecurityOptionError(f"an extension is named with letters, and not auth: {name!r}")
            if not value or not all(" " <= sign <= "~" or sign in "\t\r\n" for sign in value):
                raise SecurityOptionError(f"the extension {name} has no value, or one that cannot be sent")
        parts = [f"auth=Bearer {token}", *(f"{name}={value}" for name, value in extensions.items())]
        self._message = _SEPARATOR.join(("n,,", *parts, "", ""))

    def first(self) -> bytes:
        return self._message.encode()

    def answer(self, challenge: bytes) -> bytes | None:
        """A broker that refuses a token says why; the protocol wants an answer before the log-in fails."""
        return _SEPARATOR.encode() if challenge else None
