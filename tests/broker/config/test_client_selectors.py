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
def test_a_client_metrics_selector_matches_clients(patterns: list[str], expected: bool) -> None:
    assert matches(parse_selectors(patterns), CLIENT) is expected


@pytest.mark.parametrize(
    "pattern", ["client_id", "client_id=", "client_id=a=b", "=a", "=", "", "host=a", "client_id=["]
)
def test_a_client_metrics_selector_with_an_illegal_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(IllegalSelectorError, match=r"^Illegal client matching pattern: "):
        parse_selectors([pattern])


def test_a_pattern_that_backtracks_keeps_nobody_waiting() -> None:
    pytest.importorskip("re2")
    selectors = parse_selectors(["client_id=(a+)+b", "client_software_name=(x*)*(x|xx)*y"])
    assert not matches(selectors, {"client_id": "a" * 30_000, "client_software_name": "x" * 30_000})
    assert not matches(selectors, {"client_id": "aab", "client_software_name": "x" * 30_000})
    assert matches(selectors, {"client_id": "aab", "client_software_name": "xxy"})
    with pytest.raises(IllegalSelectorError):
        parse_selectors([r"client_id=(a)\1"])
