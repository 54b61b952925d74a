"""SASL mechanisms of a client, and the exchange with a broker."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from odradek.client_security.login import OAuthBearer, Scram, log_in, mechanism_for
from odradek.client_security.options import AuthenticationError, ClientSecurity, SaslOptions, SecurityOptionError
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = f"r={SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
PROOF = f"c=biws,r={SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def example() -> Scram:
    return Scram("SCRAM-SHA-256", "user", "pencil", nonce=NONCE)


def test_the_example_of_the_rfc() -> None:
    scram = example()
    assert scram.first() == f"n,,n=user,r={NONCE}".encode()
    assert scram.answer(FIRST) == PROOF
    assert scram.answer(FINAL) is None


def test_names_are_escaped_and_delegation_tokens_say_what_they_are() -> None:
    assert Scram("SCRAM-SHA-512", "a=b,c", "x", nonce="N").first() == b"n,,n=a=3Db=2Cc,r=N"
    assert Scram("SCRAM-SHA-512", "id", "x", nonce="N", delegated=True).first() == b"n,,n=id,r=N,tokenauth=true"


def test_scram_login_has_a_fresh_nonce() -> None:
    assert Scram("SCRAM-SHA-256", "a", "b").first() != Scram("SCRAM-SHA-256", "a", "b").first()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (FIRST.replace(b"r=r", b"r=s"), "nonce"),
        (f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode(), "nonce"),
        (FIRST.replace(b"4096", b"4095"), "4095 iterations"),
        (FIRST.replace(b"4096", b"2000000000"), "2000000000 iterations"),
        (FIRST.replace(b"i=4096", b"i=x"), "0 iterations"),
        (FIRST.replace(b"W22Z", b"%%%%"), "invalid SCRAM message"),
        (b"\xff\xfe", "invalid SCRAM message"),
        (b"nonsense", "invalid SCRAM message"),
        (b"e=unknown-user", "unknown-user"),
    ],
)
def test_a_broker_that_sends_nonsense_is_not_answered(message: bytes, why: str) -> None:
    scram = example()
    scram.first()
    with pytest.raises(AuthenticationError, match=why):
        scram.answer(message)


@pytest.mark.parametrize("final", [b"v=AAAA", b"v=", b"x=1"])
def test_a_broker_that_does_not_know_the_password_is_not_trusted(final: bytes) -> None:
    scram = example()
    scram.answer(FIRST)
    with pytest.raises(AuthenticationError, match="signature"):
        scram.answer(final)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(SecurityOptionError, match=r"odradek\[gssapi\]"):
        mechanism_for(SaslOptions("GSSAPI", {}), "broker")


def test_the_first_message_has_the_token_and_the_extensions() -> None:
    assert OAuthBearer("tok", {}).first() == b"n,,\x01auth=Bearer tok\x01\x01"
    assert OAuthBearer("tok", {"traceId": "1 2"}).first() == b"n,,\x01auth=Bearer tok\x01traceId=1 2\x01\x01"


def test_a_refusal_is_acknowledged_and_an_empty_answer_is_the_end() -> None:
    assert OAuthBearer("tok", {}).answer(b'{"status":"invalid_token"}') == b"\x01"
    assert OAuthBearer("tok", {}).answer(b"") is None


@pytest.mark.parametrize("extensions", [{"auth": "x"}, {"a1": "x"}, {"": "x"}, {"a": ""}, {"a": "x\x01b=c"}])
def test_extensions_that_would_break_the_message_are_refused(extensions: dict[str, str]) -> None:
    with pytest.raises(SecurityOptionError, match="extension"):
        OAuthBearer("tok", extensions)


def options(mechanism: str, **module: str) -> SaslOptions:
    return SaslOptions(mechanism, module)


def test_plain_sends_name_and_password_and_is_done() -> None:
    plain = mechanism_for(options("PLAIN", username="älice", password="s€cret"), "broker")
    assert plain.first() == b"\0\xc3\xa4lice\0s\xe2\x82\xaccret"
    assert plain.answer(b"") is None


def test_scram_with_and_without_a_delegation_token() -> None:
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        user = mechanism_for(options(mechanism, username="a", password="b"), "broker")
        assert user.name == mechanism
        assert b"tokenauth" not in user.first()
        token = mechanism_for(options(mechanism, username="a", password="b", tokenauth="true"), "broker")
        assert token.first().endswith(b",tokenauth=true")


def test_oauthbearer_asks_for_its_token_when_it_logs_in() -> None:
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token": "tok"}
    sasl = ClientSecurity.parse(given).sasl
    assert sasl is not None
    assert mechanism_for(sasl, "broker").first() == b"n,,\x01auth=Bearer tok\x01\x01"


PLAIN = SaslOptions("PLAIN", {"username": "alice", "password": "hush"})
TOKEN = SaslOptions("OAUTHBEARER", {}, oauthbearer={"token": "hush"})


class Script:
    """Answers the handshake, then one message after the other."""

    def __init__(self, *answers: SaslAuthenticateResponse, handshake: SaslHandshakeResponse | None = None) -> None:
        self._answers = list(answers)
        self._handshake = handshake or SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN", "OAUTHBEARER"])
        self.sent: list[bytes] = []

    def __call__(self, request: SaslHandshakeRequest | SaslAuthenticateRequest) -> Any:
        if isinstance(request, SaslHandshakeRequest):
            return self._handshake
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
    with pytest.raises(AuthenticationError, match="did not end"):
        log_in(endless, TOKEN, "broker", "broker:1")
    assert len(endless.sent) < 20
