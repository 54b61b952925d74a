"""Tokens without a signature; the outcomes are those of a real Kafka (tests/scenarios/test_oauthbearer.py asks it)."""

from __future__ import annotations

import json

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.bearer_tokens import TokenRefused
from odradek.broker.security.sasl.oauthbearer import OAuthBearerServer
from odradek.broker.security.sasl.oauthbearer_unsecured import UnsecuredValidator
from tests.broker.security.sasl.token_server import TOO_LONG, judged, of_the_mechanism
from tests.scenarios.secured_listeners import without_signature
from tests.scenarios.token_cases import UNSECURED, UNSECURED_OUTCOMES, first_message

NOW_MS = 1_700_000_000_000
LOGIN = {"unsecuredLoginStringClaim_sub": "broker"}


def token(**claims: object) -> str:
    return without_signature(json.dumps(claims).encode())


def test_each_token_meets_its_fate() -> None:
    validator = UnsecuredValidator({})
    found = {
        name: judged(OAuthBearerServer(validator, BrokerClock()), first_message(make()))
        for name, make in UNSECURED.items()
    }
    assert found == of_the_mechanism(UNSECURED_OUTCOMES, *TOO_LONG)


def test_name_and_end_of_an_accepted_token() -> None:
    accepted = UnsecuredValidator({}).validate(token(sub=" alice ", exp=NOW_MS / 1000 + 0.0015), NOW_MS)
    assert accepted.principal_name == " alice "
    assert accepted.expires_ms == NOW_MS + 2
    endless = UnsecuredValidator({}).validate(token(sub="a", exp=10**400), NOW_MS)
    assert endless.expires_ms == 2**63 - 1


def test_times_count_to_the_millisecond_and_within_the_skew() -> None:
    exact = UnsecuredValidator({})
    now_s = NOW_MS / 1000
    assert exact.validate(token(sub="a", exp=now_s + 0.001, iat=now_s), NOW_MS)
    for claims in ({"exp": now_s}, {"exp": now_s + 9, "iat": now_s + 0.001}):
        with pytest.raises(TokenRefused):
            exact.validate(token(sub="a", **claims), NOW_MS)
        lenient = UnsecuredValidator({**LOGIN, "unsecuredValidatorAllowableClockSkewMs": "2"})
        assert lenient.validate(token(sub="a", **claims), NOW_MS)


def test_claims_by_other_names_and_a_required_scope() -> None:
    options = {
        **LOGIN,
        "unsecuredValidatorPrincipalClaimName": "name",
        "unsecuredValidatorScopeClaimName": "roles",
        "unsecuredValidatorRequiredScope": " read  write ",
    }
    validator = UnsecuredValidator(options)
    good = token(name="bob", roles=[" write", "read", ""], exp=NOW_MS)
    assert validator.validate(good, NOW_MS).principal_name == "bob"
    with pytest.raises(TokenRefused) as caught:
        validator.validate(token(name="bob", roles="read write", exp=NOW_MS), NOW_MS)
    assert caught.value.scope == "[read, write]"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**LOGIN, "unsecuredValidatorAllowableClockSkewMs": "-1"}, "must not be negative"),
        ({**LOGIN, "unsecuredValidatorAllowableClockSkewMs": "1s"}, 'For input string: "1s"'),
        ({**LOGIN, "unsecuredValidatorRequiredScope": 'a"b'}, "Invalid scope value"),
        ({"unsecuredValidatorRequiredScope": "a"}, "unsecuredLoginStringClaim_sub, the broker's own name"),
    ],
)
def test_options_that_cannot_be_meant(options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        UnsecuredValidator(options)
