"""The cluster: everything that one broker process (of N nodes) owns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.api.served import SERVED
from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.features import Features
from odradek.broker.controller.node import Node, advertised_addresses
from odradek.broker.controller.producer_ids import ProducerIdAllocator
from odradek.broker.controller.topics import CONSUMER_OFFSETS, TRANSACTION_STATE, Topic, TopicRegistry
from odradek.broker.coordinator.internal_topic import InternalTopic
from odradek.broker.coordinator.service import Surroundings
from odradek.broker.net.server import Server
from odradek.broker.partitions.maintenance import Maintenance
from odradek.broker.partitions.partition import Partition
from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.deferred import Deferred
from odradek.broker.requests.dispatch import Dispatcher
from odradek.broker.requests.faults import FaultSet
from odradek.broker.requests.recent import RecentRequests
from odradek.broker.requests.services import Services
from odradek.protocol.uuids import new_uuid, uuid_to_text

if TYPE_CHECKING:
    from odradek.broker.controller.dynamic_configs import DynamicConfigs
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache

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
        first = _first_node_id(self.config)
        self.nodes: dict[int, Node] = {number: Node(number) for number in range(first, first + nodes)}
        told = advertised_addresses(self.config.get_list("advertised.listeners"), nodes)
        for node, address in zip(self.nodes.values(), told, strict=False):
            node.advertised = address
        self.features = Features()
        self.recent = RecentRequests()
        self.bug_log = BugLog(self.recent)
        self.maintenance_nursery: trio.Nursery | None = None
        self.coordinator_nursery: trio.Nursery | None = None
        self.connection_nursery: trio.Nursery | None = None
        self.producer_ids = ProducerIdAllocator()
        self.fetch_sessions: dict[int, FetchSessionCache] = {}
        self.maintenance = Maintenance(self)
        self.durability: Durability | None = None if data_dir is None else _durability(self, data_dir)
        self.config.node_ids = tuple(self.nodes)
        self.topics = TopicRegistry(self)
        self.topics.on_leader_changed(self._leader_changed)
        self.topics.on_created(self._topic_changed)
        self.topics.on_partitions_added(lambda topic, first: self._topic_changed(topic))
        self.topics.on_deleted(self._topic_deleted)
        self.services = self._services(cluster_id or _new_cluster_id(), controller_id=first)
        self.dispatcher = Dispatcher(self.services, self.recent, self.bug_log, self.durability)
        self.server = Server(self.nodes, self.dispatcher, clock=self.clock, config=self.config, bugs=self.bug_log)

    def _services(self, cluster_id: str, controller_id: int) -> Services:
        return Services(
            clock=self.clock,
            cluster_id=cluster_id,
            config=self.config,
            controller_id=controller_id,
            data_dir=self.data_dir,
            dynamic_configs=Deferred(self._make_dynamic_configs),
            features=self.features,
            fetch_sessions=self.fetch_sessions,
            groups=Deferred(self._make_groups),
            handlers=SERVED,
            metadata_changed=self.metadata_changed,
            nodes=self.nodes,
            producer_ids=self.producer_ids,
            topics=self.topics,
            transactions=Deferred(self._make_transactions),
        )

    def _make_dynamic_configs(self) -> DynamicConfigs:
        from odradek.broker.controller.dynamic_configs import DynamicConfigs

        return DynamicConfigs(self)

    def _make_groups(self) -> GroupService:
        from odradek.broker.coordinator.group.service import GroupService, read_settings
        from odradek.broker.coordinator.group.settings import LiveConfigs
        from odradek.broker.coordinator.group.topic_source import RegistryTopics

        return GroupService(
            InternalTopic(self.topics, CONSUMER_OFFSETS),
            self._surroundings(),
            read_settings(self.config),
            LiveConfigs(self.config, lambda group_id: self.dynamic_configs.groups.get(group_id, {})),
            RegistryTopics(self.topics, self.nodes),
        )

    def _make_transactions(self) -> TransactionService:
        from odradek.broker.coordinator.transaction.markers import MarkerWriter
        from odradek.broker.coordinator.transaction.service import TransactionService

        return TransactionService(
            InternalTopic(self.topics, TRANSACTION_STATE),
            self._surroundings(),
            topics=self.topics,
            config=self.config,
            markers=MarkerWriter(self.topics, self.nodes, self.services.groups, self.clock),
            transaction_version=lambda: self.features.transaction_version,
            allocate=self.producer_ids.allocate,
        )

    def _surroundings(self) -> Surroundings:
        return Surroundings(self.clock, self.start, self.bug_log.report)

    @property
    def dynamic_configs(self) -> DynamicConfigs:
        """What clients change of the configuration."""
        return self.services.dynamic_configs()

    @property
    def groups(self) -> GroupService:
        """The group coordinators."""
        return self.services.groups()

    @property
    def transactions(self) -> TransactionService:
        """The transaction coordinators."""
        return self.services.transactions()

    @property
    def cluster_id(self) -> str:
        """The id that Metadata shows."""
        return self.services.cluster_id

    @cluster_id.setter
    def cluster_id(self, value: str) -> None:
        self.services.cluster_id = value

    @property
    def controller_id(self) -> int:
        """The id of the node that Metadata shows as the controller."""
        return self.services.controller_id

    @controller_id.setter
    def controller_id(self, value: int) -> None:
        self.services.controller_id = value

    def metadata_changed(self) -> None:
        """Something that has to outlive the process is another now, and nothing else reports it: write it down."""
        if self.durability is not None:
            self.durability.save()

    def _coordinators(self) -> list[GroupService | TransactionService]:
        """Those that have been needed so far."""
        made = (self.services.groups.made, self.services.transactions.made)
        return [service for service in made if service is not None]

    def _leader_changed(self, partition: Partition) -> None:
        for service in self._coordinators():
            if service.topic.name == partition.topic.name:
                service.leader_changed(partition.index)

    def _topic_changed(self, topic: Topic) -> None:
        groups = self.services.groups.made
        if groups is not None:
            groups.topic_changed(topic.name)

    def _topic_deleted(self, topic: Topic) -> None:
        for service in self._coordinators():
            service.topic_deleted(topic.name, len(topic.partitions))

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
            service.start_stored()

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
        return self.services.up_nodes()

    # -- faults and tasks

    def set_faults(self, faults: Iterable[Any]) -> FaultSet | None:
        """Replace the faults; an empty list removes the hook."""
        chosen = list(faults)
        self.dispatcher.faults = FaultSet(chosen) if chosen else None
        return self.dispatcher.faults

    def start(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a coordinator's task in the coordinators' nursery."""
        if self.coordinator_nursery is None:
            raise RuntimeError("the cluster is not running")
        self.coordinator_nursery.start_soon(function, *arguments)


def _durability(cluster: Cluster, data_dir: Path) -> Durability:
    """What keeps a cluster on disk; not imported by one in memory."""
    from odradek.broker.partitions.durability import Durability

    return Durability(cluster, data_dir)


def _new_cluster_id() -> str:
    return uuid_to_text(new_uuid())


def _first_node_id(config: BrokerConfig) -> int:
    number = config.get("node.id")
    return number if isinstance(number, int) else 1
