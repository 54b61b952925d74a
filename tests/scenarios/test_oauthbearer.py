"""Log-ins with OAUTHBEARER: every odd token and message, and keys that change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
from joserfc.jwk import RSAKey

from tests.scenarios.authority import TokenSigner
from tests.scenarios.secured_listeners import Secured
from tests.scenarios.target import wait_until
from tests.scenarios.token_cases import (
    ACCEPTED,
    INVALID,
    INVALID_TOKEN,
    MESSAGE_OUTCOMES,
    MESSAGES,
    REFUSED,
    SIGNED,
    SIGNED_OUTCOMES,
    UNSECURED,
    UNSECURED_OUTCOMES,
    ask,
    claims,
    first_message,
    good_claims,
    outcome,
    sign,
)


def test_tokens_without_a_signature(secured: Secured) -> None:
    assert {
        name: outcome(secured, "OAUTH", first_message(token())) for name, token in UNSECURED.items()
    } == UNSECURED_OUTCOMES


def test_signed_tokens_are_accepted_or_refused_as_listed(secured: Secured) -> None:
    assert {
        name: outcome(secured, "SIGNED", first_message(token(secured.signer))) for name, token in SIGNED.items()
    } == SIGNED_OUTCOMES


def test_oauthbearer_messages_are_answered_as_listed(secured: Secured) -> None:
    assert {
        name: outcome(secured, "OAUTH", message(claims())) for name, message in MESSAGES.items()
    } == MESSAGE_OUTCOMES


def test_a_refused_client_may_try_another_token_or_give_up(secured: Secured) -> None:
    bad = first_message("a.b.c")
    assert ask(secured, "OAUTH", bad, first_message(claims())) == [INVALID_TOKEN, ACCEPTED]
    assert ask(secured, "OAUTH", bad, b"\x02") == [INVALID_TOKEN, INVALID]


def test_a_required_scope(secured: Secured) -> None:
    scope = '{"status":"insufficient_scope", "scope":"[read, write]"}'
    assert ask(secured, "SCOPED", first_message(claims(scope=["write"])), b"\x01") == [scope, scope]
    assert ask(secured, "SCOPED", first_message(claims(scope="read write"))) == [scope]
    assert ask(secured, "SCOPED", first_message(claims(scope=["read", " write ", "more"]))) == [ACCEPTED]


@pytest.fixture
def other(secured: Secured) -> Iterator[TokenSigner]:
    """A signer that the broker does not know; the broker's own keys are as before when the test ends."""
    before = secured.signer.jwks.read_text()
    yield TokenSigner(secured.signer.folder, kid="second")
    replace(secured, before)


def replace(secured: Secured, text: str) -> None:
    """Write the file of keys with a time that nobody has seen."""
    before = secured.signer.jwks.stat().st_mtime
    secured.signer.jwks.write_text(text)
    os.utime(secured.signer.jwks, (before + 2, before + 2))


def test_a_file_of_keys_is_read_again_when_it_changes(secured: Secured, other: TokenSigner) -> None:
    assert outcome(secured, "SIGNED", first_message(other.token())) == REFUSED
    replace(secured, other.key_set())
    assert outcome(secured, "SIGNED", first_message(other.token())) == ACCEPTED
    assert outcome(secured, "SIGNED", first_message(secured.signer.token())) == REFUSED


def test_keys_from_a_server_are_fetched_for_a_key_id_that_nobody_knows(secured: Secured, other: TokenSigner) -> None:
    assert outcome(secured, "FETCHED", first_message(secured.signer.token())) == ACCEPTED
    replace(secured, other.key_set())
    assert ask(secured, "FETCHED", first_message(other.token())) == [INVALID_TOKEN]
    wait_until("the new key", lambda: ask(secured, "FETCHED", first_message(other.token())) == [ACCEPTED])
    assert ask(secured, "FETCHED", first_message(secured.signer.token())) == [INVALID_TOKEN]


def test_which_of_two_keys_is_meant(secured: Secured, other: TokenSigner) -> None:
    """The key id decides; of several, those of another algorithm are left out, and the first of the rest is taken."""
    found = {}
    for name, first, second in (
        ("nothing tells", {}, {}),
        ("the use tells", {}, {"use": "sig"}),
        ("the first is for encryption", {"use": "enc"}, {}),
        ("the algorithm tells", {"alg": "PS256"}, {"alg": "RS256"}),
        ("only the first has an algorithm", {"alg": "RS256"}, {}),
        ("only the second has one", {}, {"alg": "RS256"}),
        ("the second has another one", {}, {"alg": "PS256"}),
        ("both have another one", {"alg": "PS256"}, {"alg": "PS256"}),
        ("only the second is not for another one", {"alg": "PS256"}, {}),
        ("the same id", {"kid": "x"}, {"kid": "x"}),
    ):
        keys = [_public(signer.key) | marks for signer, marks in ((other, first), (secured.signer, second))]
        replace(secured, json.dumps({"keys": keys}))
        token = sign(secured.signer.key, {"alg": "RS256"}, good_claims())
        found[name] = outcome(secured, "SIGNED", first_message(token))
    assert found == {
        "nothing tells": REFUSED,
        "the use tells": REFUSED,
        "the first is for encryption": ACCEPTED,
        "the algorithm tells": ACCEPTED,
        "only the first has an algorithm": REFUSED,
        "only the second has one": REFUSED,
        "the second has another one": REFUSED,
        "both have another one": REFUSED,
        "only the second is not for another one": ACCEPTED,
        "the same id": REFUSED,
    }


def _public(key: RSAKey) -> dict[str, str]:
    """A public key without a word about its use."""
    return {name: str(value) for name, value in key.as_dict(private=False).items() if name in ("kty", "n", "e")}
