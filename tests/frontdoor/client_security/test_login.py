"""The log-in over a connection, with a broker that is a list of answers."""

from __future__ import annotations

import pytest

from odradek.client_security import AuthenticationError
from odradek.client_security.login import log_in
from odradek.client_security.options import SaslOptions
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

PLAIN = SaslOptions("PLAIN", {"username": "alice", "password": "hush"})
TOKEN = SaslOptions("OAUTHBEARER", {}, oauthbearer={"token": "hush"})


class Script:
    """Answers the handshake, then one message after the other."""

    def __init__(self, *answers: SaslAuthenticateResponse, handshake: SaslHandshakeResponse | None = None) -> None:
        self._answers = list(answers)
        self._handshake = handshake or SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN", "OAUTHBEARER"])
        self.sent: list[bytes] = []

    def handshake(self, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
        return self._handshake

    def authenticate(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        self.sent.append(request.auth_bytes)
        return self._answers.pop(0)


def accepted(lifetime_ms: int = 0) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=0, auth_bytes=b"", session_lifetime_ms=lifetime_ms)


def refused(message: str | None) -> SaslAuthenticateResponse:
    code = int(ErrorCode.SASL_AUTHENTICATION_FAILED)
    return SaslAuthenticateResponse(error_code=code, error_message=message, auth_bytes=b"")


def test_the_lifetime_of_the_session_is_told() -> None:
    assert log_in(Script(accepted(60_000)), PLAIN, "broker", "broker:1") == 60_000
    assert log_in(Script(accepted()), PLAIN, "broker", "broker:1") == 0


def test_the_brokers_words_are_told_and_no_secret() -> None:
    with pytest.raises(AuthenticationError, match=r"^broker:1: log-in with PLAIN failed: no way$") as caught:
        log_in(Script(refused("no way")), PLAIN, "broker", "broker:1")
    assert "hush" not in str(caught.value)
    with pytest.raises(AuthenticationError, match="SASL_AUTHENTICATION_FAILED"):
        log_in(Script(refused(None)), PLAIN, "broker", "broker:1")


def test_a_refused_token_is_acknowledged_before_the_refusal() -> None:
    script = Script(SaslAuthenticateResponse(error_code=0, auth_bytes=b'{"status":"invalid_token"}'), refused("json"))
    with pytest.raises(AuthenticationError, match="json"):
        log_in(script, TOKEN, "broker", "broker:1")
    assert script.sent[-1] == b"\x01"


def test_a_handshake_that_fails_says_what_the_listener_takes() -> None:
    code = int(ErrorCode.UNSUPPORTED_SASL_MECHANISM)
    script = Script(handshake=SaslHandshakeResponse(error_code=code, mechanisms=["GSSAPI", "PLAIN"]))
    with pytest.raises(AuthenticationError, match="no log-in with OAUTHBEARER, but with GSSAPI, PLAIN"):
        log_in(script, TOKEN, "broker", "broker:1")
    plain = Script(handshake=SaslHandshakeResponse(error_code=int(ErrorCode.ILLEGAL_SASL_STATE), mechanisms=[]))
    with pytest.raises(AuthenticationError, match=r"is security\.protocol of this listener PLAINTEXT"):
        log_in(plain, PLAIN, "broker", "broker:1")


def test_a_broker_that_is_never_content_is_left() -> None:
    endless = Script(*[SaslAuthenticateResponse(error_code=0, auth_bytes=b"more") for _ in range(100)])
    with pytest.raises(AuthenticationError, match="does not come to an end"):
        log_in(endless, TOKEN, "broker", "broker:1")
    assert len(endless.sent) < 20
