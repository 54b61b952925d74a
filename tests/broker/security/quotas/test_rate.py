"""The window of a rate where it begins and after pauses; a bucket's level. Figures by hand."""

from __future__ import annotations

from math import inf, nan

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.security.quotas.rate import ConnectionRates, Rate, TokenBucket, Window, refill_ms, throttle_ms

WINDOW = Window(11, 1000)
NOW_MS = 1_700_000_000_000


def test_a_window_that_begins_counts_as_if_it_was_full() -> None:
    rate = Rate()
    rate.record(WINDOW, 50_000.0, NOW_MS)
    assert rate.width_ms(WINDOW, NOW_MS) == 10_000
    assert rate.measure(WINDOW, NOW_MS) == 5_000.0
    assert rate.measure(WINDOW, NOW_MS + 600) == 50_000 / 10.6


def test_a_sample_counts_until_its_last_record_is_a_window_old() -> None:
    rate = Rate()
    rate.record(WINDOW, 100.0, NOW_MS)
    rate.record(WINDOW, 100.0, NOW_MS + 900)
    assert rate.measure(WINDOW, NOW_MS + 11_899) == 200 / 11.899
    assert rate.measure(WINDOW, NOW_MS + 11_900) == 0.0
    assert rate.width_ms(WINDOW, NOW_MS + 11_900) == 10_000, "an obsolete sample begins anew"


def test_one_sample_more_than_the_window_has_is_kept() -> None:
    rate = Rate()
    for second in range(40):
        rate.record(Window(2, 1000), 1.0, NOW_MS + second * 1000)
    assert rate.measure(Window(2, 1000), NOW_MS + 39_000) == 2.0 / 1.0


def test_a_window_of_one_sample_is_never_of_no_length() -> None:
    rate = Rate()
    rate.record(Window(1, 1000), 1.0, NOW_MS)
    assert rate.width_ms(Window(1, 1000), NOW_MS) == 1


def test_a_bucket_begins_full_and_fills_at_the_rate_of_its_quota() -> None:
    bucket = TokenBucket()
    assert bucket.level(WINDOW, 2.0, NOW_MS) == 22.0
    bucket.take(WINDOW, 2.0, 30.0, NOW_MS)
    assert bucket.level(WINDOW, 2.0, NOW_MS) == -8.0
    assert bucket.level(WINDOW, 2.0, NOW_MS + 1500) == -5.0
    assert bucket.level(WINDOW, 2.0, NOW_MS + 60_000) == 22.0


@pytest.mark.parametrize(
    ("rate", "quota", "expected"),
    [(150.0, 100.0, 5_000), (100.00005, 100.0, 0), (100.006, 100.0, 1), (1e9, 1.0, 1_316_124_912), (inf, 1.0, -1)],
)
def test_throttle_time_is_an_int_of_java(rate: float, quota: float, expected: int) -> None:
    assert throttle_ms(rate, quota, 10_000) == expected


def test_throttle_time_has_a_limit_where_there_is_one() -> None:
    assert throttle_ms(1e9, 1.0, 10_000, 1000) == 1000
    assert throttle_ms(1.0, nan, 10_000) == 0
    assert refill_ms(-5.0, 2.0) == 2500


# -- How long a connection waits that came too fast; the arithmetic of rates is in tests/broker/security/quotas.


def test_each_name_has_its_rate() -> None:
    rates = ConnectionRates(BrokerConfig())
    assert [rates.arrived("A", 1, 1000) for _ in range(10)] == [0] * 10
    # 11 in 10 seconds are 0.1 above the limit: 0.1 / 1 * 10 s.
    assert rates.arrived("A", 1, 1000) == 1000
    assert rates.arrived("B", 1, 1000) == 0
    assert rates.arrived("A", 0, 1000) == 1000


def test_what_did_not_come_in_does_not_count() -> None:
    rates = ConnectionRates(BrokerConfig())
    for _ in range(50):
        assert rates.arrived("A", 1, 1000) == 0
        rates.take_back("A", 1000)


def test_rate_window_is_as_configured() -> None:
    rates = ConnectionRates(BrokerConfig({"quota.window.num": "2", "quota.window.size.seconds": "3"}))
    assert [rates.arrived("A", 1, 0) for _ in range(4)] == [0, 0, 0, 1000]
