"""Log-ins with OAUTHBEARER, good and bad, as the bytes that a client sends; and what a broker made of them."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from joserfc import jws
from joserfc.jwk import RSAKey

from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from odradek.wire_client import ConnectionClosed, WireConnection
from tests.scenarios.authority import TokenSigner
from tests.scenarios.secured_listeners import Secured, without_signature

ACCEPTED = "accepted"
REFUSED = "refused"
CLOSED = "closed"
INVALID_TOKEN = '{"status":"invalid_token"}'
INVALID = "Authentication failed during authentication due to invalid credentials with SASL mechanism OAUTHBEARER"


def ask(secured: Secured, listener: str, *messages: bytes) -> list[str]:
    """What each message of a log-in is answered: ACCEPTED, CLOSED, the broker's JSON or its error message."""
    answers: list[str] = []
    with WireConnection(*secured.address(listener), timeout_s=30) as connection:
        shake = SaslHandshakeRequest("OAUTHBEARER")
        assert connection.receive(shake, 1, connection.send(shake, 1)).error_code == 0
        for message in messages:
            request = SaslAuthenticateRequest(message)
            try:
                answer = connection.receive(request, 2, connection.send(request, 2))
            except ConnectionClosed:
                return [*answers, CLOSED]
            assert answer.error_code in (0, 58), answer
            assert not (answer.error_code and answer.auth_bytes)
            said = answer.error_message if answer.error_code else bytes(answer.auth_bytes).decode()
            answers.append(said or ACCEPTED)
    return answers


def outcome(secured: Secured, listener: str, message: bytes) -> str:
    """ACCEPTED, CLOSED or the error message; REFUSED for the JSON that every bad token gets, twice."""
    (first,) = ask(secured, listener, message)
    if first != INVALID_TOKEN:
        return first
    assert ask(secured, listener, message, b"\x01") == [INVALID_TOKEN, INVALID_TOKEN]
    return REFUSED


def first_message(token: str, *, authzid: str = "", extensions: str = "") -> bytes:
    return f"n,{authzid},\x01auth=Bearer {token}\x01{extensions}\x01".encode()


YEAR_S = 31_557_600
FAR_EXP = ("exp in 293 years", "exp is the largest number")


# --- tokens without a signature: name -> claims of the token ----------------------------------------------------------


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


NONE = b64(b'{"alg":"none"}')


def claims(**changes: Any) -> str:
    """An unsecured token; a claim of None is left out."""
    now = time.time()
    body = {"sub": "alice", "iat": int(now) - 1, "exp": now + 3600} | changes
    return without_signature(json.dumps({name: value for name, value in body.items() if value is not None}).encode())


def raw_claims(text: str) -> str:
    """An unsecured token whose claims are this text, with EXP for a moment in the future."""
    return without_signature(text.replace("EXP", str(int(time.time()) + 3600)).encode())


def with_head(head: str, body: str | None = None, signature: str = "") -> str:
    plain = claims().split(".")[1] if body is None else body
    return f"{b64(head.encode())}.{plain}.{signature}"


UNSECURED: Mapping[str, Callable[[], str]] = {
    "good": claims,
    "good without iat": lambda: claims(iat=None),
    "no exp": lambda: claims(exp=None),
    "no sub": lambda: claims(sub=None),
    "blank sub": lambda: claims(sub="  "),
    "sub is a number": lambda: claims(sub=7),
    "sub is true": lambda: claims(sub=True),
    "sub is null": lambda: raw_claims('{"sub":null,"exp":EXP}'),
    "sub is an object": lambda: claims(sub={"a": 1}),
    "sub is a list": lambda: claims(sub=["alice"]),
    "exp is text": lambda: claims(exp="99999999999"),
    "exp is past": lambda: claims(iat=None, exp=1000),
    "exp is far away": lambda: claims(exp=now(10 * 365 * 86400)),
    "exp in 291 years": lambda: claims(exp=now(291 * YEAR_S)),
    "exp in 293 years": lambda: claims(exp=now(293 * YEAR_S)),
    "exp is the largest number": lambda: claims(exp=2**63 - 1),
    "exp has a fraction": lambda: claims(exp=time.time() + 3600.5),
    "exp before iat": lambda: claims(iat=int(time.time()) - 10, exp=int(time.time()) - 20),
    "iat in the future": lambda: claims(iat=time.time() + 600),
    "iat is text": lambda: claims(iat="soon"),
    "scope is text": lambda: claims(scope="a b"),
    "scope is a list": lambda: claims(scope=["a", "b"]),
    "scope is a number": lambda: claims(scope=3),
    "claims are no JSON": lambda: raw_claims("{"),
    "claims are a list": lambda: raw_claims("[]"),
    "claims are empty": lambda: f"{NONE}.e30.",
    "claims twice": lambda: raw_claims('{"sub":"bob","sub":"alice","exp":EXP}'),
    "claims with a tail": lambda: raw_claims('{"sub":"alice","exp":EXP} tail'),
    "claims with NaN": lambda: raw_claims('{"sub":"alice","exp":EXP,"x":NaN}'),
    "claims not UTF-8": lambda: without_signature(b'{"sub":"al\xff\xfeice","exp":99999999999}'),
    "claims with padding": lambda: f"{NONE}.{claims().split('.')[1]}==.",
    "deep claims": lambda: raw_claims('{"sub":"alice","exp":EXP,"x":' + "[" * 500 + "]" * 500 + "}"),
    "far too deep claims": lambda: raw_claims('{"sub":"alice","exp":EXP,"x":' + "[" * 5000 + "]" * 5000 + "}"),
    "two parts": lambda: "e30.e30",
    "two parts and a dot": lambda: f"{NONE}.",
    "four parts": lambda: claims() + ".e30",
    "empty part": lambda: f"{NONE}..",
    "no alg": lambda: with_head("{}"),
    "alg is RS256": lambda: with_head('{"alg":"RS256"}', signature="AAAA"),
    "alg is NONE": lambda: with_head('{"alg":"NONE"}'),
    "alg is null": lambda: with_head('{"alg":null}'),
    "a signature": lambda: claims() + "AAAA",
    "head is no JSON": lambda: with_head("nothing"),
    "head is a list": lambda: with_head("[]"),
    "head is base64 of nothing": lambda: f".{claims().split('.')[1]}.",
    "slashes": lambda: "a/b.c/d.",
    "odd length": lambda: "a.a.",
}


UNSECURED_OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(UNSECURED, REFUSED),
    **dict.fromkeys(
        (
            "good",
            "good without iat",
            "sub is true",
            "sub is null",
            "exp is far away",
            "exp in 291 years",
            "exp has a fraction",
            "scope is text",
            "scope is a list",
            "claims twice",
            "claims with a tail",
            "deep claims",
        ),
        ACCEPTED,
    ),
    **dict.fromkeys(("no alg", "head is a list", "head is base64 of nothing", *FAR_EXP), CLOSED),
    "claims with padding": INVALID,
}
"""What a real Kafka makes of them."""


# --- signed tokens ----------------------------------------------------------------------------------------------------


def sign(key: Any, header: dict[str, Any], payload: bytes) -> str:
    registry = jws.JWSRegistry(algorithms=[header["alg"]], strict_check_header=False)
    registry.max_header_length = 1 << 20
    return jws.serialize_compact(header, payload, key, registry=registry)


def now(offset: float = 0) -> int:
    return int(time.time() + offset)


def good_claims(**changes: Any) -> bytes:
    body = {"iss": "https://issuer.invalid", "sub": "alice", "aud": "kafka", "iat": now(), "exp": now(3600)} | changes
    return json.dumps({name: value for name, value in body.items() if value is not None}).encode()


def confused(signer: TokenSigner) -> str:
    """The public key taken for the secret of an HMAC."""
    head = b64(json.dumps({"alg": "HS256", "kid": signer.kid}).encode())
    text = f"{head}.{b64(good_claims())}"
    digest = hmac.digest(signer.key.as_pem(private=False), text.encode(), "sha256")
    return f"{text}.{b64(digest)}"


def _bare(signer: TokenSigner) -> RSAKey:
    """The signer's key without what says what it is for."""
    parts = {name: value for name, value in signer.key.as_dict(private=True).items() if name not in ("alg", "use")}
    return RSAKey.import_key(parts)


SIGNED: Mapping[str, Callable[[TokenSigner], str]] = {
    "good": lambda s: s.token(),
    "good without kid": lambda s: s.token({"kid": None}),
    "good without scope": lambda s: s.token(scope=None),
    "good with many audiences": lambda s: s.token(aud=["other", "kafka"]),
    "expired within the skew": lambda s: s.token(lifetime_s=-10, iat=1),
    "expired": lambda s: s.token(lifetime_s=-60, iat=1),
    "no exp": lambda s: s.token(exp=None),
    "exp is text": lambda s: s.token(exp="99999999999"),
    "exp in 291 years": lambda s: s.token(exp=now(291 * YEAR_S)),
    "exp in 293 years": lambda s: s.token(exp=now(293 * YEAR_S)),
    "exp has a fraction": lambda s: s.token(exp=time.time() + 3600.5),
    "no iat": lambda s: s.token(iat=None),
    "iat in the future": lambda s: s.token(iat=now(600)),
    "exp before iat": lambda s: s.token(iat=now(600), exp=now(500)),
    "not yet valid within the skew": lambda s: s.token(nbf=now(10)),
    "not yet valid": lambda s: s.token(nbf=now(600)),
    "nbf is text": lambda s: s.token(nbf="soon"),
    "no sub": lambda s: s.token(sub=None),
    "sub is a number": lambda s: s.token(sub=7),
    "blank sub": lambda s: s.token(sub="  "),
    "sub with spaces": lambda s: s.token(sub=" alice "),
    "no aud": lambda s: s.token(aud=None),
    "another aud": lambda s: s.token(aud="other"),
    "aud is a number": lambda s: s.token(aud=3),
    "no iss": lambda s: s.token(iss=None),
    "another iss": lambda s: s.token(iss="https://other.invalid"),
    "jti is a number": lambda s: s.token(jti=4),
    "scope is empty": lambda s: s.token(scope=""),
    "scope is a list": lambda s: s.token(scope=["a", "b"]),
    "scope twice": lambda s: s.token(scope=["a", "a"]),
    "scope is a number": lambda s: s.token(scope=5),
    "scope has a number": lambda s: s.token(scope=["a", 5]),
    "no signature": lambda s: with_head('{"alg":"none"}', b64(good_claims())),
    "alg none with a signature": lambda s: with_head('{"alg":"none"}', b64(good_claims()), "AAAA"),
    "no alg": lambda s: with_head("{}", b64(good_claims()), "AAAA"),
    "unknown alg": lambda s: with_head('{"alg":"XX1"}', b64(good_claims()), "AAAA"),
    "alg confused": confused,
    "PS256 with the key of RS256": lambda s: sign(_bare(s), {"alg": "PS256", "kid": s.kid}, good_claims()),
    "unknown kid": lambda s: s.token({"kid": "other"}),
    "kid of 2000 characters": lambda s: s.token({"kid": "k" * 2000}),
    "kid is a number": lambda s: with_head('{"alg":"RS256","kid":5}', b64(good_claims()), "AAAA"),
    "another key": lambda s: sign(RSAKey.generate_key(2048), {"alg": "RS256", "kid": s.kid}, good_claims()),
    "a changed claim": lambda s: ".".join(
        (s.token().split(".")[0], b64(good_claims(sub="bob")), s.token().split(".")[2])
    ),
    "unknown crit": lambda s: with_head('{"alg":"RS256","kid":"first","crit":["x"],"x":1}', b64(good_claims()), "AAAA"),
    "claims are no JSON": lambda s: sign(s.key, {"alg": "RS256", "kid": s.kid}, b"{"),
    "claims are a list": lambda s: sign(s.key, {"alg": "RS256", "kid": s.kid}, b"[]"),
    "claims twice": lambda s: sign(s.key, {"alg": "RS256", "kid": s.kid}, good_claims()[:-1] + b',"sub":"bob"}'),
    "nested": lambda s: sign(s.key, {"alg": "RS256", "kid": s.kid, "cty": "JWT"}, s.token().encode()),
    "two parts": lambda s: "a.b",
    "five parts": lambda s: "a.b.c.d.e",
    "empty signature": lambda s: s.token().rpartition(".")[0] + ".",
    "no base64": lambda s: "a.a.a",
}


SIGNED_OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(SIGNED, REFUSED),
    **dict.fromkeys(
        (
            "good",
            "good without kid",
            "good without scope",
            "good with many audiences",
            "expired within the skew",
            "exp in 291 years",
            "exp has a fraction",
            "iat in the future",
            "not yet valid within the skew",
            "sub with spaces",
            "scope is a list",
            "scope is a number",
            "PS256 with the key of RS256",
            "nested",
        ),
        ACCEPTED,
    ),
    "scope has a number": CLOSED,
    "exp in 293 years": CLOSED,
}
"""What a real Kafka makes of them."""


# --- first messages around a good token: name -> bytes ----------------------------------------------------------------

MESSAGES: Mapping[str, Callable[[str], bytes]] = {
    "extensions": lambda token: first_message(token, extensions="traceId=1 2\t3\x01pool=p\x01"),
    "extension named auth": lambda token: first_message(token, extensions="auth=Bearer x.y.z\x01"),
    "extension without value": lambda token: first_message(token, extensions="a=\x01"),
    "extension with a digit": lambda token: first_message(token, extensions="a1=b\x01"),
    "the own authzid": lambda token: first_message(token, authzid="a=alice"),
    "another authzid": lambda token: first_message(token, authzid="a=bob"),
    "an empty authzid": lambda token: first_message(token, authzid="a="),
    "an escaped authzid": lambda token: first_message(token, authzid="a=al=2Cice"),
    "lower case bearer": lambda token: f"n,,\x01auth=bearer   {token}\x01\x01".encode(),
    "another scheme": lambda token: f"n,,\x01auth=Basic {token}\x01\x01".encode(),
    "no auth": lambda token: b"n,,\x01host=x\x01\x01",
    "auth without scheme": lambda token: f"n,,\x01auth={token}\x01\x01".encode(),
    "channel binding": lambda token: f"y,,\x01auth=Bearer {token}\x01\x01".encode(),
    "no end": lambda token: f"n,,\x01auth=Bearer {token}\x01".encode(),
    "a tail": lambda token: f"n,,\x01auth=Bearer {token}\x01\x01x".encode(),
    "nothing": lambda token: b"",
    "one byte": lambda token: b"\x01",
    "not UTF-8": lambda token: b"n,,\x01auth=Bearer \xff\xfe\x01\x01",
    "PLAIN's message": lambda token: b"\0alice\0alice-secret",
}

ANOTHER_ID = (
    "Authentication failed: Client requested an authorization id ({}) that is different from the token's principal "
    "name (alice)"
)
MESSAGE_OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(MESSAGES, INVALID),
    **dict.fromkeys(("extensions", "the own authzid", "lower case bearer"), ACCEPTED),
    "extension named auth": REFUSED,
    "another authzid": ANOTHER_ID.format("bob"),
    "an escaped authzid": ANOTHER_ID.format("al=2Cice"),
    "another scheme": CLOSED,
}
"""What a real Kafka makes of them."""
