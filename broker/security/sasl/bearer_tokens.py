"""Bearer tokens: the verdict of a validator, the parsing of a token's parts, and the validator of unsigned tokens.

Anybody can write an unsigned token. It is validated like Kafka's OAuthBearerUnsecuredValidatorCallbackHandler does.
Options of the login module: `unsecuredValidatorPrincipalClaimName` (sub), `unsecuredValidatorScopeClaimName` (scope),
`unsecuredValidatorRequiredScope` (none), `unsecuredValidatorAllowableClockSkewMs` (0).
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.server import MalformedToken

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


class TokenValidator:
    """Checks tokens; one serves all log-ins of a listener. `waits`: whether it has keys that may have to be fetched."""

    waits = False

    def validate(self, token: str, now_ms: int) -> BearerToken:
        """The accepted token. Raises TokenRefused; MalformedToken where Kafka's validator fails."""
        raise NotImplementedError

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


# -- Unsigned tokens.

_LATEST_MS = 2**63 - 1
_PREFIX = "unsecuredValidator"
_SCOPE_ITEM = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")


class UnsecuredValidator(TokenValidator):
    """Options that Kafka refuses at a log-in raise a ConfigError."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._principal = options.get(f"{_PREFIX}PrincipalClaimName", "").strip() or "sub"
        self._scope = options.get(f"{_PREFIX}ScopeClaimName", "").strip() or "scope"
        self._required = [item for item in options.get(f"{_PREFIX}RequiredScope", "").split(" ") if item]
        self._check_login(options)
        if wrong := [item for item in self._required if not _SCOPE_ITEM.fullmatch(item)]:
            raise ConfigError(f"Invalid scope value: {wrong[0]}")
        self._skew_ms = _skew(options.get(f"{_PREFIX}AllowableClockSkewMs", ""))

    @staticmethod
    def _check_login(options: Mapping[str, str]) -> None:
        """Check the module's own log-in: a Kafka broker logs in with the module that validates others, and does not
        start if that fails.
        """
        claim = options.get("unsecuredLoginPrincipalClaimName", "").strip() or "sub"
        if options and not options.get(f"unsecuredLoginStringClaim_{claim}", "").strip():
            raise ConfigError(
                f"a login module with options needs unsecuredLoginStringClaim_{claim}, the broker's own name"
            )

    def validate(self, token: str, now_ms: int) -> BearerToken:
        claims = _claims(token)
        scope = self._scopes(claims)
        expires, issued = _seconds(claims, "exp"), _seconds(claims, "iat")
        if expires is None:
            raise TokenRefused("no expiration time")
        principal = claims.get(self._principal)
        if not isinstance(principal, str) or not principal.strip():
            raise TokenRefused(f"no principal name in the claim {self._principal}")
        if issued is not None and 1000 * issued > now_ms + self._skew_ms:
            raise TokenRefused("issued in the future")
        if now_ms - self._skew_ms >= 1000 * expires:
            raise TokenRefused("expired")
        if issued is not None and expires <= issued:
            raise TokenRefused("expires before it was issued")
        if not scope.issuperset(self._required):
            raise TokenRefused("a required scope is missing", scope=f"[{', '.join(self._required)}]")
        return BearerToken(principal, _LATEST_MS if expires * 1000 >= _LATEST_MS else math.floor(expires * 1000 + 0.5))

    def _scopes(self, claims: Mapping[str, Any]) -> set[str]:
        value = claims.get(self._scope)
        if value is None:
            return set()
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list):
            raise TokenRefused(f"the claim {self._scope} is neither text nor a list")
        return {item.strip() for item in items if item.strip()}


def _claims(token: str) -> dict[str, Any]:
    """The claims of `head.claims.`, with values as Kafka reads them."""
    parts = token.split(".")
    if ".." in token or len(parts) != 3:
        raise TokenRefused("an unsecured token has three parts, the last of them empty")
    head, claims = _part(parts[0]), _part(parts[1])
    if "alg" not in head:
        raise MalformedToken("no algorithm in the head of the token")
    if head["alg"] != "none" or parts[2]:
        raise TokenRefused("not an unsecured token")
    return claims


def _part(text: str) -> dict[str, Any]:
    return {name: _value(value) for name, value in _leading_object(base64_url(text)).items()}


def _leading_object(data: bytes) -> dict[str, Any]:
    """The JSON object at the beginning of the data; the rest is ignored. Another value counts as an empty object."""
    try:
        text = data.decode().lstrip(" \t\r\n")
        value = _DECODER.raw_decode(text)[0] if text else {}
    except (ValueError, RecursionError):
        raise TokenRefused("malformed JSON") from None
    if is_too_deep(value):
        raise TokenRefused("malformed JSON")
    return value if isinstance(value, dict) else {}


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _value(value: Any) -> Any:
    """Numbers, texts and lists of texts stay; every other value becomes the text that Jackson makes of it."""
    if isinstance(value, list):
        return [_text(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return ""
    return json.dumps(value)  # true, false, null, numbers


def _seconds(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is not None and not isinstance(value, int | float):
        raise TokenRefused(f"the claim {name} is not a number")
    try:
        return None if value is None else float(value)
    except OverflowError:
        return math.inf


def _skew(text: str) -> int:
    try:
        skew = int(text.strip() or "0")
    except ValueError:
        raise ConfigError(f'For input string: "{text.strip()}"') from None
    if skew < 0:
        raise ConfigError(f"Allowable clock skew millis must not be negative: {text}")
    return skew
