"""A situation: everything that a report is made of, as plain values, so that it can describe a remote broker, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import ClockChange
from odradek.broker.facade.groups.info import GroupInfo
from odradek.broker.facade.thread_bridge import BrokerClosedError
from odradek.broker.facade.topics import TopicInfo, topic_info
from odradek.broker.facade.transactions import TransactionInfo
from odradek.broker.facade.transcript_view import TranscriptView
from odradek.broker.transcript.recorded_request import RecordedRequest
from odradek.protocol.record_batch import TimestampType

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call
    from odradek.broker.faults.fault import Fault
    from odradek.broker.partitions.partition import Topic
    from odradek.broker.requests.recent_requests import UnsupportedRequest
    from odradek.broker.schemas.record_schemas import RegisteredSchemas
    from odradek.broker.security.denials import Denial


def _nothing_stored(topic: str, partition: int, offset: int) -> bytes:
    return b""


@dataclass(frozen=True)
class Situation:
    """The state of a broker at one moment, and its requests, oldest first.

    `auto_created`: topics that were created automatically -> client id of the request. `held_back`: the replication
    that a test holds back, as text. `down`: ids of nodes that are down. `now_ms`: the broker's clock. `nodes`: their
    number. `retention_ms`: by topic, if its records are deleted by their create time. `lost`: why the first requests
    are missing, empty if none are. `stored`: reads the batch at an offset of a partition, empty if there is none.
    `registered`: the schemas of the registry beside the broker, None without one.
    """

    topics: Mapping[str, TopicInfo]
    groups: Mapping[str, GroupInfo]
    transactions: Mapping[str, TransactionInfo] = field(default_factory=dict)
    requests: tuple[RecordedRequest, ...] = ()
    now_ms: int = 0
    frozen: bool = False
    clock_changes: tuple[ClockChange, ...] = ()
    origin_s: float = 0.0
    auto_created: Mapping[str, str | None] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    held_back: tuple[str, ...] = ()
    down: tuple[int, ...] = ()
    denied: tuple[Denial, ...] = ()
    unserved: tuple[UnsupportedRequest, ...] = ()
    nodes: int = 1
    retention_ms: Mapping[str, int] = field(default_factory=dict)
    lost: str = ""
    stored: Callable[[str, int, int], bytes] = _nothing_stored
    registered: RegisteredSchemas | None = None

    def by_api(self, *apis: str) -> list[RecordedRequest]:
        """The requests of some APIs."""
        return [each for each in self.requests if each.api in apis]

    def answered(self, *apis: str) -> Iterator[tuple[RecordedRequest, Any, Any]]:
        """The requests of some APIs whose messages were kept, each with request and response."""
        for each in self.by_api(*apis):
            if each.request is not None and each.response is not None:
                yield each, each.request, each.response

    def of_requests(self) -> Situation:
        """The situation with only the topics, groups and transactions of these requests."""
        topics = {place.topic for each in self.requests for place in each.topics}
        groups = {group for each in self.requests for group in each.summary.groups}
        ids = {each for one in self.requests for each in one.summary.transactional_ids}
        return replace(
            self,
            topics={name: topic for name, topic in self.topics.items() if name in topics},
            groups={name: group for name, group in self.groups.items() if name in groups},
            transactions={name: each for name, each in self.transactions.items() if name in ids},
        )


def situation_of(
    cluster: Cluster, requests: tuple[RecordedRequest, ...], origin_s: float, since_ms: int | None = None
) -> Situation:
    """The situation of a cluster (in the broker's thread). `since_ms`: refusals before this time do not count."""
    clock = cluster.clock
    denials = cluster.services.denials.entries.copy()
    unserved = cluster.services.unserved.copy()
    denied = tuple(each for each in denials if since_ms is None or each.when_ms >= since_ms)
    up = {node.id for node in cluster.up_nodes()}
    topics = [topic for topic in cluster.topics.all() if not topic.internal]
    return Situation(
        topics={topic.name: topic_info(topic, cluster.image) for topic in topics},
        groups=_or_nothing(lambda: _groups(cluster)),
        transactions=_or_nothing(lambda: _transactions(cluster)),
        requests=requests,
        now_ms=clock.now_ms(),
        frozen=clock.frozen,
        clock_changes=tuple(clock.changes),
        origin_s=origin_s,
        auto_created=dict(cluster.services.auto_created),
        faults=tuple(cluster.faults),
        held_back=tuple(cluster.replicator.held_back()),
        down=tuple(node for node in cluster.nodes if node not in up),
        denied=denied,
        unserved=tuple(each for each in unserved if since_ms is None or each.when_ms >= since_ms),
        nodes=len(cluster.nodes),
        retention_ms=_retention_ms(topics),
        registered=None if cluster.schema_registry is None else cluster.record_schemas.registered,
    )


def _retention_ms(topics: Iterable[Topic]) -> dict[str, int]:
    configs = {topic.name: topic.partitions[0].log.config for topic in topics if topic.partitions}
    return {
        name: config.retention_ms
        for name, config in configs.items()
        if config.delete and config.retention_ms >= 0 and config.message_timestamp_type is TimestampType.CREATE_TIME
    }


def _groups(cluster: Cluster) -> dict[str, GroupInfo]:
    if cluster.services.groups.made is None:
        return {}
    from odradek.broker.facade.groups.description import list_groups

    return list_groups(cluster.groups, cluster.topics)


def _transactions(cluster: Cluster) -> dict[str, TransactionInfo]:
    if cluster.services.transactions.made is None:
        return {}
    from odradek.broker.facade.transactions import list_transactions

    return list_transactions(cluster.transactions, cluster.nodes, cluster.clock.now_ms())


def _or_nothing(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The value, or an empty one if the broker has ended."""
    try:
        return look()
    except Exception:
        return {}


def situation_since(cluster: Cluster, look: Call, since_s: float | None) -> Situation:
    """The situation of a broker that runs, or has ended; ``since_s`` as in `report_of`.

    Requests are read in the caller's thread: the broker's has other things to do.
    """
    origin_s = cluster.clock.changes[0].source_s
    if since_s is not None:  # any number may come from a control API
        since_s = min(max(origin_s, since_s), cluster.clock.face.source())
    transcript = TranscriptView(cluster)
    requests = tuple(each for each in transcript if since_s is None or each.exchange.seconds >= since_s)
    since_ms = None if since_s is None else cluster.clock.ms_at(since_s)
    try:
        return look(lambda: situation_of(cluster, requests, origin_s, since_ms))
    except BrokerClosedError:  # nobody changes it any more
        return situation_of(cluster, requests, origin_s, since_ms)
