"""How long a connection waits that came too fast; the arithmetic of rates is in tests/broker/security/quotas."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.net.connection_rates import ConnectionRates


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


def test_a_window_as_configured() -> None:
    rates = ConnectionRates(BrokerConfig({"quota.window.num": "2", "quota.window.size.seconds": "3"}))
    assert [rates.arrived("A", 1, 0) for _ in range(4)] == [0, 0, 0, 1000]
