"""The common part of the validators of bearer tokens: the verdict, and the parsing of a token's parts."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple, NoReturn, Protocol

_NOT_BASE64_URL = re.compile(r"[^A-Za-z0-9_-]")


_MOST_NESTED = 1000
"""Jackson's limit."""


class TokenRefused(Exception):
    """A token is refused.

    `reason` is for the broker's log. `scope`: the required scope that the token lacks. `key_id`: the id of an unknown
    key.
    """

    def __init__(self, reason: str, *, scope: str | None = None, key_id: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.scope = scope
        self.key_id = key_id


class BearerToken(NamedTuple):
    """An accepted token: its principal's name, and its end (milliseconds since 1970)."""

    principal_name: str
    expires_ms: int


class TokenValidator(Protocol):
    """Checks tokens; one serves all log-ins of a listener."""

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """The accepted token. Raises TokenRefused; MalformedToken where Kafka's validator fails."""


class WaitingTokenValidator(TokenValidator, Protocol):
    """A validator with keys that may have to be fetched."""

    async def prepare(self) -> None:
        """Wait for the keys that `validate` will need."""

    async def missing(self, key_id: str) -> None:
        """Wait for newer keys for later log-ins. As in Kafka the log-in that named the unknown key is refused."""


def base64_url(text: str) -> bytes:
    """The bytes of a token's part; TokenRefused for what is not base64url."""
    if _NOT_BASE64_URL.search(text) or len(text) % 4 == 1:
        raise TokenRefused("malformed Base64")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def json_object(text: bytes, *, repeats: bool) -> dict[str, Any] | None:
    """A JSON object; None for another value. `repeats`: whether a name may occur twice. TokenRefused for no JSON."""
    try:
        value = json.loads(text, parse_constant=_no_constant, object_pairs_hook=None if repeats else _once)
    except (ValueError, RecursionError):
        raise TokenRefused("malformed JSON") from None
    if is_too_deep(value):
        raise TokenRefused("malformed JSON")
    return value if isinstance(value, dict) else None


def is_too_deep(value: object) -> bool:
    """Whether the JSON is nested deeper than Java's parser accepts. Python's own limit depends on its version."""
    level = [value]
    for _ in range(_MOST_NESTED):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _no_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice")
    return found
