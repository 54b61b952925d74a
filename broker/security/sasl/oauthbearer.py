"""OAUTHBEARER (RFC 7628): a client sends a token, and one of two validators checks it.

Without a callback handler the tokens have no signature (`bearer_tokens`), as in Kafka: for development only.
With Kafka's `OAuthBearerValidatorCallbackHandler` they are signed by keys from a JWKS (`oauthbearer_signed`). The
client's first message is parsed as Kafka parses it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.principal import USER, Principal
from odradek.broker.security.sasl.bearer_tokens import TokenRefused, TokenValidator, UnsecuredValidator
from odradek.broker.security.sasl.server import (
    InvalidCredentials,
    MalformedToken,
    NewSaslServer,
    SaslError,
    SaslServer,
    login_options,
)

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials


_SASL_NAME = r"(?:[\x01-+\--<>-\x7F]|=2C|=3D)+"  # ASCII but "=" and ","
_PAIR = r"[A-Za-z]+=[\x21-\x7E \t\r\n]+\x01"
_MESSAGE = re.compile(rf"n,(?:a=(?P<authzid>{_SASL_NAME}))?,\x01(?P<pairs>(?:{_PAIR})*)\x01")
_HALF = re.compile("[\ud800-\udfff]")  # JSON may escape one, and no request or record can have it
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_~+/.a-zA-Z0-9]+=*)", re.ASCII)


class FirstMessage(NamedTuple):
    """The parsed first message: a token, the identity that the client asks for ("" for its own), and its extensions."""

    token: str
    authzid: str
    extensions: Mapping[str, str]

    def __repr__(self) -> str:
        return f"FirstMessage(authzid={self.authzid!r}, {len(self.extensions)} extensions)"


def parse_first_message(message: bytes) -> FirstMessage:
    """InvalidCredentials if the message is invalid; MalformedToken for a scheme other than Bearer."""
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


LOGIN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SIGNED_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
UNSECURED_HANDLER = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)
_HANDLER = "sasl.server.callback.handler.class"
_ACKNOWLEDGED = b"\x01"

_log = logging.getLogger(__name__)


def oauthbearer(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
    options = login_options(config, LOGIN_MODULE)
    handler = config.get_text(_HANDLER) or UNSECURED_HANDLER
    if handler == UNSECURED_HANDLER:
        validator: TokenValidator = UnsecuredValidator(options)
    elif handler == SIGNED_HANDLER:
        from odradek.broker.security.sasl.oauthbearer_signed import signed_validator

        validator = signed_validator(config, options, clock)
    else:
        raise ConfigError(f"{_HANDLER}: odradek runs no Java; it knows {SIGNED_HANDLER} and {UNSECURED_HANDLER}")
    return lambda: OAuthBearerServer(validator, clock)


class OAuthBearerServer(SaslServer):
    """One log-in with a token."""

    mechanism = "OAUTHBEARER"

    def __init__(self, validator: TokenValidator, clock: BrokerClock) -> None:
        super().__init__()
        self.waits = validator.waits
        self._validator = validator
        self._clock = clock
        self._refusal: str | None = None
        self._missing_key_id: str | None = None

    def evaluate(self, token: bytes) -> bytes:
        """An empty answer for an accepted token; JSON for a refused one, after which the client may send another."""
        return self._decide(self._begin(token))

    async def evaluate_async(self, token: bytes) -> bytes:
        """As `evaluate`, with the keys that have to be fetched for it."""
        first = self._begin(token)
        await self._validator.prepare()
        answer = self._decide(first)
        missing, self._missing_key_id = self._missing_key_id, None
        if missing is not None:
            await self._validator.missing(missing)
        return answer

    def _begin(self, message: bytes) -> FirstMessage:
        if message == _ACKNOWLEDGED and self._refusal is not None:
            raise SaslError(self._refusal)
        self._refusal = None
        return parse_first_message(message)

    def _decide(self, first: FirstMessage) -> bytes:
        try:
            token = self._validator.validate(first.token, self._clock.now_ms())
            if not token.principal_name.isprintable() and _HALF.search(token.principal_name):
                raise TokenRefused("half of a character in the subject")
        except TokenRefused as refused:
            _log.warning("OAUTHBEARER: a token is refused: %s", refused.reason)
            self._refusal = _refusal(refused.scope)
            self._missing_key_id = refused.key_id
            return self._refusal.encode()
        if first.authzid and first.authzid != token.principal_name:
            raise SaslError(
                f"Authentication failed: Client requested an authorization id ({first.authzid}) that is different "
                f"from the token's principal name ({token.principal_name})"
            )
        self.principal = Principal(USER, token.principal_name)
        self.expires_ms = token.expires_ms
        self.extensions = first.extensions
        self.complete = True
        return b""


def _refusal(scope: str | None) -> str:
    """The JSON of RFC 7628 as Kafka writes it."""
    if scope is None:
        return '{"status":"invalid_token"}'
    return f'{{"status":"insufficient_scope", "scope":"{scope}"}}'
