"""SaslHandshake (key 17, versions 0 and 1) and SaslAuthenticate (key 36, versions 0 to 2).

Before the log-in they belong to the connection's gate (`net/login_gate.py`). After it, and on listeners where nobody
logs in, they are refused and the connection goes on. SaslAuthenticate v1 tells how long the session lasts (KIP-368).
"""

from __future__ import annotations

from typing import Any

from odradek.broker.requests.access import OPEN
from odradek.broker.requests.context import RequestContext
from odradek.broker.requests.handlers import NEVER_LONG, handles
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


@handles(SaslHandshakeRequest, access=OPEN, long_bytes=NEVER_LONG)
def sasl_handshake(ctx: RequestContext, request: SaslHandshakeRequest) -> Any:
    """Name the mechanism of the log-in."""
    login = ctx.connection.login
    if login is None:
        return SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE)
    return login.handshake(ctx, request.mechanism)


@handles(SaslAuthenticateRequest, access=OPEN, long_bytes=NEVER_LONG)
def sasl_authenticate(ctx: RequestContext, request: SaslAuthenticateRequest) -> Any:
    """One token of the log-in, and the broker's answer to it."""
    login = ctx.connection.login
    if login is None:
        return SaslAuthenticateResponse(
            ErrorCode.ILLEGAL_SASL_STATE, "SaslAuthenticate request received after successful authentication"
        )
    return login.authenticate(ctx, bytes(request.auth_bytes))
