"""Topics and groups in pages: for whoever looks at thousands of them through a window."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.facade.groups.description import group_ids, group_info

if TYPE_CHECKING:
    from odradek.broker.coordinator.group.service import GroupService
    from odradek.broker.partitions.partition_registry import PartitionRegistry, Topic

_MOST = 10_000


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A topic in one line, all partitions together.

    ``records``: offsets between the start and the end of the logs; ``end``: the sum of the ends, which grows with each
    record. ``leaderless``: partitions without a leader; ``behind``: those with a replica that is not in sync.
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
    """Some topics, in order of their names, and how many there are in ``total``."""

    total: int
    topics: tuple[TopicSummary, ...]


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """A group in one line; see `GroupInfo`. ``members``: how many."""

    group_id: str
    type: str
    state: str
    generation: int
    members: int
    lag: int | None
    coordinator: int


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Some groups, in order of their ids, and how many there are in ``total``."""

    total: int
    groups: tuple[GroupSummary, ...]


def topic_page(topics: PartitionRegistry, contains: str, start: int, limit: int, internal: bool) -> TopicPage:
    """In the broker's thread. ValueError for a page that there cannot be."""
    names = (each.name for each in topics.all() if internal or not each.internal)
    total, chosen = _page(names, contains, start, limit)
    return TopicPage(total, tuple(_topic_summary(topics.by_name(name)) for name in chosen))


def group_page(groups: GroupService, topics: PartitionRegistry, contains: str, start: int, limit: int) -> GroupPage:
    """In the broker's thread. ValueError for a page that there cannot be."""
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
    ends = [part.log.log_end_offset for part in parts]
    return TopicSummary(
        name=topic.name,
        internal=topic.internal,
        partitions=len(parts),
        records=sum(ends) - sum(part.log.log_start_offset for part in parts),
        end=sum(ends),
        size_bytes=sum(part.log.size_bytes for part in parts),
        leaderless=sum(part.leader_id < 0 for part in parts),
        behind=sum(len(part.isr) < len(part.replicas) for part in parts),
    )


def _group_summary(groups: GroupService, topics: PartitionRegistry, group_id: str) -> GroupSummary:
    info = group_info(groups, topics, group_id)
    return GroupSummary(group_id, info.type, info.state, info.generation, len(info.members), info.lag, info.coordinator)
