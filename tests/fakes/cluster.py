"""A cluster with nothing in it but a clock and nodes, for tests of connections and dispatch alone."""

from __future__ import annotations

from collections import deque
from typing import Any

from odradek.broker.clock import BrokerClock
from odradek.broker.controller.features import Features
from odradek.broker.controller.node import Node
from odradek.broker.requests.dispatch import Bug, Dispatcher
from odradek.broker.requests.registry import load_handlers


class FakeCluster:
    """What :class:`odradek.broker.net.server.Server` and the dispatcher look at in a cluster."""

    def __init__(self, nodes: int = 1, max_request_bytes: int = 1_000_000, max_idle_ms: int = 600_000) -> None:
        load_handlers()
        self.clock = BrokerClock()
        self.nodes = {number: Node(number) for number in range(1, nodes + 1)}
        self.features = Features()
        self.faults: Any = None
        self.durability: Any = None
        self.bugs: list[Bug] = []
        self.recent: deque[tuple[str, int, int, int, str | None, int]] = deque(maxlen=64)
        self.max_request_bytes = max_request_bytes
        self.max_idle_ms = max_idle_ms
        self.dispatcher = Dispatcher(self)  # type: ignore[arg-type]

    def up_nodes(self) -> list[Node]:
        return list(self.nodes.values())

    def remember_bug(self, bug: Bug) -> None:
        self.bugs.append(bug)

    def recent_requests(self) -> list[str]:
        return [str(each) for each in self.recent]
