"""OAUTHBEARER (RFC 7628): a client shows a token, which one of two validators checks.

Without a callback handler the tokens have no signature (`oauthbearer_unsecured`), as in Kafka: for development only.
With Kafka's `OAuthBearerValidatorCallbackHandler` they are signed by keys from a JWKS (`oauthbearer_signed`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.principal import ANONYMOUS, USER, Principal
from odradek.broker.security.sasl.bearer_tokens import TokenRefused, TokenValidator, WaitingTokenValidator
from odradek.broker.security.sasl.jaas import login_options
from odradek.broker.security.sasl.oauthbearer_message import FirstMessage, parse_first_message
from odradek.broker.security.sasl.server import NewSaslServer, SaslError

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listener_config import ListenerConfig
    from odradek.broker.security.sasl.credentials import Credentials

LOGIN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
SIGNED_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
UNSECURED_HANDLER = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)
_HANDLER = "sasl.server.callback.handler.class"
_ACKNOWLEDGED = b"\x01"

_log = logging.getLogger(__name__)


def oauthbearer(config: ListenerConfig, credentials: Credentials, clock: BrokerClock) -> NewSaslServer:
    """See `server.Mechanism`."""
    options = login_options(config, LOGIN_MODULE)
    handler = config.get_text(_HANDLER) or UNSECURED_HANDLER
    if handler == UNSECURED_HANDLER:
        from odradek.broker.security.sasl.oauthbearer_unsecured import UnsecuredValidator

        unsecured = UnsecuredValidator(options)
        return lambda: OAuthBearerServer(unsecured, clock)
    if handler != SIGNED_HANDLER:
        raise ConfigError(f"{_HANDLER}: odradek runs no Java; it knows {SIGNED_HANDLER} and {UNSECURED_HANDLER}")
    from odradek.broker.security.sasl.oauthbearer_signed import signed_validator

    signed = signed_validator(config, options, clock)
    return lambda: WaitingOAuthBearerServer(signed, clock)


class OAuthBearerServer:
    """One log-in; see `server.SaslServer`."""

    mechanism = "OAUTHBEARER"

    def __init__(self, validator: TokenValidator, clock: BrokerClock) -> None:
        self._validator = validator
        self._clock = clock
        self._refusal: str | None = None
        self._missing_key_id: str | None = None
        self.complete = False
        self.principal = ANONYMOUS
        self.expires_ms: int | None = None
        self.extensions: Mapping[str, str] = {}

    def evaluate(self, token: bytes) -> bytes:
        """Nothing for an accepted token, JSON for a refused one, which the client may answer with another token."""
        return self._decide(self._begin(token))

    def _begin(self, message: bytes) -> FirstMessage:
        if message == _ACKNOWLEDGED and self._refusal is not None:
            raise SaslError(self._refusal)
        self._refusal = None
        return parse_first_message(message)

    def _decide(self, first: FirstMessage) -> bytes:
        try:
            token = self._validator.validate(first.token, self._clock.now_ms())
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


class WaitingOAuthBearerServer(OAuthBearerServer):
    """The same with a validator that may have to fetch keys; see `server.WaitingSaslServer`."""

    def __init__(self, validator: WaitingTokenValidator, clock: BrokerClock) -> None:
        super().__init__(validator, clock)
        self._keys = validator

    async def evaluate_async(self, token: bytes) -> bytes:
        """As `evaluate`."""
        first = self._begin(token)
        await self._keys.prepare()
        answer = self._decide(first)
        missing, self._missing_key_id = self._missing_key_id, None
        if missing is not None:
            await self._keys.missing(missing)
        return answer


def _refusal(scope: str | None) -> str:
    """The JSON of RFC 7628 as Kafka writes it."""
    if scope is None:
        return '{"status":"invalid_token"}'
    return f'{{"status":"insufficient_scope", "scope":"{scope}"}}'
