"""Looking into a broker without a client: topics, records, and whatever the coordinators offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.facade.call import Call
from odradek.broker.facade.partitioner import Partitioner
from odradek.broker.facade.producer_record import Headers, ProducerRecord, RecordMetadata, Serializer, TransactionEnd
from odradek.broker.facade.stored_record import Isolation, StoredRecord
from odradek.broker.facade.topic_changes import delete_records, delete_topic
from odradek.broker.facade.topic_spec import TopicSpec, config_texts, create_topic
from odradek.broker.facade.topics import TopicInfo, topic_info
from odradek.broker.requests.bugs import Bug

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.group_info import GroupInfo
    from odradek.broker.facade.groups import Group
    from odradek.broker.facade.transactions import TransactionHold, TransactionInfo
    from odradek.broker.requests.faults import Fault
    from odradek.broker.telemetry.otlp import ClientMetric
    from odradek.broker.telemetry.pushes import TelemetryPush

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
"""A broker that listens everywhere is reached from here at these addresses."""


class Broker:
    """A running broker as its user sees it.

    Everything that touches the cluster goes through ``call``: the cluster belongs to the broker's own thread.
    """

    def __init__(self, cluster: Cluster, call: Call) -> None:
        self._cluster = cluster
        self._call = call
        self._partitioner = Partitioner()

    def __repr__(self) -> str:
        return f"<Broker at {self.bootstrap_servers}>"

    # -- where and when

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
        addresses = [node.address_for(_LOOPBACK.get(node.host)) for node in self._cluster.up_nodes()]
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in addresses)

    @property
    def bugs(self) -> list[Bug]:
        """Exceptions that a handler should not have raised; empty in a broker that works."""
        return list(self._cluster.bug_log.bugs)

    def last_requests(self) -> list[str]:
        """What the broker was asked last, as lines of text, newest last."""
        return self._cluster.recent.lines()

    # -- topics and records

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        config: Mapping[str, Any] | None = None,
    ) -> TopicInfo:
        """Create a topic, ready when the call returns; KafkaError if Kafka would refuse it."""
        spec = TopicSpec(partitions, replication_factor, config_texts(config or {}))
        return self._call(lambda: topic_info(create_topic(self._cluster, name, spec)))

    def topics(self, *, internal: bool = False) -> dict[str, TopicInfo]:
        """The topics by name; Kafka's own (``__consumer_offsets``, ...) only if asked for."""

        def collect() -> dict[str, TopicInfo]:
            every = sorted(self._cluster.topics.all(), key=lambda topic: topic.name)
            return {topic.name: topic_info(topic) for topic in every if internal or not topic.internal}

        return self._call(collect)

    def records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
    ) -> Iterator[StoredRecord]:
        """The records of a topic, partition after partition, in offset order, as they are at the time of the call.

        ``start``: first offset (default: the log's first). ``isolation="read_committed"`` leaves out aborted and open
        transactions. ``control=True`` also shows transaction markers. KeyError for an unknown topic or partition.
        """
        from odradek.broker.facade.record_view import bounds_of, read_records

        topics = self._cluster.topics
        bounds = self._call(lambda: bounds_of(topics, topic, partition, isolation))
        return read_records(self._call, topics, topic, bounds, start, isolation, control)

    # -- writing

    def produce(
        self,
        topic: str,
        value: Any = None,
        *,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
        transactional_id: str | None = None,
        transaction: TransactionEnd = "commit",
    ) -> RecordMetadata:
        """Write a record as a client with acks=all would; consumers that wait for it get it.

        Keys and values are bytes, text (UTF-8), None, or what the serializer takes; ``timestamp`` is in milliseconds
        since 1970, by default the broker's time. Without ``partition`` the key decides as in the Java client (murmur2);
        records without a key go to the partitions in turn. ``transactional_id``: in a transaction of its own, which is
        committed, aborted or left ``"open"``; what the id had left open is aborted first. KafkaError as Kafka refuses
        it; a topic that does not exist is not created. The call does not wait for ``odradek.flush``.
        """
        record = ProducerRecord(value, key, headers, partition, timestamp)
        return self.produce_all(
            topic,
            [record],
            key_serializer=key_serializer,
            value_serializer=value_serializer,
            transactional_id=transactional_id,
            transaction=transaction,
        )[0]

    def produce_all(
        self,
        topic: str,
        records: Iterable[Any],
        *,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
        transactional_id: str | None = None,
        transaction: TransactionEnd = "commit",
    ) -> list[RecordMetadata]:
        """Write records, each a `ProducerRecord` or just a value; see `produce`. One transaction holds them all.

        Returns where each lies, in order. What was written before an error stays, unless it is in a transaction: that
        is aborted.
        """
        from odradek.broker.facade.seeding import Seeding

        seeding = Seeding(self._cluster, self._call, self._partitioner, topic, key_serializer, value_serializer)
        return seeding.write(records, transactional_id, transaction)

    def delete_topic(self, name: str) -> None:
        """Delete a topic with its records and what groups have committed in it; KafkaError if there is none."""
        self._call(lambda: delete_topic(self._cluster, name))

    def delete_records(self, topic: str, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        """Delete what lies before an offset, of one partition or of each; -1 is all that there is.

        Returns the first offset that is left, by partition. KafkaError as Kafka refuses it.
        """
        return self._call(lambda: delete_records(self._cluster, topic, partition, before))

    # -- groups

    def set_offsets(self, group_id: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets for a group: ``{("orders", 0): 5}``. The group is made if there is none.

        KafkaError if it has members, or for a partition that does not exist.
        """
        from odradek.broker.facade.offset_setting import set_offsets

        self._call(lambda: set_offsets(self._cluster, group_id, offsets))

    def groups(self) -> dict[str, GroupInfo]:
        """The groups by id, as they are at the time of the call."""
        from odradek.broker.facade.groups import list_groups

        return self._call(lambda: list_groups(self._cluster.groups, self._cluster.topics))

    def group(self, group_id: str) -> Group:
        """A group to look at and wait for: ``broker.group("g").wait_stable_sync(members=2)``."""
        from odradek.broker.facade.groups import Group

        cluster = self._cluster
        return Group(group_id, lambda: cluster.groups, cluster.services.share_partitions, cluster.topics, self._call)

    def reload_coordinator(self, partition: int, topic: str = "__consumer_offsets") -> None:
        """Make the coordinator of a partition forget everything and load again from its log, as after a move."""
        services = (self._cluster.groups, self._cluster.transactions)
        self._call(lambda: next(s for s in services if s.topic.name == topic).reload(partition))

    # -- transactions

    @property
    def transactions(self) -> dict[str, TransactionInfo]:
        """The transactional ids with state, partitions and age, as they are now."""
        from odradek.broker.facade.transactions import list_transactions

        cluster = self._cluster
        return self._call(lambda: list_transactions(cluster.transactions, cluster.nodes, cluster.clock.now_ms()))

    def hold(self, transactional_id: str, at: str) -> TransactionHold:
        """Keep the coordinator of a transactional id from going on past a point until released.

        ``at``: ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``; ValueError for anything else.
        """
        from odradek.broker.facade.transactions import TransactionHold

        held = self._call(lambda: self._cluster.transactions.holds.hold(transactional_id, at))
        return TransactionHold(held, self._call)

    # -- client metrics

    def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Ask clients for metrics, as ``kafka-client-metrics.sh`` does: a CLIENT_METRICS resource of this name.

        ``config``: ``metrics`` (prefixes, or ``*``), ``interval.ms``, ``match`` (``selector=pattern``, ...). None at
        all ends the subscription. Clients that connect later push. KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.facade.client_metrics import subscribe

        self._call(lambda: subscribe(self._cluster, name, config))

    def client_metrics(self) -> list[ClientMetric]:
        """What clients reported of themselves (KIP-714), oldest first; the oldest of 16 MiB make room for the newest.

        Clients report what `subscribe_client_metrics` asked for before they connected. ImportError without the
        extra ``telemetry``; ValueError for a push that cannot be decoded.
        """
        from odradek.broker.telemetry.otlp import metrics_of

        return list(metrics_of(self.telemetry_pushes()))

    def telemetry_pushes(self) -> list[TelemetryPush]:
        """The pushes behind `client_metrics` as they came, oldest first: who pushed when, and the payload's bytes."""
        from odradek.broker.facade.client_metrics import pushes

        return self._call(lambda: pushes(self._cluster))

    # -- nodes

    def stop_node(self, node_id: int) -> None:
        """Take a node down as a crash does; others lead its partitions where they are in sync."""
        from odradek.broker.facade.nodes import stop_node

        self._call(lambda: stop_node(self._cluster, node_id))

    def start_node(self, node_id: int) -> None:
        """Bring a node back at its old address."""
        from odradek.broker.facade.nodes import start_node

        self._call(lambda: start_node(self._cluster, node_id))

    def move_leader(self, topic: str, partition: int, node_id: int) -> None:
        """Let another in-sync replica lead a partition."""
        from odradek.broker.facade.nodes import move_leader

        self._call(lambda: move_leader(self._cluster, topic, partition, node_id))

    # -- faults

    def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        """Make the broker misbehave as told, instead of as told before; no argument = behave again.

        TypeError for anything but faults and lists of them, ValueError for a fault at a node that does not exist.
        """
        from odradek.broker.requests.faults import checked_faults

        chosen = checked_faults(faults, self._cluster.nodes)
        self._call(lambda: self._cluster.set_faults(chosen))
