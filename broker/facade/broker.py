"""Looking into a broker without a client: what both flavours have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.config.listeners import address_text
from odradek.broker.facade.records.record import Isolation, StoredRecord
from odradek.broker.facade.topics import TopicInfo, topic_info
from odradek.broker.requests.bugs import Bug
from odradek.protocol.partitioner import Partitioner

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.client_configs import Client
    from odradek.broker.facade.groups.info import GroupInfo
    from odradek.broker.facade.nodes import NodeInfo
    from odradek.broker.facade.overview import GroupPage, Overview, TopicPage
    from odradek.broker.facade.records.decoded import DecodedRecord
    from odradek.broker.facade.records.record import Serializer, Writing
    from odradek.broker.facade.report.strictness import StrictnessFinding
    from odradek.broker.facade.security_settings import Secured
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.facade.transactions import TransactionInfo
    from odradek.broker.faults.fault import Fault
    from odradek.broker.partitions.partition_registry import Topic
    from odradek.broker.schemas.record_schemas import SchemaInfo, SchemaRegistry
    from odradek.broker.security.denials import Denial
    from odradek.broker.telemetry.otlp import ClientMetric
    from odradek.broker.telemetry.pushes import TelemetryPush

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""A broker that listens everywhere is reached from here at these addresses."""


class Broker:
    """What can be seen of a running broker, whether it is a `KafkaBroker` or a `TrioBroker`.

    Nothing here waits or changes anything: a noun is a property, one with arguments a method.
    """

    # A new look goes here, if it only reads: `return self._look(lambda: function(self._cluster, ...))`.
    # A new verb, which changes or waits, goes into a module of facade/verbs, as one line that calls a function of a
    # facade module that takes the Cluster:
    #
    #     async def move_leader(self, topic: str, partition: int, node_id: int) -> None:
    #         """Let another in-sync replica lead a partition."""
    #         from odradek.broker.facade.nodes import move_leader
    #
    #         await self._call(lambda: move_leader(self._cluster, topic, partition, node_id))
    #
    # One that can be taken back is a plain `def`: `-> Pending[TrioUndo]`, `return self._undone_by(change, undo)`.
    # Then `make generate` writes its blocking twin.

    def __init__(self, cluster: Cluster, look: Call, secured: Secured | None = None) -> None:
        self._cluster = cluster
        self._look = look
        self._secured = secured
        self._partitioner = Partitioner()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.bootstrap_servers}>"

    @property
    def cluster(self) -> Cluster:
        """The cluster itself; use it in the broker's own thread only."""
        return self._cluster

    @property
    def clock(self) -> BrokerClock:
        """The broker's clock: ``advance(hours=1)``, ``freeze()``, ``resume()``, from any thread."""
        return self._cluster.clock

    @property
    def bootstrap_servers(self) -> str:
        """What a client's ``bootstrap.servers`` takes: ``host:port`` of every node that is up."""
        return self.bootstrap_servers_of(next(iter(self._cluster.nodes.values())).first.listener.name)

    def bootstrap_servers_of(self, listener: str) -> str:
        """What the ``bootstrap.servers`` of a client of this listener takes; KeyError if there is no such listener.

        `bootstrap_servers` is that of the listener that brokers use among themselves.
        """
        endpoints = [node.endpoints[listener] for node in self._cluster.up_nodes()]
        return ",".join(address_text(*each.address_for(_LOOPBACK.get(each.host))) for each in endpoints)

    @property
    def schema_registry_url(self) -> str:
        """Where the schema registry beside the broker is: what a client's ``schema.registry.url`` takes.

        RuntimeError if there is none.
        """
        return self._schema_registry.url

    @property
    def _schema_registry(self) -> SchemaRegistry:
        registry = self._cluster.schema_registry
        if registry is None:
            raise RuntimeError("there is no schema registry: start the broker with registry=True, or --registry-port")
        return registry

    def client_config(
        self, user: str | None = None, client: Client = "confluent", *, mechanism: str | None = None
    ) -> dict[str, Any]:
        """What a client needs to reach the broker and to log in as ``user``, in the words of that client.

        ``client``: ``confluent``, ``kcat`` (librdkafka's names), ``kafka-python``, ``aiokafka``, ``java``, or
        ``franz-go-env`` (environment variables, see docs/security.md). ``mechanism``: another one than the first of
        ``Security(mechanisms=...)``. ``java`` and ``franz-go-env`` get the URL of the schema registry, too; librdkafka
        refuses it. ValueError for a client or a user that is not known. The values hold secrets.
        """
        from odradek.broker.facade.client_configs import Access, client_config, registry_config

        servers, registry = self.bootstrap_servers, self._cluster.schema_registry
        access = Access(servers) if self._secured is None else self._secured.access(servers, user, mechanism)
        config = client_config(access, client)
        return config if registry is None else config | registry_config(registry.url, client)

    @property
    def topics(self) -> dict[str, TopicInfo]:
        """The topics by name, without Kafka's own."""
        return {name: topic for name, topic in self.all_topics.items() if not topic.internal}

    @property
    def all_topics(self) -> dict[str, TopicInfo]:
        """The topics by name, Kafka's own (``__consumer_offsets``, ...) among them."""
        every, image = self._cluster.topics.all, self._cluster.image
        return self._look(lambda: {each.name: topic_info(each, image) for each in sorted(every(), key=_name)})

    def topic(self, name: str) -> TopicInfo:
        """One topic, as it is now; KeyError for an unknown one."""
        from odradek.broker.facade.topics import topic_called

        return self._look(lambda: topic_called(self._cluster.topics, self._cluster.image, name))

    def topic_page(self, contains: str = "", *, start: int = 0, limit: int = 100, internal: bool = False) -> TopicPage:
        """A line for each topic with ``contains`` in its name: ``limit`` of them from the ``start``-th, by name.

        ``internal=True``: Kafka's own too. ValueError for a ``limit`` that is not 1 to 10,000.
        """
        from odradek.broker.facade.overview import topic_page

        return self._look(lambda: topic_page(self._cluster.topics, contains, start, limit, internal))

    def group_page(self, contains: str = "", *, start: int = 0, limit: int = 100) -> GroupPage:
        """A line for each group with ``contains`` in its id: ``limit`` of them from the ``start``-th, by id.

        ValueError for a ``limit`` that is not 1 to 10,000.
        """
        from odradek.broker.facade.overview import group_page

        cluster = self._cluster
        return self._look(lambda: group_page(cluster.groups, cluster.topics, contains, start, limit))

    @property
    def overview(self) -> Overview:
        """How much of everything there is, and the clock."""
        from odradek.broker.facade.overview import overview

        return self._look(lambda: overview(self._cluster))

    @property
    def nodes(self) -> dict[int, NodeInfo]:
        """The nodes by id: whether they are up, and what they lead."""
        from odradek.broker.facade.nodes import nodes

        return self._look(lambda: nodes(self._cluster))

    def records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
        limit: int | None = None,
    ) -> Iterator[StoredRecord]:
        """The records of a topic, partition after partition, in offset order, as they are at the time of the call.

        ``start``: first offset (default: the log's first). ``isolation="read_committed"`` leaves out aborted and open
        transactions. ``control=True`` also shows transaction markers. ``limit``: no more than so many, over all
        partitions. KeyError for an unknown topic or partition.
        """
        from odradek.broker.facade.records.reading import at_most, bounds_of, read_records

        topics = self._cluster.topics
        bounds = self._look(lambda: bounds_of(topics, topic, partition, isolation, start))
        return at_most(limit, read_records(self._look, topics, topic, bounds, isolation, control))

    def decoded_records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
        limit: int | None = None,
    ) -> Iterator[DecodedRecord]:
        """The records as `records` has them, with what the schemas that `set_schema` has set make of key and value."""
        from odradek.broker.facade.records.decoded import decoded_records

        found = self.records(topic, partition, start=start, isolation=isolation, control=control, limit=limit)
        return decoded_records(self._cluster.record_schemas, found)

    @property
    def schemas(self) -> list[SchemaInfo]:
        """The schemas that `set_schema` has set, by topic."""
        return self._cluster.record_schemas.infos()

    def _seeding(self, topic: str, key_serializer: Serializer | None, value_serializer: Serializer | None) -> Writing:
        """What writes records to a topic."""
        from odradek.broker.facade.records.writing import Seeding

        return Seeding(self._cluster, self._look, self._partitioner, topic, key_serializer, value_serializer)

    @property
    def groups(self) -> dict[str, GroupInfo]:
        """The groups by id, as they are at the time of the call."""
        from odradek.broker.facade.groups.description import list_groups

        return self._look(lambda: list_groups(self._cluster.groups, self._cluster.topics))

    @property
    def transactions(self) -> dict[str, TransactionInfo]:
        """The transactional ids with state, partitions and age, as they are now."""
        from odradek.broker.facade.transactions import list_transactions

        cluster = self._cluster
        return self._look(lambda: list_transactions(cluster.transactions, cluster.nodes, cluster.clock.now_ms()))

    @property
    def faults(self) -> list[Fault]:
        """The faults in force, in the order in which they are tried."""
        from odradek.broker.faults.fault import FaultSet

        known = self._cluster.dispatcher.faults
        return list(known.faults) if isinstance(known, FaultSet) else []

    @property
    def denied(self) -> list[Denial]:
        """What was refused to whom, and why, newest last: rights that were missing, log-ins that failed."""
        return list(self._cluster.services.denials.entries.copy())

    @property
    def bugs(self) -> list[Bug]:
        """Exceptions that a handler should not have raised; empty in a broker that works."""
        return list(self._cluster.bug_log.bugs)

    @property
    def last_requests(self) -> list[str]:
        """What the broker was asked last, as lines of text, newest last."""
        return self._cluster.recent.lines()

    @property
    def mark(self) -> float:
        """Now, as `report` and `strictness_since` take it: a number that means something to this broker alone."""
        return self._cluster.clock.face.source()

    def report(self, *, since: float | None = None, asked_only: bool = False) -> str:
        """What stands where, what was asked last, and what may explain that a test fails; as text, to print.

        ``since``: a `mark`; of what was asked from then on. ``asked_only``: leave out what these requests are not
        about; the text is empty if there were none.
        """
        from odradek.broker.facade.report.broker_report import report_of

        return report_of(self._cluster, self._look, repr(self), since, asked_only=asked_only)

    def why(self, group_id: str) -> str:
        """Why a group reads nothing, or not what was expected; as text, to print."""
        from odradek.broker.facade.report.broker_report import why_of

        return why_of(self._cluster, self._look, group_id)

    @property
    def strictness(self) -> list[StrictnessFinding]:
        """What clients relied on up to now that a real cluster does not promise, with ``strict`` and without.

        Rules that ``strict`` switches off too, none that ``+NAME`` asks for; clients that are still open count.
        """
        return self.strictness_since()

    def strictness_since(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        """The same from a `mark` on (None: from the start), ``also`` of rules such as ``"partitioner-order"``."""
        from odradek.broker.facade.report.broker_report import findings_since

        return findings_since(self._cluster, self._look, since, also)

    @property
    def client_metrics(self) -> list[ClientMetric]:
        """What clients reported of themselves (KIP-714), oldest first; the oldest of 16 MiB make room for the newest.

        Clients report what `subscribe_client_metrics` asked for before they connected. ImportError without the
        extra ``telemetry``; ValueError for a push that cannot be decoded.
        """
        from odradek.broker.telemetry.otlp import metrics_of

        return list(metrics_of(self.telemetry_pushes))

    @property
    def telemetry_pushes(self) -> list[TelemetryPush]:
        """The pushes behind `client_metrics` as they came, oldest first: who pushed when, and the payload's bytes."""
        from odradek.broker.facade.client_metrics import pushes

        return self._look(lambda: pushes(self._cluster))


def _name(topic: Topic) -> str:
    return topic.name
