"""The cluster: everything that one broker process (of N nodes) owns."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.api.served import SERVED
from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.announcements import announce
from odradek.broker.controller.broker_configs import BrokerConfigPublisher
from odradek.broker.controller.commands import Adopt, CreateTopics, NewTopic
from odradek.broker.controller.controller import Controller
from odradek.broker.controller.feature_levels import SHARE_VERSION
from odradek.broker.controller.membership import Membership
from odradek.broker.controller.metadata_log import MemoryMetadataLog
from odradek.broker.coordinator.internal_topic import InternalTopic
from odradek.broker.coordinator.service import Surroundings
from odradek.broker.metadata.image import TRANSACTION_VERSION, ResourceType, directory_of
from odradek.broker.metadata.node import Node, advertised_addresses
from odradek.broker.metadata.topic_names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from odradek.broker.net.server import Server
from odradek.broker.partitions.maintenance import Maintenance
from odradek.broker.partitions.registry import PartitionRegistry
from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.deferred import Deferred
from odradek.broker.requests.dispatch import Dispatcher
from odradek.broker.requests.recent import RecentRequests
from odradek.broker.requests.services import Services
from odradek.protocol.errors import KafkaError
from odradek.protocol.uuids import new_uuid, uuid_to_text

if TYPE_CHECKING:
    from odradek.broker.controller.data_directory import DataDirectory
    from odradek.broker.coordinator.group.service import GroupService, Performers
    from odradek.broker.coordinator.group.streams.topology import TopicInfo
    from odradek.broker.coordinator.share_state.service import ShareStateService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.metadata.delta import MetadataDelta
    from odradek.broker.metadata.image import MetadataImage
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache
    from odradek.broker.partitions.share.live import SharePartitions
    from odradek.broker.partitions.topic import Topic
    from odradek.broker.requests.faults import Fault
    from odradek.broker.telemetry.service import TelemetryService

_GRACE_S = 0.05  # for answers on their way; what waits for something else is cut, as Kafka does


class Cluster:
    """Topics, partitions, coordinators, configs, clock and nodes of one cluster.

    Owner of all of them; every mutation happens in the trio run that `run` is in. Nurseries nest: maintenance and
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
        first = _first_node_id(self.config, data_dir)
        self.nodes: dict[int, Node] = {number: Node(number) for number in range(first, first + nodes)}
        told = advertised_addresses(self.config.get_list("advertised.listeners"), nodes)
        for node, address in zip(self.nodes.values(), told, strict=False):
            node.advertised = address
        self.recent = RecentRequests()
        self.bug_log = BugLog(self.recent)
        self.maintenance_nursery: trio.Nursery | None = None
        self.coordinator_nursery: trio.Nursery | None = None
        self.connection_nursery: trio.Nursery | None = None
        self.fetch_sessions: dict[int, FetchSessionCache] = {}
        self.config.node_ids = tuple(self.nodes)
        self.controller = Controller(self.config, self.clock, first, self.bug_log.report)
        self.image = self.controller.image
        self.membership = Membership(self.controller, self.nodes)
        self.topics = PartitionRegistry(self.config, self.clock)
        self.maintenance = Maintenance(self.config, self.clock, self.topics, self.bug_log.report)
        self.durability: Durability | None = None
        self.directory: DataDirectory | None = None
        self.services = self._services(cluster_id or _new_cluster_id())
        self.controller.publishers += (
            BrokerConfigPublisher(self.config).publish,
            self.membership.publish,
            self.topics.publish,
            self._publish_to_coordinators,
            self._publish_to_telemetry,
            self.maintenance.publish,
            announce,
        )
        if data_dir is None:
            self.controller.open(MemoryMetadataLog())
            self.membership.join(self.nodes)
        else:
            self._keep_on_disk(data_dir)
        self.dispatcher = Dispatcher(self.services, self.recent, self.bug_log, self.durability)
        self.server = Server(self.nodes, self.dispatcher, clock=self.clock, config=self.config, bugs=self.bug_log)

    def _keep_on_disk(self, data_dir: Path) -> None:
        """Everything is kept in this directory, which is opened when the cluster runs."""
        from odradek.broker.controller.data_directory import DataDirectory
        from odradek.broker.partitions.durability import Durability

        self.durability = self.topics.durability = Durability(self.config, self.clock, self.bug_log.report)
        self.directory = DataDirectory(data_dir, self.config, self.clock, list(self.nodes), self.durability)
        for node in self.nodes.values():
            node.log_dir = self.directory.directory_of(node.id)

    def _services(self, cluster_id: str) -> Services:
        return Services(
            clock=self.clock,
            cluster_id=cluster_id,
            config=self.config,
            controller=self.controller,
            fetch_sessions=self.fetch_sessions,
            groups=Deferred(self._make_groups),
            handlers=SERVED,
            nodes=self.nodes,
            share_partitions=Deferred(self._make_share_partitions),
            share_states=Deferred(self._make_share_states),
            telemetry=Deferred(self._make_telemetry),
            topics=self.topics,
            transactions=Deferred(self._make_transactions),
        )

    def _make_groups(self) -> GroupService:
        from odradek.broker.coordinator.group.service import GroupService, read_settings
        from odradek.broker.coordinator.group.settings import LiveConfigs
        from odradek.broker.coordinator.group.topic_source import ImageTopics

        return GroupService(
            InternalTopic(self.topics, CONSUMER_OFFSETS, self.controller.ensure_topic),
            self._surroundings(),
            read_settings(self.config),
            LiveConfigs(self.config, lambda group_id: self.image.configs_of(ResourceType.GROUP, group_id)),
            ImageTopics(self.image),
            self._group_performers,
        )

    def _group_performers(self) -> Performers:
        from odradek.broker.coordinator.group.share.performing import performers
        from odradek.broker.coordinator.group.streams.creation import performers as streams_performers

        return {**performers(self.services.share_states), **streams_performers(self._create_internal_topics)}

    def _create_internal_topics(self, topics: Sequence[TopicInfo]) -> list[KafkaError | None]:
        """Those of Streams applications; 0 stands for the broker's own replication factor."""
        new = [
            NewTopic(topic.name, topic.partitions, topic.replication_factor or -1, configs=dict(topic.configs))
            for topic in topics
        ]
        outcomes = self.controller.ask(CreateTopics(new))
        return [outcome if isinstance(outcome, KafkaError) else None for outcome in outcomes]

    def _make_share_partitions(self) -> SharePartitions:
        from odradek.broker.coordinator.group.share.settings import share_settings
        from odradek.broker.coordinator.share_state.client import ShareStateClient
        from odradek.broker.partitions.share.live import SharePartitions

        configs = self.groups.configs
        return SharePartitions(
            self.clock,
            ShareStateClient(self.services.share_states),
            lambda group_id: share_settings(configs, group_id),
            self.start,
            self.bug_log.report,
        )

    def _make_share_states(self) -> ShareStateService:
        from odradek.broker.coordinator.share_state.service import LiveSettings, ShareStateService

        return ShareStateService(
            InternalTopic(self.topics, SHARE_GROUP_STATE, self.controller.ensure_topic),
            self._surroundings(),
            LiveSettings(self.config),
            self._partition_count,
        )

    def _partition_count(self, topic_id: bytes) -> int:
        topic = self.image.topics_by_id.get(topic_id)
        return 0 if topic is None else len(topic.partitions)

    def _make_transactions(self) -> TransactionService:
        from odradek.broker.coordinator.transaction.markers import MarkerWriter
        from odradek.broker.coordinator.transaction.service import TransactionService

        return TransactionService(
            InternalTopic(self.topics, TRANSACTION_STATE, self.controller.ensure_topic),
            self._surroundings(),
            topics=self.topics,
            config=self.config,
            markers=MarkerWriter(self.topics, self.nodes, self.services.groups, self.clock),
            transaction_version=lambda: self.image.feature(TRANSACTION_VERSION),
            allocate=self.controller.producer_ids.allocate,
        )

    def _make_telemetry(self) -> TelemetryService:
        from odradek.broker.telemetry.service import TelemetryService

        return TelemetryService(self.config, self.clock, self.image)

    def _surroundings(self) -> Surroundings:
        return Surroundings(self.clock, self.start, self.bug_log.report)

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

    @property
    def controller_id(self) -> int:
        """The id of the node that Metadata shows as the controller."""
        return self.controller.controller_id

    def _publish_to_coordinators(self, delta: MetadataDelta, image: MetadataImage) -> None:
        shared = self.services.share_partitions.made
        if delta.features and shared is not None and not image.feature(SHARE_VERSION):
            shared.forget_all()
        made = (self.services.groups.made, self.services.transactions.made, self.services.share_states.made)
        for service in [service for service in made if service is not None]:
            for gone in delta.deleted.values():
                service.topic_deleted(gone.name, len(gone.partitions))
            own = image.topics.get(service.topic.name)
            if own is None:
                continue
            for (topic_id, index), before in delta.moved.items():
                if topic_id == own.topic_id and before.leader_epoch != own.partitions[index].leader_epoch:
                    service.leader_changed(index)
        groups = self.services.groups.made
        if groups is not None:
            changed = {*delta.created, *delta.grown, *_moved_elsewhere(delta, image)}
            for topic_id in changed:
                topic = image.topics_by_id.get(topic_id)
                if topic is not None:
                    groups.topic_changed(topic.name)

    def _publish_to_telemetry(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """The first subscription makes the service, so that ApiVersions finds it made."""
        if any(kind == ResourceType.CLIENT_METRICS for kind, _ in delta.configs):
            self.services.telemetry().subscriptions_changed(image)

    # -- topics

    def create_topic(
        self,
        name: str,
        *,
        partitions: int = -1,
        replication_factor: int = -1,
        assignments: Mapping[int, Sequence[int]] | None = None,
        configs: Mapping[str, str | None] | None = None,
    ) -> Topic:
        """Create a topic; KafkaError if Kafka would refuse it. -1 takes the broker's default."""
        placed = list((assignments or {}).items())
        self.controller.create_topic(NewTopic(name, partitions, replication_factor, placed, configs or {}))
        return self.topics.by_name(name)

    def adopt_topic(
        self, name: str, topic_id: bytes, placed: Sequence[Sequence[int]], configs: Mapping[str, str] | None = None
    ) -> Topic:
        """Add a topic of another cluster, with its id and these replicas for each partition."""
        from odradek.broker.controller.topic_records import records_of_topic

        records = records_of_topic(
            name, topic_id, placed, configs or {}, directory_of=lambda node: directory_of(self.image, node)
        )
        self.controller.ask(Adopt(records))
        return self.topics.by_name(name)

    def ensure_topic(self, name: str) -> Topic:
        """An internal topic, created on first use with Kafka's settings for it."""
        self.controller.ensure_topic(name)
        return self.topics.by_name(name)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its data; UNKNOWN_TOPIC_ID if there is none."""
        topic = self.image.topics.get(name)
        self.controller.delete_topic(bytes(16) if topic is None else topic.topic_id)

    # -- life

    @asynccontextmanager
    async def run(self) -> AsyncIterator[Cluster]:
        """The cluster works inside the `async with` block; on leaving it connections end first, storage last."""
        self.clock.attach()
        if self.directory is not None:
            self.open_directory()
        try:
            async with self._tasks():
                yield self
        finally:
            self.server.release()
            self.close_logs()

    def open_directory(self) -> None:
        """Take the data directory: its topics, groups and transactions are there then. For a cluster that is not run
        (a tool, a test); `run` does it by itself."""
        assert self.directory is not None
        self.directory.open(self.controller, self.membership, self.topics)
        self.services.cluster_id = self.directory.cluster_id

    def close_logs(self) -> None:
        """Close everything that `open_directory` opened; in memory there is nothing to close."""
        if self.directory is not None:
            self.directory.close(self.membership, self.topics)

    @asynccontextmanager
    async def _tasks(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as maintenance:
            self.maintenance_nursery = maintenance
            await maintenance.start(self.maintenance.run)
            if self.durability is not None:
                await maintenance.start(self.durability.run)
            if self.directory is not None:
                maintenance.start_soon(self.directory.open_logs, self.topics)
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
        if SHARE_GROUP_STATE in self.image.topics:
            self.services.share_states().start_stored()

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Accept connections for every node; OSError if an address cannot be taken."""
        if self.connection_nursery is None:
            raise RuntimeError("the cluster is not running")
        await self.server.start(self.connection_nursery, host, port)
        self.membership.listening(node.id for node in self.up_nodes())

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

    def set_faults(self, faults: Iterable[Fault]) -> None:
        """Replace the faults; none removes the hook."""
        from odradek.broker.requests.faults import FaultSet

        chosen = list(faults)
        self.dispatcher.faults = FaultSet(chosen) if chosen else None

    def start(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a coordinator's task in the coordinators' nursery."""
        if self.coordinator_nursery is None:
            raise RuntimeError("the cluster is not running")
        self.coordinator_nursery.start_soon(function, *arguments)


def _moved_elsewhere(delta: MetadataDelta, image: MetadataImage) -> Iterator[bytes]:
    """The ids of topics that have partitions on other nodes than before, and so maybe in other racks."""
    for (topic_id, index), before in delta.moved.items():
        topic = image.topics_by_id.get(topic_id)
        if topic is not None and topic.partitions[index].replicas != before.replicas:
            yield topic_id


def _new_cluster_id() -> str:
    return uuid_to_text(new_uuid())


def _first_node_id(config: BrokerConfig, data_dir: Path | None) -> int:
    """`node.id` if it was given, else that of the data directory, else 1."""
    number = config.get("node.id")
    if data_dir is not None and "node.id" not in config.static:
        from odradek.broker.controller.data_directory import stored_node_id

        stored = stored_node_id(data_dir)
        number = number if stored is None else stored
    return number if isinstance(number, int) else 1
