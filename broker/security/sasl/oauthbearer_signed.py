"""Validates signed tokens like Kafka's BrokerJwtValidator: by the keys of a JWKS and the claims in the configuration.

joserfc (`odradek[oauth]`) checks the signature. This module chooses the key and checks the claims, as Kafka does.
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.bearer_tokens import (
    BearerToken,
    TokenRefused,
    TokenValidator,
    base64_url,
    json_object,
)
from odradek.broker.security.sasl.jwks import Jwk, KeySource, Pace, key_source
from odradek.broker.security.sasl.server import MalformedToken

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.listeners import ListenerConfig

_PACKAGE = "org.apache.kafka.common.security.oauthbearer"
_VALIDATORS = (f"{_PACKAGE}.DefaultJwtValidator", f"{_PACKAGE}.BrokerJwtValidator")
_URL = "sasl.oauthbearer.jwks.endpoint.url"
_MOST_NESTED = 4
_LATEST_MS = 2**63 - 1
_FAMILIES = {"RS": "RSA", "PS": "RSA", "ES": "EC", "HS": "oct", "Ed": "OKP"}
_ALGORITHMS = (
    *(f"{family}{size}" for family in ("RS", "PS", "ES", "HS") for size in (256, 384, 512)),
    "EdDSA",
)


class Expectations(NamedTuple):
    """The required claims. With an empty audience a token must not name one; None takes any."""

    audiences: frozenset[str] | None
    issuer: str | None
    skew_s: int
    scope_claim: str
    sub_claim: str


def signed_validator(config: ListenerConfig, options: Mapping[str, str], clock: BrokerClock) -> SignedValidator:
    """The validator of a mechanism's configuration; ConfigError if odradek cannot serve it. `options`: the login
    module's.
    """
    _need_joserfc()
    validator = config.get_text("sasl.oauthbearer.jwt.validator.class")
    if validator not in _VALIDATORS:
        raise ConfigError(f"sasl.oauthbearer.jwt.validator.class: {validator} cannot be loaded: odradek runs no Java")
    url = (config.get_text(_URL) or "").strip()
    if not url:
        raise ConfigError(f"tokens are checked by the keys of a JWKS: set {_URL}")
    pace = Pace(
        config.get_int("sasl.oauthbearer.jwks.endpoint.refresh.ms"),
        config.get_int("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms"),
        config.get_int("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms"),
    )
    expected = Expectations(
        _audiences(config),
        _issuer(config),
        config.get_int("sasl.oauthbearer.clock.skew.seconds"),
        _claim_name(config, "sasl.oauthbearer.scope.claim.name"),
        _claim_name(config, "sasl.oauthbearer.sub.claim.name"),
    )
    return SignedValidator(key_source(url, pace, clock, lambda: _tls(options)), expected)


def _audiences(config: ListenerConfig) -> frozenset[str] | None:
    """The audiences of which a token has to name one; None where any will do."""
    key, switch = "sasl.oauthbearer.expected.audience", "sasl.oauthbearer.allow.unverified.audience"
    audiences, any_will_do = frozenset(config.get_list(key)), config.switch(switch)
    if not audiences and any_will_do is False:
        raise ConfigError(
            f'The OAuth validator for the broker requires "{key}" to be configured so that the token\'s audience '
            f'("aud") claim can be verified, but it was not set. Set "{key}" to the audience(s) that identify this '
            f'cluster, or set "{switch}" to true to accept tokens regardless of their audience.'
        )
    return None if not audiences and any_will_do else audiences


def _issuer(config: ListenerConfig) -> str | None:
    """The issuer that a token has to name; None where any will do."""
    key, switch = "sasl.oauthbearer.expected.issuer", "sasl.oauthbearer.allow.unverified.issuer"
    issuer = (config.get_text(key) or "").strip()
    if not issuer and config.switch(switch) is False:
        raise ConfigError(
            f'The OAuth validator for the broker requires "{key}" to be configured so that the token\'s issuer ("iss") '
            f'claim can be verified, but it was not set. Set "{key}" to the issuer URL of the OAuth/OIDC provider that '
            f'signs the tokens, or set "{switch}" to true to accept tokens regardless of their issuer.'
        )
    return issuer or None


def _need_joserfc() -> None:
    try:
        import joserfc  # noqa: F401
    except ImportError:
        raise ConfigError("signed OAUTHBEARER tokens need a package: pip install 'odradek[oauth]'") from None


def _claim_name(config: ListenerConfig, key: str) -> str:
    name = (config.get_text(key) or "").strip()
    if not name:
        raise ConfigError(f"The OAuth configuration option {key} value is required")
    return name


def _tls(options: Mapping[str, str]) -> ssl.SSLContext:
    """The trusted certificates for https: the login module's `ssl.truststore.*` as PEM, or else the system's
    authorities.
    """
    location, text = options.get("ssl.truststore.location"), options.get("ssl.truststore.certificates")
    try:
        context = ssl.create_default_context(cafile=location, cadata=text)
    except (OSError, ValueError):
        raise ConfigError("ssl.truststore of the OAUTHBEARER login module: no PEM certificates") from None
    # Java accepts certificates that do not fully conform to RFC 5280 (no key identifiers). From 3.13 on Python does
    # not.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


class SignedValidator(TokenValidator):
    """Checks tokens by the keys of a source."""

    waits = True

    def __init__(self, source: KeySource, expected: Expectations) -> None:
        self._source, self._expected = source, expected

    async def prepare(self) -> None:
        await self._source.prepare()

    async def missing(self, key_id: str) -> None:
        await self._source.missing(key_id)

    def validate(self, token: str, now_ms: int) -> BearerToken:
        for _ in range(_MOST_NESTED):
            token, head, body = _opened(token)
            verify(token, head, choose(self._source.keys(), head))
            if str(head.get("cty", "")).upper() != "JWT":
                return self._accepted(body, now_ms // 1000)
            token = body.decode("ascii", "replace")
        raise TokenRefused("nested too deeply")

    def _accepted(self, body: bytes, now_s: int) -> BearerToken:
        claims = json_object(body, repeats=False)
        if claims is None:
            raise TokenRefused("the claims are not an object")
        check_times(claims, now_s, self._expected.skew_s)
        self._check_names(claims)
        check_scope(claims.get(self._expected.scope_claim))
        subject = claims.get(self._expected.sub_claim)
        if not isinstance(subject, str) or not subject.strip():
            raise TokenRefused(f"no subject in the claim {self._expected.sub_claim}")
        return BearerToken(subject.strip(), min(_LATEST_MS, 1000 * int(claims["exp"])))

    def _check_names(self, claims: Mapping[str, Any]) -> None:
        for name in ("iss", "sub", "jti"):
            if not isinstance(claims.get(name), str | None):
                raise TokenRefused(f"the claim {name} is not text")
        if self._expected.issuer is not None and claims.get("iss") != self._expected.issuer:
            raise TokenRefused("another issuer")
        check_audience(claims.get("aud"), self._expected.audiences)


# --- the signature ----------------------------------------------------------------------------------------------------


def _opened(token: str) -> tuple[str, dict[str, Any], bytes]:
    """The stripped token, its head and its claims. This verifies nothing."""
    parts = token.split(".")
    if len(parts) != 3 or not all(parts):
        raise TokenRefused("not three parts: head, claims, signature")
    header = json_object(base64_url(parts[0]), repeats=False)
    if header is None:
        raise TokenRefused("the head is not an object")
    return token, header, base64_url(parts[1])


def choose(keys: Sequence[Jwk], head: Mapping[str, Any]) -> Jwk | None:
    """The key for a token's head, chosen as jose4j does; None if there is none."""
    alg, kid = head.get("alg"), head.get("kid")
    if alg not in _ALGORITHMS or not isinstance(kid, str | None):
        return None
    fitting = [
        key
        for key in keys
        if key.kty == _FAMILIES[alg[:2]] and key.use in (None, "sig") and (kid is None or key.kid == kid)
    ]
    if len(fitting) > 1:
        fitting = [key for key in fitting if key.alg in (None, alg)]
    return fitting[0] if fitting else None


def verify(token: str, head: Mapping[str, Any], key: Jwk | None) -> None:
    """TokenRefused unless the key made the signature. `alg` names a signature: `none` is never accepted."""
    from joserfc.errors import JoseError
    from joserfc.jws import JWSRegistry

    if key is None:
        kid = head.get("kid")
        reason = f"no key for alg {str(head.get('alg'))[:100]!r}, kid {str(kid)[:100]!r}"
        raise TokenRefused(reason, key_id=kid if isinstance(kid, str) else None)
    alg = head["alg"]
    if alg.startswith("HS") and key.bits < int(alg[2:]):
        raise TokenRefused(f"the key is too short for {alg}")
    if "crit" in head:
        raise TokenRefused("critical extensions are not known")
    signed, _, signature = token.rpartition(".")
    algorithm = JWSRegistry.algorithms[alg]
    try:
        algorithm.check_key(key.key)
        good = algorithm.verify(signed.encode(), base64_url(signature), key.key)
    except (JoseError, ValueError, TypeError) as error:
        raise TokenRefused(f"signature: {type(error).__name__}") from None
    if not good:
        raise TokenRefused("signature: made by another key, or for other claims")


# --- the claims -------------------------------------------------------------------------------------------------------


def check_times(claims: Mapping[str, Any], now_s: int, skew_s: int) -> None:
    """TokenRefused if a time is missing or malformed, or if the token is not valid now. An `iat` in the future is
    accepted.
    """
    times = {name: _time(claims, name) for name in ("exp", "nbf", "iat")}
    expires, begins, issued = times["exp"], times["nbf"], times["iat"]
    if expires is None or issued is None:
        raise TokenRefused("exp and iat are needed")
    if expires < 0 or issued < 0:
        raise TokenRefused("a time before 1970")
    if now_s - skew_s >= expires:
        raise TokenRefused("expired")
    if begins is not None and now_s + skew_s < begins:
        raise TokenRefused("not valid yet")
    if expires < issued or (begins is not None and expires < begins):
        raise TokenRefused("expires before it begins")


def _time(claims: Mapping[str, Any], name: str) -> int | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value in (math.inf, -math.inf):
        raise TokenRefused(f"the claim {name} is not a number")
    return int(value)


def check_audience(claim: Any, expected: frozenset[str] | None) -> None:
    """TokenRefused unless the token names an expected audience, or names none where none is expected.

    None expects nothing.
    """
    named = [claim] if isinstance(claim, str) else claim
    if named is not None and not (isinstance(named, list) and all(isinstance(name, str) for name in named)):
        raise TokenRefused("the claim aud is neither text nor a list of texts")
    if expected is not None and (named is not None or expected) and not expected.intersection(named or ()):
        raise TokenRefused("another audience")


def check_scope(claim: Any) -> None:
    """TokenRefused for blank and repeated scopes. A value that is neither text nor a list counts as no scope."""
    scopes = [claim] if isinstance(claim, str) else claim if isinstance(claim, list) else []
    seen: set[str] = set()
    for scope in scopes:
        if scope is not None and not isinstance(scope, str):
            raise MalformedToken("a scope is not text")
        if scope is None or not scope.strip() or scope.strip() in seen:
            raise TokenRefused("a scope is blank or comes twice")
        seen.add(scope.strip())
