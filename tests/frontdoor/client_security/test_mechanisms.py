"""Each mechanism is made from its options."""

from __future__ import annotations

from odradek.client_security.mechanisms import mechanism_for
from odradek.client_security.options import ClientSecurity, SaslOptions


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
