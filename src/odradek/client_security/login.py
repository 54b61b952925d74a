"""The log-in over a connection: SaslHandshake, then SaslAuthenticate until the mechanism is content."""

from __future__ import annotations

from typing import Protocol

from odradek.client_security.errors import AuthenticationError
from odradek.client_security.mechanisms import mechanism_for
from odradek.client_security.options import SaslOptions
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_ROUNDS = 8


class Exchange(Protocol):
    """One request and its answer, in versions that both sides know."""

    def handshake(self, request: SaslHandshakeRequest) -> SaslHandshakeResponse: ...

    def authenticate(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse: ...


def log_in(exchange: Exchange, options: SaslOptions, host: str, address: str) -> int:
    """Log in, or log in again; returns the session's lifetime in ms, 0 if it has none.

    Raises AuthenticationError, which says the mechanism and the broker's words, never a secret.
    """
    answer = exchange.handshake(SaslHandshakeRequest(mechanism=options.mechanism))
    if answer.error_code:
        raise AuthenticationError(f"{address}: {_refusal(answer, options.mechanism)}")
    try:
        mechanism = mechanism_for(options, host)
        message: bytes | None = mechanism.first()
        for _ in range(_ROUNDS):
            assert message is not None
            answered = exchange.authenticate(SaslAuthenticateRequest(auth_bytes=message))
            if answered.error_code:
                said = answered.error_message or ErrorCode(answered.error_code).name
                raise AuthenticationError(said)
            message = mechanism.answer(bytes(answered.auth_bytes))
            if message is None:
                return answered.session_lifetime_ms
    except AuthenticationError as error:
        raise AuthenticationError(f"{address}: log-in with {options.mechanism} failed: {error}") from error
    raise AuthenticationError(f"{address}: log-in with {options.mechanism} does not come to an end")


def _refusal(answer: SaslHandshakeResponse, mechanism: str) -> str:
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        return f"the broker takes no log-in with {mechanism}, but with {', '.join(answer.mechanisms) or 'nothing'}"
    if answer.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        return "the broker takes no log-in: is security.protocol of this listener PLAINTEXT or SSL?"
    return ErrorCode(answer.error_code).name
