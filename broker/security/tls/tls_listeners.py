"""All TLS listeners of a cluster. Binding opens them, and changed configs reach them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from odradek.broker.security.tls.listener_tls import ListenerTls

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.listeners import Listener


class TlsListeners:
    """A `Reconfigurable` of the broker's configuration. Owner: the cluster."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._open: dict[tuple[int, str], ListenerTls] = {}

    def open(self, node_id: int, listener: Listener, *, between_brokers: bool) -> ListenerTls:
        """Open the stores of a listener; ConfigError if they cannot be used."""
        config = self._config.for_listener(listener.name, node_id)
        opened = ListenerTls(config, listener.protocol, between_brokers=between_brokers)
        self._open[node_id, listener.name] = opened
        return opened

    def forget(self, node_id: int, name: str) -> None:
        """Drop a closed listener, if it is one of these."""
        self._open.pop((node_id, name), None)

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        for (owner, name), tls in self._open.items():
            if owner == node_id:
                tls.check(self._config.for_listener(name, node_id, values))

    def apply(self, node_id: int) -> None:
        for (owner, name), tls in self._open.items():
            if owner == node_id:
                tls.apply(self._config.for_listener(name, node_id))
