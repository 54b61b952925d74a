"""Patterns that select clients. That they are as Kafka's is in the conversations of test_telemetry."""

from __future__ import annotations

import pytest

from odradek.broker.config.client_selectors import IllegalSelectorError, matches, parse_selectors

CLIENT = {"client_id": "orders-1", "client_software_name": "rdkafka", "client_source_port": None}


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], True),
        (["client_id=orders-\\d"], True),
        (["client_id=orders"], False),
        (["client_id=.*", "client_software_name=java"], False),
        (["client_id=nobody", "client_id=orders.*"], True),
        (["client_source_port=.*"], False),
        (["client_software_version=.*"], False),
        ([" client_id = orders-1 "], True),
        (["client_id=orders-1="], True),
    ],
)
def test_matching(patterns: list[str], expected: bool) -> None:
    assert matches(parse_selectors(patterns), CLIENT) is expected


@pytest.mark.parametrize(
    "pattern", ["client_id", "client_id=", "client_id=a=b", "=a", "=", "", "host=a", "client_id=["]
)
def test_illegal_patterns(pattern: str) -> None:
    with pytest.raises(IllegalSelectorError, match=r"^Illegal client matching pattern: "):
        parse_selectors([pattern])
