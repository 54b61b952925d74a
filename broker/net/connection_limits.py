"""How many connections a node takes, and how fast: Kafka's connection quotas.

`max.connections` (of the broker, and of a listener), `max.connection.creation.rate` (likewise) make a new connection
wait; the listener accepts no other one meanwhile. `max.connections.per.ip` closes it. The listener that brokers use
among themselves is protected, if there are others: it does not wait for the broker's limits. A connection of another
listener that was idle for longest is closed for it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import trio

from odradek.broker.config.listener_layout import OVERRIDES, PER_IP, overrides_of
from odradek.broker.security.principal import resolved

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.security.quotas.rate import ConnectionRates

_log = logging.getLogger("odradek.broker.net")

_NO_LIMIT = (1 << 31) - 1
_EVERY = ""


class ConnectionLimits:
    """The connections of one node, counted by listener and address. Owner: the server.

    `listeners`: their names, the protected one first. `close_idlest`: closes connections of the other listeners, those
    that were idle for longest, until so many are being closed.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: BrokerClock,
        node_id: int,
        listeners: Iterable[str],
        close_idlest: Callable[[int], None],
    ) -> None:
        self._config = config
        self._clock = clock
        self._node_id = node_id
        self._listeners = list(listeners)
        self._close_idlest = close_idlest
        self._by_listener: Counter[str] = Counter()
        self._by_address: Counter[str] = Counter()
        self._rates: ConnectionRates | None = None
        self._freed = trio.Event()
        self._overrides: tuple[str, dict[str, int]] = ("", {})
        self._own: dict[tuple[str, str], int] = {}

    def listen_on(self, listeners: Iterable[str]) -> None:
        """The node has these listeners from now on, the protected one first."""
        self._listeners = list(listeners)

    @property
    def count(self) -> int:
        """The connections that the node has."""
        return self._by_listener.total()

    def is_protected(self, listener: str) -> bool:
        """Whether a listener's connections go before those of the others."""
        return len(self._listeners) > 1 and listener == self._listeners[0]

    async def wait_for_room(self, listener: str) -> None:
        """Wait until a new connection may be served."""
        await self._wait_for_rate(listener)
        while not self._has_room(listener):
            await self._freed.wait()

    def forget_rates(self) -> None:
        """The connections so far count for no rate: the clock shows another time."""
        self._rates = None

    def take_back(self, listener: str) -> None:
        """A connection that had room is turned away for another reason: it counts for no rate."""
        if self._rates is not None:
            now_ms = self._clock.now_ms()
            self._rates.take_back(listener, now_ms)
            if not self.is_protected(listener):
                self._rates.take_back(_EVERY, now_ms)

    def enter(self, listener: str, address: str) -> bool:
        """Count a connection that has room; False: it is one too many of its address, and counts not."""
        most = self._most_of(address)
        if self._by_address[address] >= most:
            text = "Rejected connection from %s, address already has the configured maximum of %d connections."
            _log.info(text, address, most)
            return False
        self._by_listener[listener] += 1
        self._by_address[address] += 1
        self._trim()
        return True

    def leave(self, listener: str, address: str) -> None:
        """A connection that entered is closed."""
        self._by_listener[listener] -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
        self._wake()

    def changed(self) -> None:
        """The configuration is another one: check again which connections may enter, and which have to go."""
        self._own.clear()
        self._wake()
        self._trim()

    def _wake(self) -> None:
        freed, self._freed = self._freed, trio.Event()
        freed.set()

    def _trim(self) -> None:
        excess = self.count - self._config.get_int("max.connections", self._node_id)
        if excess > 0:
            self._close_idlest(excess)

    def _has_room(self, listener: str) -> bool:
        own = self._own_limit(listener, "max.connections")
        if self._by_listener[listener] >= own:
            return False
        return self.is_protected(listener) or self.count < self._config.get_int("max.connections", self._node_id)

    def _own_limit(self, listener: str, key: str) -> int:
        """A listener's own limit, kept until the configuration changes: it is asked for with each connection."""
        limit = self._own.get((listener, key))
        if limit is None:
            limit = self._own[listener, key] = self._config.for_listener(listener, self._node_id).get_int(key)
        return limit

    def _most_of(self, address: str) -> int:
        text = self._config.get_str(OVERRIDES, self._node_id)
        if text != self._overrides[0]:
            self._overrides = text, _by_address(overrides_of(text))
        most = self._overrides[1].get(address)
        return self._config.get_int(PER_IP, self._node_id) if most is None else most

    async def _wait_for_rate(self, listener: str) -> None:
        """The connection counts at once, and waits until the rate has come down."""
        config, node_id = self._config, self._node_id
        own = self._own_limit(listener, "max.connection.creation.rate")
        of_all = config.get_int("max.connection.creation.rate", node_id)
        if self._rates is None:
            if own == of_all == _NO_LIMIT:
                return
            from odradek.broker.security.quotas.rate import ConnectionRates

            self._rates = ConnectionRates(config)
        now_ms = self._clock.now_ms()
        delay_ms = self._rates.arrived(listener, own, now_ms)
        if not self.is_protected(listener):
            delay_ms = max(delay_ms, self._rates.arrived(_EVERY, of_all, now_ms))
        if delay_ms > 0:
            _log.debug("a new connection of %s waits for %d ms", listener, delay_ms)
            await self._clock.sleep_until_ms(now_ms + delay_ms)


def _by_address(hosts: dict[str, int]) -> dict[str, int]:
    """The counts by address; a name that nobody resolves counts for nobody."""
    found = {}
    for host, most in hosts.items():
        try:
            found[resolved(host)] = most
        except OSError as error:
            _log.warning("%s: %s counts for nobody: %s", OVERRIDES, host, error.strerror)
    return found
