"""Listeners that come and go while the broker runs, as the dynamic configs of a node say.

Kafka opens the listeners whose names are new and closes those that are gone, with their connections. A name that stays
keeps its socket.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.keys import LIVE_LISTENERS
from odradek.broker.config.listener_layout import layout_with
from odradek.broker.metadata.node import Endpoint

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.config.listeners import Listener, ListenerConfig
    from odradek.broker.metadata.node import Node
    from odradek.broker.net.login_gate import NewGate
    from odradek.broker.net.server import Server

_log = logging.getLogger("odradek.broker.net")

OpenGate = Callable[["Listener", "ListenerConfig"], "NewGate | None"]
"""The factory of the gates of a listener's connections, None without log-ins; ConfigError for invalid configs."""
TryTls = Callable[["Listener", "ListenerConfig"], None]
"""Opens a listener's stores and forgets them; ConfigError if they cannot be used."""
Forget = Callable[[int, str], None]
"""(node, listener) that is closed."""


class LiveListeners:
    """A `Reconfigurable` of the broker's configuration. Owner: the cluster."""

    def __init__(
        self,
        nodes: Mapping[int, Node],
        config: BrokerConfig,
        server: Server,
        *,
        open_gate: OpenGate,
        try_tls: TryTls,
        forget: Forget,
    ) -> None:
        self._nodes = nodes
        self._config = config
        self._server = server
        self._open_gate = open_gate
        self._try_tls = try_tls
        self._forget = forget
        self._changed: set[int] = set()

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        """See `Reconfigurable`. That the names and addresses fit together is known before."""
        if not any(name in values for name in LIVE_LISTENERS):
            return
        for listener in self._new(node_id, values):
            config = self._config.for_listener(listener.name, node_id, values)
            if listener.protocol.tls:
                self._try_tls(listener, config)
            self._open_gate(listener, config)

    def apply(self, node_id: int) -> None:
        values = self._config.dynamic_nodes.get(node_id, {})
        if any(name in values for name in LIVE_LISTENERS):
            self._changed.add(node_id)
        if node_id in self._changed and self._server.running:
            self._follow(node_id, values)

    def started(self) -> None:
        """The server listens: what the metadata log says of listeners can be done."""
        for node_id in sorted(self._changed):
            self._follow(node_id, self._config.dynamic_nodes.get(node_id, {}))

    def _new(self, node_id: int, values: Mapping[str, str]) -> list[Listener]:
        known = self._nodes[node_id].endpoints
        return [each for each in layout_with(self._config, node_id, values).listeners if each.name not in known]

    def _follow(self, node_id: int, values: Mapping[str, str]) -> None:
        """A listener that cannot be opened is logged and skipped."""
        node = self._nodes.get(node_id)
        if node is None:
            return
        try:
            wanted = {each.name for each in layout_with(self._config, node_id, values).listeners}
            new = self._new(node_id, values)
        except ConfigError as error:
            _log.error("node %d keeps its listeners: %s", node_id, error)
            return
        for name in [name for name in node.endpoints if name not in wanted]:
            self._server.remove_listener(node, name)
            self._forget(node_id, name)
            _log.info("node %d listens no more for %s", node_id, name)
        for listener in new:
            self._add(node, listener)

    def _add(self, node: Node, listener: Listener) -> None:
        endpoint = Endpoint(listener, listener.host, listener.port, told=False, live=True)
        try:
            gate = self._open_gate(listener, self._config.for_listener(listener.name, node.id))
            self._server.add_listener(node, endpoint, gate)
        except (ConfigError, OSError) as error:
            _log.error("node %d cannot listen for %s: %s", node.id, listener.name, error)
