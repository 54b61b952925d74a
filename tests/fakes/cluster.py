"""A cluster with nothing in it but a clock and nodes, for tests of connections and dispatch alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from odradek.broker.api.served import handlers_of_node
from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.listeners import Listener, SecurityProtocol
from odradek.broker.controller.feature_levels import NEW_CLUSTER
from odradek.broker.fast.fast_lane import FastLane
from odradek.broker.lane import Lane
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.metadata.node import Endpoint, Node
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.net.server import Server
from odradek.broker.net.tls_connection import TlsTerms
from odradek.broker.partitions.partition_registry import PartitionRegistry
from odradek.broker.requests.bugs import Bug, BugLog
from odradek.broker.requests.dispatch import Dispatcher
from odradek.broker.requests.recent_requests import RecentRequests
from odradek.broker.security.denials import Denials
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord


class FakeCluster:
    """The parts of a cluster that a server, its connections and the dispatcher work with."""

    new_lane: Callable[[], Lane] = FastLane

    def __init__(
        self,
        nodes: int = 1,
        max_request_bytes: int = 1_000_000,
        max_idle_ms: int = 600_000,
        tls: TlsTerms | None = None,
    ) -> None:
        """`tls`: the one listener of each node speaks TLS with these terms."""
        self._tls = tls
        self.clock = BrokerClock()
        self.config = BrokerConfig(
            {"socket.request.max.bytes": str(max_request_bytes), "connections.max.idle.ms": str(max_idle_ms)}
        )
        self.nodes = {number: Node(number) for number in range(1, nodes + 1)}
        if tls is not None:
            for node in self.nodes.values():
                node.endpoints = {"SSL": Endpoint(Listener("SSL", SecurityProtocol.SSL))}
        self.denials = Denials()
        self.recent = RecentRequests()
        self.bug_log = BugLog(self.recent)
        self.lane = type(self).new_lane()
        services: Any = SimpleNamespace(
            authorizer=None,
            controller_authorizer=None,
            controller=SimpleNamespace(kraft_version=0),
            clock=self.clock,
            config=self.config,
            denials=self.denials,
            nodes=self.nodes,
            unserved=deque(),
            handlers=handlers_of_node,
            topics=PartitionRegistry(self.config, self.clock),
            image=_new_image(),
            answers=self.lane.new_answer_cache(),
            telemetry=SimpleNamespace(made=None),
        )
        self.dispatcher = Dispatcher(services, self.recent, self.bug_log, answer_writer=self.lane.answer_writer)

    @property
    def bugs(self) -> list[Bug]:
        return self.bug_log.bugs

    def server(self) -> Server:
        """A server of these nodes; it is not started."""
        return Server(
            self.nodes,
            self.dispatcher,
            clock=self.clock,
            config=self.config,
            bugs=self.bug_log,
            open_tls=self._open_tls,
            new_poller=self.lane.new_poller,
            tune_local=self.lane.tune_local,
        )

    def _open_tls(self, node: Node, endpoint: Endpoint) -> TlsTerms:
        assert self._tls is not None
        return self._tls


def _new_image() -> MetadataImage:
    """The image of a cluster with nothing but its feature levels."""
    writer = ImageWriter()
    for offset, (name, level) in enumerate(NEW_CLUSTER.items()):
        writer.replay(FeatureLevelRecord(name, level), offset, 1)
    return writer.image
