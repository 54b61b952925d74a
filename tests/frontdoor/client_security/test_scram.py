"""SCRAM, held against the example of RFC 7677, and against brokers that are not to be trusted."""

from __future__ import annotations

import pytest

from odradek.client_security import AuthenticationError
from odradek.client_security.scram import Scram

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


def test_nonces_are_fresh() -> None:
    assert Scram("SCRAM-SHA-256", "a", "b").first() != Scram("SCRAM-SHA-256", "a", "b").first()


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (FIRST.replace(b"r=r", b"r=s"), "nonce"),
        (f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode(), "nonce"),
        (FIRST.replace(b"4096", b"4095"), "4095 iterations"),
        (FIRST.replace(b"4096", b"2000000000"), "2000000000 iterations"),
        (FIRST.replace(b"i=4096", b"i=x"), "0 iterations"),
        (FIRST.replace(b"W22Z", b"%%%%"), "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"nonsense", "cannot be read"),
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
