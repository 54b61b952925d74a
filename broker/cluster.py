"""The cluster: everything that one broker process (of N nodes) owns."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import trio

from odradek.broker.api.served import handlers_of_node
from odradek.broker.clock import BrokerClock
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.keys import OF_STANDARD_AUTHORIZER
from odradek.broker.config.listener_layout import NodeListeners, listeners_of
from odradek.broker.config.node_config import (
    AUTO_JOIN,
    check_directories,
    check_own_values,
    given_node_id,
    log_directories,
    metadata_directory,
    own_log_directories,
    quorum_of,
    racks,
)
from odradek.broker.config.node_config import Quorum as QuorumRoles
from odradek.broker.config.requirements import check_broker, check_cordons, check_requirements
from odradek.broker.controller.controller import BrokerConfigPublisher, Controller, announce
from odradek.broker.controller.feature_levels import UNSTABLE_APIS_ENABLE, features_at_start
from odradek.broker.controller.machine import MemoryMetadataLog, adopt
from odradek.broker.controller.membership import Membership
from odradek.broker.controller.quorum import Quorum, join_voters
from odradek.broker.controller.topic_control import NewTopic, check_new_partitions, records_of_topic
from odradek.broker.coordinator.service import Surroundings
from odradek.broker.coordinator_set import CoordinatorSet
from odradek.broker.lane import Lane
from odradek.broker.metadata.image import SHARE_GROUP_STATE, ResourceType, directory_of
from odradek.broker.metadata.node import Endpoint, Node
from odradek.broker.net.live_listeners import LiveListeners
from odradek.broker.net.server import Server
from odradek.broker.partitions.maintenance import Maintenance
from odradek.broker.partitions.partition_registry import PartitionRegistry
from odradek.broker.releases.release import DEFAULT_DIRECTORIES, Release
from odradek.broker.replication.replicator import Replicator
from odradek.broker.requests.bugs import BugLog
from odradek.broker.requests.dispatch import Dispatcher
from odradek.broker.requests.quota_switch import QuotaSwitch
from odradek.broker.requests.recent_requests import RecentRequests
from odradek.broker.requests.services import Deferred, Services
from odradek.broker.transcript.topic_positions import TopicHistory
from odradek.broker.worker import Worker
from odradek.protocol.uuids import new_uuid_text
from odradek.storage.memory_backend import MemoryBackend

if TYPE_CHECKING:
    from odradek.broker.config.listeners import Listener, ListenerConfig
    from odradek.broker.config.loggers import LogLevels
    from odradek.broker.controller.data_directory import DataDirectory
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.faults.fault import Fault
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage
    from odradek.broker.net.login_gate import Gates, NewGate
    from odradek.broker.partitions.durability import Durability
    from odradek.broker.partitions.failing_disks import FailingDisks
    from odradek.broker.partitions.fetch_sessions import FetchSessionCache
    from odradek.broker.partitions.partition import Partition, Topic
    from odradek.broker.replication.leader_checks import LeaderChecks
    from odradek.broker.replication.thawed_leaders import Frozen
    from odradek.broker.schemas.record_schemas import RecordSchemas, SchemaRegistry
    from odradek.broker.security.authorizer import Authorizer
    from odradek.broker.security.tls.listener_tls import ListenerTls, TlsListeners
    from odradek.broker.telemetry.service import TelemetryService
    from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord

_GRACE_S = 0.05  # for answers on their way; other requests that wait are cut, as in Kafka


class _Places(NamedTuple):
    """What is kept where: `directories` is empty in memory; `of_nodes`, `metadata`: see `DataDirectory`."""

    directories: Sequence[Path]
    of_nodes: Mapping[int, Sequence[Path]]
    metadata: Path | None


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
        places, roles = self._make_nodes(nodes, data_dir)
        self.recent = RecentRequests(messages=self.config.get_bool("odradek.transcript"))
        self.bug_log = BugLog(self.recent, self.clock.now_ms)
        self.maintenance_nursery: trio.Nursery | None = None
        self.coordinator_nursery: trio.Nursery | None = None
        self.connection_nursery: trio.Nursery | None = None
        self._address = ("127.0.0.1", 0)
        self.fetch_sessions: dict[int, FetchSessionCache] = {}
        self.frozen: dict[int, Frozen] = {}
        self.disks: FailingDisks | None = None
        self.config_at_start = self.config.as_started()
        self.start_image: MetadataImage | None = None
        """The image at the end of the start, when all topics and users of the start existed."""
        self.rewound_epochs: dict[tuple[bytes, int], int] = {}
        """The leader epochs that partitions got when the broker went back to a snapshot: none is given twice."""
        self.kraft_version_at_start = 0 if roles.static else 1
        """In memory: a log on disk has its own."""
        voters = [node.id for node in self.members.values() if node.is_controller]
        self.controller = Controller(self.config, self.clock, voters[0], self.bug_log.report)
        self.image = self.controller.image
        self.quorum = Quorum(self.controller, self.members, self.clock)
        self.quorum.on_observer = self._let_join
        self.membership = Membership(self.controller, self.nodes, self.separate, self.quorum)
        memory = MemoryBackend(self.config.get_int("odradek.memory.bytes"))
        self.topics = PartitionRegistry(self.config, self.clock, memory)
        self.topic_history = TopicHistory(self.topics)
        self.replicator = Replicator(self.controller, self.topics, self.config, self.clock)
        self.worker = Worker()
        self.maintenance = Maintenance(self.config, self.clock, self.topics, self.bug_log.report, self.worker)
        self.lane = _lane_of(self.config)
        self.coordinators = CoordinatorSet(
            self.config,
            self.controller,
            self.topics,
            self.nodes,
            self.replicator.cuts,
            self.frozen,
            Surroundings(self.clock, self.start, self.bug_log.report, self.lane.new_journal),
        )
        self.durability: Durability | None = None
        self.directory: DataDirectory | None = None
        self.schema_registry: SchemaRegistry | None = None
        """The schema registry beside this cluster, while there is one."""
        authorizer, of_controllers = self._make_authorizers()
        self.services = self._services(cluster_id or new_uuid_text(), authorizer, of_controllers)
        self.quota_switch = QuotaSwitch(self.services)
        self._follow_image(authorizer, of_controllers)
        self.leader_checks = self._make_leader_checks() if nodes > 1 else None
        if not places.directories:
            self.controller.open(MemoryMetadataLog(kraft_version=self.kraft_version_at_start))
            self.membership.join_controllers(self.separate)
            self.membership.join(self.nodes)
        else:
            self._keep_on_disk(places, cluster_id)
        check_cordons(self.config, self.nodes)
        self._gates: Gates | None = None
        self.dispatcher = Dispatcher(self.services, self.recent, self.bug_log, self.durability, self.lane.answer_writer)
        self.controllers = self._dispatcher_of_controllers()
        """Serves the listeners of controllers; None without any."""
        self.dispatchers = [self.dispatcher, *([] if self.controllers is None else [self.controllers])]
        self.server = self._make_server()
        self.quota_switch.attach(self.dispatchers, self.server)
        self._tls: TlsListeners | None = None
        self.live_listeners = LiveListeners(
            self.nodes, self.config, self.server, open_gate=self._open_gate, try_tls=_try_tls, forget=self.forget_tls
        )
        self.config.reconfigurables.append(self.live_listeners)

    def _make_nodes(self, count: int, data_dir: Path | None) -> tuple[_Places, QuorumRoles]:
        """The nodes as their configs say, what they keep on disk, and who of them is a controller."""
        directories = log_directories(self.config) if data_dir is None else [data_dir]
        first = _first_node_id(self.config, directories)
        self.config.node_ids = tuple(range(first, first + count))
        self.nodes: dict[int, Node] = {number: new_node(self.config, number) for number in self.config.node_ids}
        features_at_start(self.config)  # says what is wrong where the user sees it
        self.config.directories_of = lambda node_id: self.nodes[node_id].directory_paths
        layouts, roles, racks = checked_start(self.config)
        self.separate: dict[int, Node] = {number: new_node(self.config, number) for number in roles.separate}
        """Controllers that are no brokers."""
        self.members: dict[int, Node] = {**self.nodes, **self.separate}
        """All nodes: brokers, and controllers that are none."""
        self.releases_at_start: Mapping[int, Release] = {node.id: node.release for node in self.members.values()}
        self.config.release_of = lambda node_id: self.members[node_id].release
        for node in self.members.values():
            node.take(layouts[node.id])
            node.is_controller = node.votes = node.id in roles.combined or node.id in roles.separate
            node.rack = racks.get(node.id)
        of_nodes = own_log_directories(self.config, self.separate) if data_dir is None else {}
        directories = [path for paths in of_nodes.values() for path in paths] or directories
        check_directories(self.config, directories, len(self.members))
        if directories and self.separate and not roles.static:
            raise ValueError("controllers of their own with a log directory need controller.quorum.voters")
        metadata = metadata_directory(self.config) if data_dir is None else None
        return _Places(directories, of_nodes, metadata), roles

    def _follow_image(self, *authorizers: Authorizer | None) -> None:
        """Who follows the image, in the order in which they are told of a change: each may rely on those before it."""
        follow = self.controller.follow
        for authorizer in dict.fromkeys(authorizers):
            if authorizer is not None:
                follow(authorizer.publish, "acls")
        follow(BrokerConfigPublisher(self.config).publish, "configs")
        follow(self.membership.publish, "brokers", "features")
        follow(self.replicator.before_publish, "moved")
        follow(self.topic_history.publish, "deleted")
        follow(self.topics.publish, "created", "deleted", "grown", "moved", "configs")
        follow(self.replicator.publish, "created", "grown", "brokers", "configs")
        follow(self.coordinators.publish, "created", "deleted", "grown", "moved", "configs", "features")
        follow(self._publish_to_telemetry, "configs")
        follow(self.quota_switch.publish, "quotas")
        follow(self.maintenance.publish, "configs")
        follow(announce)

    def _make_server(self) -> Server:
        return Server(
            self.members,
            self.dispatcher,
            controllers=self.controllers,
            clock=self.clock,
            config=self.config,
            bugs=self.bug_log,
            open_tls=self._open_tls,
            gates=self._gates_at_start(),
            new_poller=self.lane.new_poller,
            tune_local=self.lane.tune_local,
        )

    def _open_tls(self, node: Node, endpoint: Endpoint) -> ListenerTls:
        if self._tls is None:
            from odradek.broker.security.tls.listener_tls import TlsListeners

            self._tls = TlsListeners(self.config)
            self.config.reconfigurables.append(self._tls)
        between_brokers = not endpoint.of_controller and endpoint is node.first
        return self._tls.open(node.id, endpoint.listener, between_brokers=between_brokers)

    def forget_tls(self, node_id: int, listener: str) -> None:
        """A listener of a node is closed for good."""
        if self._tls is not None:
            self._tls.forget(node_id, listener)

    def _keep_on_disk(self, places: _Places, cluster_id: str | None) -> None:
        """Everything is kept in these directories, which are opened when the cluster runs."""
        if not self.config.release.keeps_directories:
            raise ConfigError(
                f"odradek keeps data directories from Kafka {DEFAULT_DIRECTORIES} on: as Kafka {self.config.release} a "
                "broker has its logs in memory"
            )
        from odradek.broker.controller.data_directory import DataDirectory
        from odradek.broker.partitions.durability import Durability

        self.durability = self.topics.durability = Durability(self.config, self.clock, self.bug_log.report)
        self.directory = DataDirectory(
            places.directories,
            self.config,
            self.clock,
            list(self.nodes),
            self.durability,
            metadata=places.metadata,
            cluster_id=cluster_id,
            of_nodes=places.of_nodes,
            controllers=list(self.separate),
        )
        for node in self.nodes.values():
            node.log_dirs = self.directory.directories_of(node.id)

    def _gates_at_start(self) -> Mapping[str, NewGate]:
        """The log-in gates of listeners with SASL."""
        endpoints = {each.listener.name: each for node in self.members.values() for each in node.all_endpoints}
        opened = {name: self.gate_of(each) for name, each in endpoints.items()}
        return {name: gate for name, gate in opened.items() if gate is not None}

    def gate_of(self, endpoint: Endpoint) -> NewGate | None:
        """What makes the log-in gates of a listener's connections, None without log-ins."""
        config = self.config.for_listener(endpoint.listener.name)
        return self._open_gate(endpoint.listener, config, self.controllers if endpoint.of_controller else None)

    def _open_gate(
        self, listener: Listener, config: ListenerConfig, dispatcher: Dispatcher | None = None
    ) -> NewGate | None:
        """Nothing is imported for a cluster without log-ins. `dispatcher`: another one than the brokers'."""
        if not listener.protocol.sasl:
            return None
        if self._gates is None:
            from odradek.broker.net.login_gate import Gates

            self._gates = Gates(self.config, self.image, self.clock, self.services.denials)
        return self._gates.open(config, dispatcher or self.dispatcher)

    def _dispatcher_of_controllers(self) -> Dispatcher | None:
        if not any(node.controllers for node in self.members.values()):
            return None
        from odradek.broker.api.controller_listener import handlers_of_controller

        return Dispatcher(self.services, self.recent, self.bug_log, self.durability, handlers=handlers_of_controller)

    def _services(
        self, cluster_id: str, authorizer: Authorizer | None, controller_authorizer: Authorizer | None
    ) -> Services:
        return Services(
            clock=self.clock,
            cluster_id=cluster_id,
            config=self.config,
            controller=self.controller,
            fetch_sessions=self.fetch_sessions,
            groups=self.coordinators.groups,
            handlers=handlers_of_node,
            log_levels=Deferred(_new_log_levels),
            nodes=self.nodes,
            quorum=self.quorum,
            share_partitions=self.coordinators.share_partitions,
            share_persister=self.coordinators.share_persister,
            share_states=self.coordinators.share_states,
            telemetry=Deferred(self._make_telemetry),
            topics=self.topics,
            transactions=self.coordinators.transactions,
            worker=self.worker,
            answers=self.lane.new_answer_cache(),
            authorizer=authorizer,
            controller_authorizer=controller_authorizer,
        )

    def _make_leader_checks(self) -> LeaderChecks:
        from odradek.broker.replication.leader_checks import LeaderChecks

        made = LeaderChecks(self.controller, self.config, self.clock)
        self.controller.follow(made.publish, "created", "grown", "moved")
        return made

    def _make_authorizers(self) -> tuple[Authorizer | None, Authorizer | None]:
        """Those of brokers and of controllers: the same one unless controllers are configured otherwise."""
        broker_id, controller_id = next(iter(self.nodes)), next(iter(self.separate or self.nodes))
        names = ("authorizer.class.name", *OF_STANDARD_AUTHORIZER)
        of_brokers = self._make_authorizer(broker_id)
        if all(self.config.text(name, broker_id) == self.config.text(name, controller_id) for name in names):
            return of_brokers, of_brokers
        return of_brokers, self._make_authorizer(controller_id)

    def _make_authorizer(self, node_id: int) -> Authorizer | None:
        if not self.config.get_str("authorizer.class.name", node_id):
            return None
        from odradek.broker.security.authorizer import authorizer_of

        return authorizer_of(self.config, node_id)

    def _make_telemetry(self) -> TelemetryService:
        from odradek.broker.telemetry.service import TelemetryService

        return TelemetryService(self.config, self.clock, self.image)

    @property
    def groups(self) -> GroupService:
        """The group coordinators."""
        return self.services.groups()

    @property
    def transactions(self) -> TransactionService:
        """The transaction coordinators."""
        return self.services.transactions()

    @cached_property
    def record_schemas(self) -> RecordSchemas:
        """The schemas of records that a test has set."""
        from odradek.broker.schemas.record_schemas import RecordSchemas

        return RecordSchemas()

    @property
    def cluster_id(self) -> str:
        """The id that Metadata shows."""
        return self.services.cluster_id

    @property
    def controller_id(self) -> int:
        """The id of the node that Metadata shows as the controller."""
        return self.controller.controller_id

    def _publish_to_telemetry(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """The first subscription makes the service, so that ApiVersions finds it made."""
        if any(kind == ResourceType.CLIENT_METRICS for kind, _ in delta.configs):
            self.services.telemetry().subscriptions_changed(image)

    # -- topics

    def partition(self, topic_id: bytes, index: int) -> Partition:
        """A partition that is there."""
        topic = self.topics.by_id(topic_id)
        assert topic is not None
        return topic.partitions[index]

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
        check_new_partitions(partitions)
        self.controller.create_topic(NewTopic(name, partitions, replication_factor, placed, configs or {}))
        return self.topics.by_name(name)

    def adopt_topic(
        self, name: str, topic_id: bytes, placed: Sequence[Sequence[int]], configs: Mapping[str, str] | None = None
    ) -> Topic:
        """Add a topic of another cluster, with its id and these replicas for each partition."""
        records = records_of_topic(
            name, topic_id, placed, configs or {}, directory_of=lambda node: directory_of(self.image, node)
        )
        self.controller.ask(adopt, records)
        return self.topics.by_name(name)

    def ensure_topic(self, name: str) -> Topic:
        """An internal topic, created on first use with Kafka's settings for it."""
        self.controller.ensure_topic(name)
        return self.topics.by_name(name)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its data; UNKNOWN_TOPIC_ID if there is none."""
        topic = self.image.topics.get(name)
        self.controller.delete_topic(bytes(16) if topic is None else topic.topic_id)

    def add_scram_user(self, user: UserScramCredentialRecord) -> None:
        """Let a user log in by SCRAM, unless there is one of that name and mechanism (`sasl.add_scram` makes records).

        With a log directory: once it is open.
        """
        if (user.name, user.mechanism) not in self.image.scram:
            self.controller.ask(adopt, [user])

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
            self.forget_log_levels(self.members)

    def forget_log_levels(self, node_ids: Iterable[int]) -> None:
        """Take back the log levels that clients have set on these nodes, which stop or start anew."""
        levels = self.services.log_levels.made
        if levels is not None:
            levels.reset(node_ids)

    def open_directory(self) -> None:
        """Open the data directory with its topics, groups and transactions. `run` does it; call it only for a cluster
        that is not run (in a tool or a test).
        """
        assert self.directory is not None
        self.directory.open(self.controller, self.membership, self.topics)
        self.services.cluster_id = self.directory.cluster_id

    def close_logs(self) -> None:
        """Close everything that `open_directory` opened; in memory, let the thread end that writes to a file."""
        if self.directory is not None:
            self.directory.close(self.membership, self.topics)
        else:
            self.topics.backend.close()

    @asynccontextmanager
    async def _tasks(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as maintenance:
            self.maintenance_nursery = maintenance
            await maintenance.start(self.maintenance.run)
            maintenance.start_soon(self.replicator.run)
            if self.leader_checks is not None:
                maintenance.start_soon(self.leader_checks.run)
            if self.durability is not None:
                await maintenance.start(self.durability.run)
            if self.directory is not None:
                maintenance.start_soon(self.directory.open_logs, self.topics)
                maintenance.start_soon(self.directory.write_snapshots)
            async with trio.open_nursery() as coordinators:
                self.coordinator_nursery = coordinators
                if self.config.get("delegation.token.secret.key"):
                    from odradek.broker.controller.token_control import remove_expired_tokens

                    coordinators.start_soon(remove_expired_tokens, self.controller, self.config, self.clock)
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

    @property
    def has_addresses(self) -> bool:
        """Whether the configuration says where to listen (`listeners`)."""
        return "listeners" in self.config.static_of()

    async def listen(self, host: str | None = None, port: int = 0) -> None:
        """Accept connections for every node; OSError if an address cannot be taken.

        `host` (127.0.0.1 if None) and `port` (any free one if 0; the nodes take following ones) are for a cluster
        without `listeners`; ValueError if it has some.
        """
        if self.connection_nursery is None:
            raise RuntimeError("the cluster is not running")
        if not self.has_addresses:
            host = host or "127.0.0.1"
            self._address = host, port
        elif host is not None or port:
            raise ValueError("listeners says where to listen: give no host and port beside it")
        await self.server.start(self.connection_nursery, host, port)
        self.membership.listening(node.id for node in self.up_nodes())
        self.live_listeners.started()

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

    def take_nodes(self, config: BrokerConfig) -> None:
        """The nodes, and what they start with, are those of a config from now on: defaults of topics may be others."""
        self.config.take_nodes(config)
        self.topics.configure_all()

    def admit(self, node: Node) -> None:
        """A broker that is down is a node of the cluster from now on. It has a log directory of its own."""
        if not self.has_addresses:
            host, port = self._address
            node.first.host, node.first.port = host, port + node.id - self.config.founder_ids[0] if port else 0
        self._set_nodes({**self.nodes, node.id: node})
        self.membership.admit(node)
        self.server.replace_endpoints(node, {each.listener.name: self.gate_of(each) for each in node.all_endpoints})
        if self.leader_checks is None:
            self.leader_checks = self._make_leader_checks()
            assert self.maintenance_nursery is not None
            self.maintenance_nursery.start_soon(self.leader_checks.run)

    def dismiss(self, node: Node) -> None:
        """A broker that is down, leads nothing and does not vote is no node of the cluster any more."""
        self.server.forget_node(node)
        self.fetch_sessions.pop(node.id, None)
        self._set_nodes({number: other for number, other in self.nodes.items() if other is not node})
        self.membership.dismiss(node.id)
        self.forget_log_levels([node.id])

    def _set_nodes(self, nodes: Mapping[int, Node]) -> None:
        """All who know the nodes have these two dictionaries."""
        ordered = {number: nodes[number] for number in sorted(nodes)}
        for held, now in ((self.nodes, ordered), (self.members, {**ordered, **self.separate})):
            held.clear()
            held.update(now)

    def _let_join(self, node: Node) -> None:
        """Let a controller that observes become a voter by itself, if it is to."""
        if self.maintenance_nursery is not None and self.config.get_bool(AUTO_JOIN, node.id):
            surroundings = self.quorum, self.controller, self.config, self.clock, self._reaches_controller
            self.maintenance_nursery.start_soon(join_voters, node, *surroundings, self.clock.now_ms())

    def _reaches_controller(self, node_id: int) -> bool:
        leader = self.controller_id
        return (
            self.members[leader].controls
            and self.frozen.keys().isdisjoint({node_id, leader})
            and frozenset((node_id, leader)) not in self.replicator.cuts
        )

    # -- faults and tasks

    @property
    def faults(self) -> list[Fault]:
        """The faults that are set, in the order in which they are tried."""
        known = self.dispatcher.faults
        return [] if known is None else list(known.faults)

    def set_faults(self, faults: Iterable[Fault]) -> None:
        """Replace the faults; none removes the hook."""
        from odradek.broker.faults.fault import FaultSet

        chosen = list(faults)
        found = FaultSet(chosen) if chosen else None
        for dispatcher in self.dispatchers:
            dispatcher.faults = found
        self.server.set_connection_fault(None if found is None else found.on_connect)

    def heal_wires(self) -> None:
        """Take away the faults below the API; those with a meaning stay."""
        if any(fault.tampers for fault in self.faults):
            self.set_faults([fault for fault in self.faults if not fault.tampers])

    def start(self, function: Callable[..., Awaitable[Any]], *arguments: Any) -> None:
        """Run a coordinator's task in the coordinators' nursery."""
        if self.coordinator_nursery is None:
            raise RuntimeError("the cluster is not running")
        self.coordinator_nursery.start_soon(function, *arguments)


def new_node(config: BrokerConfig, number: int) -> Node:
    """A node as its configs say, which belongs to no cluster yet."""
    return Node(number, release=config.release, unstable=config.get_bool(UNSTABLE_APIS_ENABLE, number))


class Start(NamedTuple):
    """What nodes start with by their configs: the listeners of each, which of them are controllers, and their racks."""

    layouts: Mapping[int, NodeListeners]
    quorum: QuorumRoles
    racks: Mapping[int, str | None]


def checked_start(config: BrokerConfig, up: Container[int] | None = None) -> Start:
    """What the nodes start with; ConfigError for configs with which they would not. `up`: see `check_own_values`."""
    for number in (None, *config.static_nodes):
        check_requirements(config, {}, number)
    layouts, roles = listeners_of(config), quorum_of(config)
    check_own_values(config, roles, up)
    if config.get_bool("remote.log.storage.system.enable"):
        check_broker(config, [listener.name for listener in layouts[config.node_ids[0]].listeners])
    return Start(layouts, roles, racks(config))


def _try_tls(listener: Listener, config: ListenerConfig) -> None:
    from odradek.broker.security.tls.listener_tls import ListenerTls

    ListenerTls(config, listener.protocol)


def _new_log_levels() -> LogLevels:
    from odradek.broker.config.loggers import LogLevels

    return LogLevels()


def _first_node_id(config: BrokerConfig, directories: Sequence[Path]) -> int:
    """The number that was given, else that of a log directory, else 1."""
    number = given_node_id(config)
    if number is None and directories:
        from odradek.broker.controller.data_directory import stored_node_id

        number = next((found for path in directories if (found := stored_node_id(path)) is not None), None)
    return 1 if number is None else number


def _lane_of(config: BrokerConfig) -> Lane:
    """The fast lane, unless the config or the environment turns it off."""
    if os.environ.get("ODRADEK_FAST") == "0" or not config.get_bool("odradek.fast"):
        return Lane()
    from odradek.broker.fast.fast_lane import FastLane

    return FastLane()
