"""The parts of a token, and unsigned tokens."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.bearer_tokens import (
    TokenRefused,
    UnsecuredValidator,
    base64_url,
    is_too_deep,
    json_object,
)
from odradek.broker.security.sasl.oauthbearer import OAuthBearerServer
from tests.broker.security.sasl.token_server import TOO_LONG, judged, of_the_mechanism
from tests.scenarios.secured_listeners import without_signature
from tests.scenarios.token_cases import UNSECURED, UNSECURED_OUTCOMES, first_message

NOW_MS = 1_700_000_000_000
LOGIN = {"unsecuredLoginStringClaim_sub": "broker"}


def test_base64_without_its_padding() -> None:
    assert base64_url("") == b""
    assert base64_url("_-8") == b"\xff\xef"


@pytest.mark.parametrize("text", ["a", "abcde", "ab==", "a+b/", "ab~c", "ab c", "ä"])
def test_bearer_token_that_is_no_base64url_is_refused(text: str) -> None:
    with pytest.raises(TokenRefused):
        base64_url(text)


def test_bearer_token_parts_are_json_objects() -> None:
    assert json_object(b'{"a": [1.5, null]}', repeats=False) == {"a": [1.5, None]}
    assert json_object(b'{"a": 1, "a": 2}', repeats=True) == {"a": 2}
    for other in (b"[]", b"null", b"1", b'"a"'):
        assert json_object(other, repeats=False) is None


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"{} tail", b"\xff", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 100_000, b'{"a": {"b": 1, "b": 2}}'],
)
def test_bearer_token_that_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(TokenRefused):
        json_object(data, repeats=False)


def nested(depth: int) -> dict[str, object]:
    """An object in which lists are nested, with a number in the innermost."""
    inner: object = 1
    for _ in range(depth - 1):
        inner = [inner]
    return {"a": inner}


@pytest.mark.parametrize(("depth", "refused"), [(1, False), (1000, False), (1001, True)])
def test_bearer_token_nests_a_thousand_levels_as_in_java(depth: int, refused: bool) -> None:
    assert is_too_deep(nested(depth)) is refused
    assert is_too_deep([nested(depth - 1)]) is refused


# -- unsigned tokens


def token(**claims: object) -> str:
    return without_signature(json.dumps(claims).encode())


def test_unsecured_tokens_are_accepted_or_refused_as_recorded() -> None:
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


@pytest.mark.parametrize(("issued", "taken"), [(-1, True), (0, False), (1, False)])
def test_an_unsecured_token_ends_behind_its_issue(issued: int, taken: bool) -> None:
    end = NOW_MS / 1000 + 10
    lenient = UnsecuredValidator({**LOGIN, "unsecuredValidatorAllowableClockSkewMs": "60000"})
    with nullcontext() if taken else pytest.raises(TokenRefused, match="before it was issued"):
        lenient.validate(token(sub="a", exp=end, iat=end + issued), NOW_MS)


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
