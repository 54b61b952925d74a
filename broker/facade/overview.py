"""The broker at a glance: counts, and pages of topics and groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.facade.groups.description import group_ids, group_info
from odradek.broker.facade.nodes import node_state
from odradek.broker.facade.transactions import list_transactions
from odradek.broker.faults.fault import FaultSet

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.records.record import DecodedRecord, Isolation
    from odradek.broker.partitions.partition_registry import PartitionRegistry, Topic


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts, and the state of the clock (``now_ms``, ``frozen``).

    ``nodes_up`` counts nodes that are neither down nor frozen. ``topics`` and ``partitions`` leave out internal topics.
    ``transactions`` counts transactions that are open or ending, ``requests`` the requests in the transcript.
    """

    now_ms: int
    frozen: bool
    nodes: int
    nodes_up: int
    topics: int
    partitions: int
    groups: int
    transactions: int
    requests: int
    faults: int
    bugs: int


def overview(cluster: Cluster) -> Overview:
    """Take the counts, in the broker's thread."""
    topics = [each for each in cluster.topics.all() if not each.internal]
    faults = cluster.dispatcher.faults
    now_ms = cluster.clock.now_ms()
    transactions = list_transactions(cluster.transactions, cluster.nodes, now_ms)
    return Overview(
        now_ms=now_ms,
        frozen=cluster.clock.frozen,
        nodes=len(cluster.nodes),
        nodes_up=sum(node_state(cluster, number) == "up" for number in cluster.nodes),
        topics=len(topics),
        partitions=sum(len(each.partitions) for each in topics),
        groups=len(group_ids(cluster.groups)),
        transactions=sum(each.age_ms is not None for each in transactions.values()),
        requests=len(cluster.recent.entries),
        faults=len(faults.faults) if isinstance(faults, FaultSet) else 0,
        bugs=len(cluster.bug_log.bugs),
    )


_MOST = 10_000


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A summary of a topic over all its partitions.

    ``records`` is the number of offsets between the start and the end of the logs. ``end`` is the sum of the log ends,
    which grows with each record. ``leaderless`` counts partitions without a leader, ``behind`` partitions with a
    replica that is not in sync.
    """

    name: str
    internal: bool
    partitions: int
    records: int
    end: int
    size_bytes: int
    leaderless: int
    behind: int


@dataclass(frozen=True, slots=True)
class TopicPage:
    """A page of topics, ordered by name. ``total`` counts the topics on all pages."""

    total: int
    topics: tuple[TopicSummary, ...]


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A summary of a group; see `GroupInfo`. ``members`` is their number."""

    group_id: str
    type: str
    state: str
    generation: int
    members: int
    lag: int | None
    coordinator: int


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A page of groups, ordered by id. ``total`` counts the groups on all pages."""

    total: int
    groups: tuple[GroupSummary, ...]


def topic_page(topics: PartitionRegistry, contains: str, start: int, limit: int, internal: bool) -> TopicPage:
    """A page of summaries, in the broker's thread. Raises ValueError for an impossible page."""
    names = (each.name for each in topics.all() if internal or not each.internal)
    total, chosen = _page(names, contains, start, limit)
    return TopicPage(total, tuple(_topic_summary(topics.by_name(name)) for name in chosen))


def group_page(groups: GroupService, topics: PartitionRegistry, contains: str, start: int, limit: int) -> GroupPage:
    """A page of summaries, in the broker's thread. Raises ValueError for an impossible page."""
    total, chosen = _page(group_ids(groups), contains, start, limit)
    return GroupPage(total, tuple(_group_summary(groups, topics, group_id) for group_id in chosen))


def _page(names: Iterable[str], contains: str, start: int, limit: int) -> tuple[int, list[str]]:
    if start < 0:
        raise ValueError(f"start={start}: pages are counted from 0")
    if not 0 < limit <= _MOST:
        raise ValueError(f"limit={limit}: a page has 1 to {_MOST} rows")
    found = sorted(name for name in names if contains in name)
    return len(found), found[start : start + limit]


def _topic_summary(topic: Topic) -> TopicSummary:
    parts = topic.partitions
    logs = [log for part in parts if (log := part.log_if_any) is not None]
    ends = [log.log_end_offset for log in logs]
    return TopicSummary(
        name=topic.name,
        internal=topic.internal,
        partitions=len(parts),
        records=sum(ends) - sum(log.log_start_offset for log in logs),
        end=sum(ends),
        size_bytes=sum(log.size_bytes for log in logs),
        leaderless=sum(part.leader_id < 0 for part in parts),
        behind=sum(len(part.isr) < len(part.replicas) for part in parts),
    )


def _group_summary(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupSummary:
    info = group_info(groups, topics, group_id)
    return GroupSummary(group_id, info.type, info.state, info.generation, len(info.members), info.lag, info.coordinator)


class PageLooks:
    """What the page shows of a broker; the control API serves it, too."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._cluster = broker.cluster
        self._look = broker._look

    def topic_page(self, contains: str = "", *, start: int = 0, limit: int = 100, internal: bool = False) -> TopicPage:
        """A page of summaries of the topics with ``contains`` in their name, ordered by name.

        The page starts at index ``start`` and has at most ``limit`` (1 to 10,000) topics. ``internal=True`` includes
        internal topics. Raises ValueError for another ``limit``.
        """
        return self._look(lambda: topic_page(self._cluster.topics, contains, start, limit, internal))

    def group_page(self, contains: str = "", *, start: int = 0, limit: int = 100) -> GroupPage:
        """A page of summaries of the groups with ``contains`` in their id, ordered by id.

        The page starts at index ``start`` and has at most ``limit`` (1 to 10,000) groups. Raises ValueError for another
        ``limit``.
        """
        cluster = self._cluster
        return self._look(lambda: group_page(cluster.groups, cluster.topics, contains, start, limit))

    def decoded_records(
        self,
        topic: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        isolation: Isolation = "read_uncommitted",
        control: bool = False,
        limit: int | None = None,
    ) -> Sequence[DecodedRecord]:
        """The same as `Broker.records`, with key and value decoded by the schemas that `set_schema` has set."""
        found = self._broker.records(topic, partition, start=start, isolation=isolation, control=control, limit=limit)
        return found.decoded()

    @property
    def overview(self) -> Overview:
        """Counts of nodes, topics, groups, transactions, requests and faults, and the clock."""
        return self._look(lambda: overview(self._cluster))
