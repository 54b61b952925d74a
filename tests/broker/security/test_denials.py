"""What was refused is kept, and logged."""

from __future__ import annotations

import logging

import pytest

from odradek.broker.security.denials import Denial, Denials


def denial(when_ms: int, reason: str = "") -> Denial:
    return Denial(when_ms, "User:alice", "10.0.0.7", "READ", "TOPIC", "orders", "Fetch", "PLAINTEXT", reason)


def test_denial_as_text_names_user_operation_and_resource() -> None:
    assert str(denial(1)) == "User:alice at 10.0.0.7 was denied READ on TOPIC orders for Fetch (PLAINTEXT)"
    assert str(denial(1, "why")).endswith("(PLAINTEXT): why")


def test_denials_keep_the_newest() -> None:
    denials = Denials()
    for when_ms in range(1500):
        denials.add(denial(when_ms))
    assert [entry.when_ms for entry in denials.entries] == list(range(500, 1500))


def test_each_is_logged_at_info(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "odradek.broker.security.authorizer"):
        Denials().add(denial(1))
    assert [record.getMessage() for record in caplog.records] == [str(denial(1))]


def test_a_name_of_half_a_megabyte_is_not_kept() -> None:
    denials = Denials()
    huge = "x" * 500_000
    for number in range(3):
        denials.add(Denial(number, huge, "h", "READ", "GROUP", huge, "Fetch", "L", huge))
    (_, _, last) = denials.entries
    assert len(str(last)) < 4000
    assert last.principal == "x" * 1000 + "... (500000 characters)"
