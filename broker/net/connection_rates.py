"""How fast new connections come to a node: as a whole, and to each of its listeners."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from odradek.broker.security.quotas.rate import Rate, Window, throttle_ms

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig


class ConnectionRates:
    """Rates by listener (and by the empty name, of all of them), over the window of the quotas. Made when
    the first limit is set: nobody counts before.
    """

    def __init__(self, config: BrokerConfig) -> None:
        seconds = config.get_int("quota.window.size.seconds")
        self._window = Window(config.get_int("quota.window.num"), seconds * 1000)
        self._rates: defaultdict[str, Rate] = defaultdict(Rate)

    def arrived(self, name: str, limit: int, now_ms: int) -> int:
        """Count a connection; how long it waits for the rate to come down to the limit, a sample's time at most."""
        rate, window = self._rates[name], self._window
        rate.record(window, 1, now_ms)
        value = rate.measure(window, now_ms)
        if value <= limit:
            return 0
        return throttle_ms(value, limit, rate.width_ms(window, now_ms), window.sample_ms) if limit else window.sample_ms

    def take_back(self, name: str, now_ms: int) -> None:
        """A connection that was counted did not come in after all."""
        self._rates[name].record(self._window, -1, now_ms)
