"""Everything that can be read from a broker without a client."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.config.listeners import LOOPBACK, address_text
from odradek.broker.facade.names import Named
from odradek.broker.facade.records.record import Isolation, Records, holder_of
from odradek.broker.facade.topics import TopicInfo, topic_info
from odradek.broker.mistakes import ByName, did_you_mean
from odradek.broker.requests.bugs import Bug
from odradek.protocol.partitioner import Partitioner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.client_configs import Client
    from odradek.broker.facade.groups.info import GroupInfo
    from odradek.broker.facade.records.record import Serializer, StoredRecord, Writing
    from odradek.broker.facade.report.strictness import StrictnessFinding
    from odradek.broker.facade.security_settings import Secured
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.facade.transactions import TransactionInfo
    from odradek.broker.faults.fault import Fault
    from odradek.broker.nodes.node_life import NodeInfo
    from odradek.broker.schemas.record_schemas import SchemaInfo, SchemaRegistry
    from odradek.broker.security.denials import Denial
    from odradek.broker.telemetry.pushes import ClientMetric, TelemetryPush


class Broker(Named):
    """The part of a running broker that only looks; `KafkaBroker` and `TrioBroker` share it.

    Nothing here waits or changes anything. A look is a property, or a method if it takes arguments.
    """

    # Add a look here: `return self._look(lambda: function(self._cluster, ...))`.
    # Add a verb, which changes something or waits, to a module of facade/verbs, as one line that calls a function of
    # another facade module with the Cluster:
    #
    #     async def upgrade(self, version: str, node: int | None = None) -> None:
    #         """Restart nodes as nodes of another Kafka release."""
    #         from odradek.broker.nodes.added_nodes import upgrade
    #
    #         await self._call(lambda: upgrade(self._cluster, version, node))
    #
    # What is about one topic or group is a method of its handle. A verb that can be undone is a plain `def`
    # `-> Pending[TrioUndo]` with `return self._undoable(lambda: ...)`: the function returns its undo. Then
    # `make generate` writes its blocking twin.

    def __init__(self, cluster: Cluster, look: Call, secured: Secured | None = None) -> None:
        self._cluster = cluster
        self._look = look
        self._secured = secured
        self._partitioner = Partitioner()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.bootstrap_servers}>"

    @property
    def cluster(self) -> Cluster:
        """The cluster itself. Use it only in the broker's thread."""
        return self._cluster

    @property
    def clock(self) -> BrokerClock:
        """The broker's clock: ``advance(hours=1)``, ``freeze()``, ``resume()``, from any thread."""
        return self._cluster.clock

    @property
    def bootstrap_servers(self) -> str:
        """The value for a client's ``bootstrap.servers``: ``host:port`` of every node that is up."""
        return self.bootstrap_servers_of(next(iter(self._cluster.nodes.values())).first.listener.name)

    def bootstrap_servers_of(self, listener: str) -> str:
        """The ``bootstrap.servers`` of one listener. Raises ValueError if there is no such listener.

        `bootstrap_servers` is the one of the inter-broker listener.
        """
        if not any(listener in node.endpoints for node in self._cluster.nodes.values()):
            known = {name for node in self._cluster.nodes.values() for name in node.endpoints}
            near = did_you_mean(listener, known)
            raise ValueError(f"no listener {listener!r}{near}; the listeners: {', '.join(sorted(known))}")
        endpoints = [node.endpoints[listener] for node in self._cluster.up_nodes() if listener in node.endpoints]
        return ",".join(address_text(*each.address_for(LOOPBACK.get(each.host))) for each in endpoints)

    @property
    def schema_registry_url(self) -> str:
        """The URL of the schema registry that runs with the broker, for a client's ``schema.registry.url``.

        Raises RuntimeError if there is none.
        """
        return self._schema_registry.url

    @property
    def _schema_registry(self) -> SchemaRegistry:
        registry = self._cluster.schema_registry
        if registry is None:
            raise RuntimeError("there is no schema registry: start the broker with registry=True, or --registry-port")
        return registry

    def client_config(
        self,
        user: str | None = None,
        client: Client = "confluent",
        *,
        mechanism: str | None = None,
        fast: bool = False,
    ) -> dict[str, Any]:
        """The configuration with which a client connects to the broker and logs in as ``user``.

        ``client`` selects the names of the settings: ``confluent``, ``kcat`` (librdkafka's names), ``kafka-python``,
        ``aiokafka``, ``java``, ``kafkajs``, or ``franz-go-env`` (environment variables, see docs/security.md).
        ``mechanism`` defaults to the first one of ``Security(mechanisms=...)``. ``fast`` adds settings with which the
        client waits less, see docs/testing.md. ``java`` and ``franz-go-env`` also get the URL of the schema registry;
        librdkafka would refuse it. The values contain secrets. Raises ValueError for an unknown client or user.
        """
        from odradek.broker.facade.client_configs import CLIENTS, Access, client_config, registry_config

        servers, registry = self.bootstrap_servers, self._cluster.schema_registry
        if self._secured is None and user is not None:
            why = "the broker has no users, start it with security=Security(users={...})"
            meant = f" (did you mean client={user!r}?)" if user in CLIENTS else ""
            raise ValueError(f"user={user!r}: {why}{meant}")
        access = Access(servers) if self._secured is None else self._secured.access(servers, user, mechanism)
        config = client_config(access, client, fast=fast)
        return config if registry is None else config | registry_config(registry.url, client)

    @property
    def topics(self) -> dict[str, TopicInfo]:
        """The topics by name, without internal topics."""
        return ByName("broker.topics", {name: topic for name, topic in self.all_topics.items() if not topic.internal})

    @property
    def all_topics(self) -> dict[str, TopicInfo]:
        """The topics by name, including internal topics such as ``__consumer_offsets``."""
        every, image = self._cluster.topics.all, self._cluster.image
        found = self._look(
            lambda: {each.name: topic_info(each, image) for each in sorted(every(), key=lambda topic: topic.name)}
        )
        return ByName("broker.all_topics", found)

    @property
    def nodes(self) -> dict[int, NodeInfo]:
        """The nodes by id, with their state and the number of partitions that they lead."""
        from odradek.broker.nodes.node_life import nodes

        return ByName("broker.nodes", self._look(lambda: nodes(self._cluster)))

    def records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
        limit: int | None = None,
    ) -> Records:
        """The records that a topic holds now, partition after partition, in offset order.

        ``start`` is the first offset, by default the start of the log. ``isolation="read_committed"`` leaves out
        records of aborted and open transactions. ``control=True`` includes transaction markers. ``limit`` is the
        maximum number of records in all partitions together. Raises KafkaError for an unknown topic or
        partition.

        In Python it is a list that is read when it is used: `assert broker.records("orders")` reads one record, a loop
        keeps none, and ``len``, ``==`` and an index read everything. ``broker.records("orders").decoded()`` has the
        keys and values decoded by the schemas that `set_schema` has set.
        """
        from odradek.broker.facade.records.reading import bounds_of, decoded_records, read_records

        topics = self._cluster.topics
        if limit is not None and limit < 0:
            raise ValueError(f"limit={limit}: expected 0 or more records")
        bounds = self._look(lambda: bounds_of(topics, topic, partition, isolation, lambda *_: start or 0))

        def read() -> Iterator[StoredRecord]:
            return islice(read_records(self._look, topics, topic, bounds, isolation, control), limit)

        holder = holder_of(topic, partition, isolation, start, limit)
        return Records(read, lambda: decoded_records(self._cluster.record_schemas, read()), holder)

    @property
    def schemas(self) -> list[SchemaInfo]:
        """The schemas that `set_schema` has set, ordered by topic."""
        return self._cluster.record_schemas.infos()

    def _seeding(self, topic: str, key_serializer: Serializer | None, value_serializer: Serializer | None) -> Writing:
        """The writer of records to a topic."""
        from odradek.broker.facade.records.writing import Seeding

        return Seeding(self._cluster, self._look, self._partitioner, topic, key_serializer, value_serializer)

    @property
    def groups(self) -> dict[str, GroupInfo]:
        """Snapshots of the groups, by id."""
        from odradek.broker.facade.groups.description import list_groups

        return ByName("broker.groups", self._look(lambda: list_groups(self._cluster.groups, self._cluster.topics)))

    @property
    def transactions(self) -> dict[str, TransactionInfo]:
        """The transactional ids with the state, partitions and age of their transactions."""
        from odradek.broker.facade.transactions import list_transactions

        cluster = self._cluster
        found = self._look(lambda: list_transactions(cluster.transactions, cluster.nodes, cluster.clock.now_ms()))
        return ByName("broker.transactions", found)

    @property
    def faults(self) -> list[Fault]:
        """The faults that are set, in the order in which they are tried."""
        return self._cluster.faults

    @property
    def denied(self) -> list[Denial]:
        """Refusals, newest last: requests without the right to make them, and failed log-ins."""
        return list(self._cluster.services.denials.entries.copy())

    @property
    def bugs(self) -> list[Bug]:
        """Unexpected exceptions of request handlers. Empty unless odradek has a bug."""
        return list(self._cluster.bug_log.bugs)

    @property
    def mark(self) -> float:
        """The current time for `report` and `strictness`, as a number that only this broker understands."""
        return self._cluster.clock.face.source()

    def report(self, *, since: float | None = None, asked_only: bool = False) -> str:
        """A report to print: topics, groups, the last requests, and likely causes of a test failure.

        ``since`` is a `mark`: the report only shows requests since then. ``asked_only`` leaves out topics and groups
        that these requests do not concern; the report is empty if there were no requests.
        """
        from odradek.broker.facade.report.text import report_of

        return report_of(self._cluster, self._look, repr(self), since, asked_only=asked_only)

    def why(self, group_id: str) -> str:
        """A report to print: why a group reads nothing, or not what was expected."""
        from odradek.broker.facade.report.text import why_of

        return why_of(self._cluster, self._look, group_id)

    def strictness(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        """Everything that clients relied on, since a `mark` or ever, although a real cluster does not promise it.

        It does not depend on ``strict``: all default rules are checked, and the opt-in rules in ``also``. Clients that
        are still open are reported, too.
        """
        from odradek.broker.facade.report.strictness import findings_since

        return findings_since(self._cluster, self._look, since, also)

    @property
    def client_metrics(self) -> list[ClientMetric]:
        """The metrics that clients have pushed (KIP-714), oldest first. The last 16 MiB are kept.

        Clients push the metrics that `subscribe_client_metrics` requested before they connected. Raises ImportError
        without the extra ``telemetry``, ValueError for a push that cannot be decoded.
        """
        from odradek.broker.telemetry.pushes import metrics_of

        return list(metrics_of(self.telemetry_pushes))

    @property
    def telemetry_pushes(self) -> list[TelemetryPush]:
        """The pushes behind `client_metrics`, oldest first: client, time, and the bytes of the payload."""
        telemetry = self._cluster.services.telemetry
        return self._look(lambda: [] if telemetry.made is None else list(telemetry.made.pushes()))
