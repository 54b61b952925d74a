"""Signed tokens; the outcomes are those of a real Kafka (tests/scenarios/test_oauthbearer.py asks it)."""

from __future__ import annotations

import json
import ssl
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from joserfc.jwk import ECKey, OctKey, OKPKey

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import ListenerConfig
from odradek.broker.security.sasl import oauthbearer_signed
from odradek.broker.security.sasl.bearer_tokens import TokenRefused
from odradek.broker.security.sasl.jwks import Jwk, parse_jwks
from odradek.broker.security.sasl.oauthbearer import OAuthBearerServer
from odradek.broker.security.sasl.oauthbearer_signed import (
    Expectations,
    SignedValidator,
    check_audience,
    check_times,
    choose,
    signed_validator,
)
from tests.broker.security.sasl.listener_configs import listener_config
from tests.broker.security.sasl.token_server import TOO_LONG, judged, of_the_mechanism
from tests.scenarios.authority import TokenSigner
from tests.scenarios.token_cases import SIGNED, SIGNED_OUTCOMES, first_message, good_claims, sign


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> TokenSigner:
    return TokenSigner(tmp_path_factory.mktemp("signer"))


def config(signer: TokenSigner, **changes: str | None) -> ListenerConfig:
    """As tests/scenarios/secured_listeners.py has it; `__` stands for a dot."""
    values = {
        "sasl.oauthbearer.jwks.endpoint.url": signer.jwks.as_uri(),
        "sasl.oauthbearer.expected.audience": "kafka",
        "sasl.oauthbearer.expected.issuer": "https://issuer.invalid",
    } | {f"sasl.oauthbearer.{name.replace('__', '.')}": value for name, value in changes.items()}
    return listener_config(values).for_mechanism("OAUTHBEARER")


def validator(signer: TokenSigner, **changes: str | None) -> SignedValidator:
    return signed_validator(config(signer, **changes), {}, BrokerClock())


def now_ms() -> int:
    return int(time.time() * 1000)


def test_signed_tokens_are_accepted_or_refused_as_recorded(signer: TokenSigner) -> None:
    signed = validator(signer)
    found = {
        name: judged(OAuthBearerServer(signed, BrokerClock()), first_message(make(signer)))
        for name, make in SIGNED.items()
    }
    assert found == of_the_mechanism(SIGNED_OUTCOMES, TOO_LONG[0])


def test_name_and_end_of_an_accepted_token(signer: TokenSigner) -> None:
    accepted = validator(signer).validate(signer.token(sub=" alice ", exp=2_000_000_000.9), now_ms())
    assert accepted.principal_name == "alice"
    assert accepted.expires_ms == 2_000_000_000_000
    by_email = validator(signer, sub__claim__name="email").validate(signer.token(email="a@b", sub=None), now_ms())
    assert by_email.principal_name == "a@b"


def test_before_4_4_any_issuer_will_do_and_no_audience_where_none_is_expected(signer: TokenSigner) -> None:
    no_switches = {"allow__unverified__audience": None, "allow__unverified__issuer": None}
    lenient = validator(signer, expected__issuer="", expected__audience="", **no_switches)
    assert lenient.validate(signer.token(aud=None, iss="anybody"), now_ms())
    assert lenient.validate(signer.token(aud=None, iss=None), now_ms())
    with pytest.raises(TokenRefused, match="another audience"):
        lenient.validate(signer.token(aud="kafka"), now_ms())


def test_4_4_takes_any_audience_and_issuer_only_where_it_is_told_to(signer: TokenSigner) -> None:
    for claim, what in (("audience", 'audience \\("aud"\\)'), ("issuer", 'issuer \\("iss"\\)')):
        with pytest.raises(ConfigError, match=f"so that the token's {what} claim can be verified, but it was not set"):
            validator(signer, **{f"expected__{claim}": ""})
    any_audience = validator(signer, expected__audience="", allow__unverified__audience="true")
    assert any_audience.validate(signer.token(aud="somebody"), now_ms())
    assert any_audience.validate(signer.token(aud=None), now_ms())
    with pytest.raises(TokenRefused, match="another issuer"):
        any_audience.validate(signer.token(iss="anybody"), now_ms())
    any_issuer = validator(signer, expected__issuer="", allow__unverified__issuer="true")
    assert any_issuer.validate(signer.token(iss="anybody"), now_ms())
    named = validator(signer, allow__unverified__audience="true")
    with pytest.raises(TokenRefused, match="another audience"):
        named.validate(signer.token(aud="somebody"), now_ms())


def test_the_skew_counts_in_whole_seconds() -> None:
    claims = {"exp": 1000, "iat": 900, "nbf": 950}
    check_times(claims, 1029, 30)
    check_times(claims, 920, 30)
    for now_s in (1030, 919):
        with pytest.raises(TokenRefused):
            check_times(claims, now_s, 30)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, None),
        ({"exp": None}, "exp and iat are needed"),
        ({"iat": None}, "exp and iat are needed"),
        ({"iat": -1}, "before 1970"),
        ({"iat": 0}, None),
        ({"exp": -1}, "before 1970"),
        ({"exp": 951}, None),
        ({"exp": 950}, "expired"),
        ({"nbf": 950}, None),
        ({"nbf": 951}, "not valid yet"),
        ({"nbf": None}, None),
        ({"iat": 1000}, None),
        ({"iat": 1001}, "expires before it begins"),
    ],
)
def test_a_signed_token_has_its_time(changed: dict[str, Any], why: str | None) -> None:
    claims = {"exp": 1000, "iat": 900, "nbf": 900, **changed}
    with nullcontext() if why is None else pytest.raises(TokenRefused, match=why):
        check_times(claims, 950, 0)


def test_a_token_that_ends_before_it_begins_is_refused_whatever_the_skew() -> None:
    for begins, refused in ((100, False), (101, True)):
        with pytest.raises(TokenRefused, match="before it begins") if refused else nullcontext():
            check_times({"exp": 100, "iat": 90, "nbf": begins}, 99, 60)


def jwk(kid: str | None = None, *, kty: str = "RSA", use: str | None = None, alg: str | None = None) -> Jwk:
    return Jwk(object(), kty, kid, use, alg, None, 2048)


A, B, ELLIPTIC, ENCRYPTING, FOR_512 = (
    jwk("a"),
    jwk("b", use="sig"),
    jwk("a", kty="EC"),
    jwk("a", use="enc"),
    jwk("a", alg="RS512"),
)


@pytest.mark.parametrize(
    ("keys", "head", "chosen"),
    [
        ([A, B], {"alg": "RS256"}, A),
        ([A, B], {"alg": "RS256", "kid": "b"}, B),
        ([A, B], {"alg": "RS256", "kid": "c"}, None),
        ([A, B], {"alg": "RS256", "kid": 1}, None),
        ([A, B], {"alg": "none"}, None),
        ([A, B], {}, None),
        ([ENCRYPTING, ELLIPTIC, A], {"alg": "RS256", "kid": "a"}, A),
        ([ENCRYPTING, ELLIPTIC, A], {"alg": "ES256", "kid": "a"}, ELLIPTIC),
        ([FOR_512, A], {"alg": "RS256"}, A),
        ([FOR_512, A], {"alg": "RS512"}, FOR_512),
        ([FOR_512], {"alg": "RS256"}, FOR_512),
        ([FOR_512, FOR_512], {"alg": "RS256"}, None),
        ([], {"alg": "RS256"}, None),
    ],
)
def test_the_key_of_a_signed_token_is_chosen_as_jose4j_does(
    keys: list[Jwk], head: dict[str, Any], chosen: Jwk | None
) -> None:
    assert choose(keys, head) is chosen


@pytest.mark.parametrize("time_claim", [True, "1", [], 1e400, -1e400])
def test_times_that_are_no_numbers(time_claim: Any) -> None:
    for name in ("exp", "iat", "nbf"):
        with pytest.raises(TokenRefused):
            check_times({"exp": 1000, "iat": 900, name: time_claim}, 950, 0)


@pytest.mark.parametrize("claim", [["a", 5], {"a": 1}, [], "other"])
def test_audiences_that_do_not_fit(claim: Any) -> None:
    with pytest.raises(TokenRefused):
        check_audience(claim, frozenset({"kafka"}))


class Keys:
    """Keys that are simply there."""

    def __init__(self, *keys: dict[str, Any]) -> None:
        self._keys = parse_jwks(json.dumps({"keys": keys}).encode())

    def keys(self) -> Any:
        return self._keys

    async def prepare(self) -> None: ...

    async def missing(self, kid: str) -> None: ...


EXPECTED = Expectations(frozenset({"kafka"}), None, 30, "scope", "sub")


@pytest.mark.parametrize(
    ("alg", "key"),
    [
        ("ES256", ECKey.generate_key("P-256")),
        ("ES384", ECKey.generate_key("P-384")),
        ("ES512", ECKey.generate_key("P-521")),
        ("EdDSA", OKPKey.generate_key("Ed25519")),
        ("HS256", OctKey.generate_key(256)),
        ("HS512", OctKey.generate_key(512)),
    ],
)
@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")  # of the signing in this test
def test_signed_token_with_a_signature_of_another_kind_is_refused(alg: str, key: Any) -> None:
    signed = SignedValidator(Keys(dict(key.as_dict())), EXPECTED)
    token = sign(key, {"alg": alg}, good_claims())
    assert signed.validate(token, now_ms()).principal_name == "alice"
    head, body, signature = token.split(".")
    flipped = ("B" if signature[0] == "A" else "A") + signature[1:]
    with pytest.raises(TokenRefused, match="signature"):
        signed.validate(f"{head}.{body}.{flipped}", now_ms())


def test_a_key_that_is_too_short_or_of_another_curve() -> None:
    short = OctKey.generate_key(256)
    with pytest.raises(TokenRefused, match="too short for HS512"):
        SignedValidator(Keys(dict(short.as_dict())), EXPECTED).validate(
            sign(short, {"alg": "HS512"}, good_claims()), now_ms()
        )
    p256, p384 = ECKey.generate_key("P-256"), ECKey.generate_key("P-384")
    token = sign(p384, {"alg": "ES384"}, good_claims())
    with pytest.raises(TokenRefused, match=r"no key|signature"):
        SignedValidator(Keys(dict(p256.as_dict())), EXPECTED).validate(token, now_ms())


def test_a_token_of_eighty_kilobytes_is_read(signer: TokenSigner) -> None:
    head = {"alg": "RS256", "kid": signer.kid, "x": "h" * 5000}
    token = sign(signer.key, head, good_claims(groups=["group"] * 8000))
    assert len(token) > 80_000
    assert validator(signer).validate(token, now_ms())


def test_tokens_in_tokens_have_an_end(signer: TokenSigner) -> None:
    token = signer.token()
    for _ in range(10):
        token = sign(signer.key, {"alg": "RS256", "kid": signer.kid, "cty": "JWT"}, token.encode())
    with pytest.raises(TokenRefused, match="nested too deeply"):
        validator(signer).validate(token, now_ms())


def test_no_reason_shows_the_token(signer: TokenSigner) -> None:
    signed = validator(signer)
    for name in ("expired", "no sub", "another key", "a changed claim", "empty signature", "unknown kid"):
        token = SIGNED[name](signer)
        with pytest.raises(TokenRefused) as caught:
            signed.validate(token, now_ms())
        shown = repr(caught.value) + caught.value.reason
        assert not any(part and part in shown for part in token.split(".")), name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jwks__endpoint__url": " "}, "set sasl.oauthbearer.jwks.endpoint.url"),
        ({"jwks__endpoint__url": "file:///nowhere/jwks.json"}, "/nowhere/jwks.json cannot be read: No such file"),
        ({"jwks__endpoint__url": "ftp://host/jwks"}, 'only "http", "https", and "file" are supported'),
        ({"jwks__endpoint__url": "http://[half/jwks"}, "malformed"),
        ({"jwt__validator__class": "com.example.Mine"}, "com.example.Mine cannot be loaded"),
        ({"sub__claim__name": " "}, "sub.claim.name value is required"),
    ],
)
def test_what_cannot_be_served_is_refused_at_the_start(
    signer: TokenSigner, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        validator(signer, **changes)


def test_without_joserfc_the_extra_is_named(signer: TokenSigner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "joserfc", None)
    with pytest.raises(ConfigError, match=r"odradek\[oauth\]"):
        validator(signer)


def test_https_trusts_the_login_modules_store(signer: TokenSigner, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.pem"
    rubbish.write_text("nothing")
    https = config(signer, jwks__endpoint__url="https://localhost/jwks")
    with pytest.raises(ConfigError, match="no PEM certificates"):
        signed_validator(https, {"ssl.truststore.location": str(rubbish)}, BrokerClock())
    assert signed_validator(https, {}, BrokerClock())


def test_certificates_for_https_are_taken_as_java_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 and later want them after RFC 5280 to the letter."""
    plain = ssl.create_default_context

    def strict(**trusted: Any) -> ssl.SSLContext:
        context = plain(**trusted)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    context = oauthbearer_signed._tls({})
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_mode is ssl.CERT_REQUIRED
