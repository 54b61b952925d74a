"""The cluster: everything that one broker process (of N nodes) owns."""

from __future__ import annotations

import base64
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.features import Features
from odradek.broker.controller.node import Node, advertised_addresses
from odradek.broker.controller.producer_ids import ProducerIdAllocator
from odradek.broker.controller.topics import TopicRegistry
from odradek.broker.net.server import Server
from odradek.broker.partitions.maintenance import Maintenance
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.dispatch import Bug, Dispatcher
from odradek.broker.requests.faults import FaultSet
from odradek.protocol.registry import API_BY_KEY

if TYPE_CHECKING:
    from odradek.broker.controller.dynamic_configs import DynamicConfigs
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache

_RECENT_REQUESTS = 64
_MAX_BUGS = 100
_GRACE_S = 0.05  # for answers on their way; what waits for something else is cut, as Kafka does


class Cluster:
    """Topics, partitions, coordinators, configs, clock and nodes of one cluster.

    Owner of all of them; every mutation happens in the trio run that :meth:`run` is in. Nurseries nest: maintenance and
    storage (last to end) > coordinators > connections (first to end).
    """

    def __init__(
        self,
        *,
        nodes: int = 1,
        config: BrokerConfig | Mapping[str, str] | None = None,
        clock: BrokerClock | None = None,
        data_dir: Path | None = None,
        cluster_id: str | None = None,
    ) -> None:
        if nodes < 1:
            raise ValueError(f"a cluster needs at least one node: {nodes}")
        self.config: BrokerConfig = config if isinstance(config, BrokerConfig) else BrokerConfig(config or {})
        self.clock = clock or BrokerClock()
        self.data_dir = data_dir
        self.cluster_id = cluster_id or base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        first = _first_node_id(self.config)
        self.nodes: dict[int, Node] = {number: Node(number) for number in range(first, first + nodes)}
        told = advertised_addresses(self.config.get_list("advertised.listeners"), nodes)
        for node, address in zip(self.nodes.values(), told, strict=False):
            node.advertised = address
        self.controller_id = first
        self.features = Features()
        self.faults: FaultSet | None = None
        self.bugs: list[Bug] = []
        self.on_bug: Callable[[Bug], None] | None = None
        self.recent: deque[tuple[str, int, int, int, str | None, int]] = deque(maxlen=_RECENT_REQUESTS)
        self.dispatcher = Dispatcher(self)
        self.maintenance_nursery: trio.Nursery | None = None
        self.coordinator_nursery: trio.Nursery | None = None
        self.connection_nursery: trio.Nursery | None = None
        self.server = Server(self)
        self.producer_ids = ProducerIdAllocator()
        self.fetch_sessions: dict[int, FetchSessionCache] = {}
        self.maintenance = Maintenance(self)
        self.durability: Durability | None = None if data_dir is None else _durability(self, data_dir)
        self.config.node_ids = tuple(self.nodes)
        self.topics = TopicRegistry(self)
        self.topics.on_leader_changed(self._leader_changed)
        if data_dir is not None:
            _ = self.groups, self.transactions

    @cached_property
    def dynamic_configs(self) -> DynamicConfigs:
        """What clients change of the configuration; imported and made when it is first needed."""
        from odradek.broker.controller.dynamic_configs import DynamicConfigs

        return DynamicConfigs(self)

    @cached_property
    def groups(self) -> GroupService:
        """The group coordinators; imported and made when they are first needed (a log directory always needs them)."""
        from odradek.broker.coordinator.group.service import GroupService

        return GroupService(self)

    @cached_property
    def transactions(self) -> TransactionService:
        """The transaction coordinators; imported and made like :attr:`groups`."""
        from odradek.broker.coordinator.transaction.service import TransactionService

        return TransactionService(self)

    def metadata_changed(self) -> None:
        """Something that has to outlive the process is another now, and nothing else reports it: write it down."""
        if self.durability is not None:
            self.durability.save()

    def _leader_changed(self, partition: Partition) -> None:
        for name in ("groups", "transactions"):
            service = self.__dict__.get(name)
            if service is not None and service.topic_name == partition.topic.name:
                service.leader_changed(partition.index)

    @property
    def max_request_bytes(self) -> int:
        """``socket.request.max.bytes``."""
        return self.config.get_int("socket.request.max.bytes")

    @property
    def max_idle_ms(self) -> int:
        """``connections.max.idle.ms``; negative = never."""
        return self.config.get_int("connections.max.idle.ms")

    # -- life

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Cluster]:
        """The cluster works inside the ``async with`` block; on leaving it connections end first, storage last."""
        self.clock.attach()
        if self.durability is not None:
            self.durability.open()
        try:
            async with self._tasks():
                yield self
        finally:
            self.server.release()
            self.topics.close()

    @asynccontextmanager
    async def _tasks(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as maintenance:
            self.maintenance_nursery = maintenance
            await maintenance.start(self.maintenance.run)
            if self.durability is not None:
                await maintenance.start(self.durability.run)
            async with trio.open_nursery() as coordinators:
                self.coordinator_nursery = coordinators
                if self.durability is not None:
                    self._resume_coordinators()
                async with trio.open_nursery() as connections:
                    self.connection_nursery = connections
                    try:
                        yield
                    finally:
                        with trio.CancelScope(shield=True):
                            await self._end_connections()
                        connections.cancel_scope.cancel()
                coordinators.cancel_scope.cancel()
            maintenance.cancel_scope.cancel()

    def _resume_coordinators(self) -> None:
        """Load what the log directory holds of groups and transactions now.

        Nobody may ever ask for it, and yet its timeouts run, and transactions that were being ended must end.
        """
        for service in (self.groups, self.transactions):
            for _ in service.shards():
                pass

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Accept connections for every node; OSError if an address cannot be taken."""
        if self.connection_nursery is None:
            raise RuntimeError("the cluster is not running")
        await self.server.start(self.connection_nursery, host, port)

    async def _end_connections(self) -> None:
        """Accept nothing more and let the requests under way be answered, for a moment at most."""
        self.clock.resume()
        for topic in self.topics.all():
            for partition in topic.partitions:
                partition.waiters.end_all()
        await self.server.close(_GRACE_S)

    # -- nodes

    def up_nodes(self) -> list[Node]:
        """The nodes that are up, in the order of their ids."""
        return [node for node in self.nodes.values() if node.up]

    # -- faults and bugs

    def set_faults(self, faults: Iterable[Any]) -> FaultSet | None:
        """Replace the faults; an empty list removes the hook."""
        chosen = list(faults)
        self.faults = FaultSet(chosen) if chosen else None
        return self.faults

    def remember_bug(self, bug: Bug) -> None:
        """Keep a bug for whoever looks and tell ``on_bug``; a client that tries again adds nothing new."""
        if len(self.bugs) >= _MAX_BUGS or any(each.traceback == bug.traceback for each in self.bugs):
            return
        self.bugs.append(bug)
        if self.on_bug is not None:
            self.on_bug(bug)

    def recent_requests(self) -> list[str]:
        """The last requests as lines of text, newest last."""
        return [
            f"{connection} {API_BY_KEY[key].name} v{version} correlation {correlation} client {client!r} ({size} bytes)"
            for connection, key, version, correlation, client, size in self.recent.copy()
        ]

    def start(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a coordinator's task in the coordinators' nursery."""
        if self.coordinator_nursery is None:
            raise RuntimeError("the cluster is not running")
        self.coordinator_nursery.start_soon(function, *arguments)


def _durability(cluster: Cluster, data_dir: Path) -> Durability:
    """What keeps a cluster on disk; not imported by one in memory."""
    from odradek.broker.partitions.durability import Durability

    return Durability(cluster, data_dir)


def _first_node_id(config: BrokerConfig) -> int:
    number = config.get("node.id")
    return number if isinstance(number, int) else 1
