"""What a group leaves out: partitions that nobody has, and partitions that were never committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from odradek.broker.coordinator.group.group_type import GroupType
from odradek.broker.facade.group_info import GroupInfo

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition
    from odradek.broker.partitions.registry import PartitionRegistry

Info = TypeVar("Info", bound=GroupInfo)


def with_gaps(info: Info, topics: PartitionRegistry) -> Info:
    """The same picture with ``unassigned`` and ``uncommitted`` filled in (in the broker's thread)."""
    subscribed = _subscribed(info)
    assigned = info.assignments
    followed = subscribed | {topic for topic, _ in info.offsets} if info.protocol_type else set()
    return replace(
        info,
        unassigned=tuple(place for each in _partitions(topics, subscribed) if (place := _place(each)) not in assigned),
        uncommitted=tuple(
            place
            for each in _partitions(topics, followed)
            if (place := _place(each)) not in info.offsets and _holds_records(each)
        ),
    )


def _subscribed(info: GroupInfo) -> set[str]:
    """Topics that members name, and those that they are to have, which patterns have found.

    None of a share group: its members get partitions one by one, when the share coordinator has made their state.
    """
    if info.type == GroupType.SHARE.value:
        return set()
    return {topic for member in info.members for topic in (*member.subscription, *member.target)}


def _partitions(topics: PartitionRegistry, names: Iterable[str]) -> Iterator[Partition]:
    for name in sorted(names):
        topic = topics.get(name)
        if topic is not None:
            yield from topic.partitions


def _place(partition: Partition) -> tuple[str, int]:
    return partition.topic.name, partition.index


def _holds_records(partition: Partition) -> bool:
    """A log that nobody has opened yet is left alone: a look must not open thousands."""
    return partition.opened and partition.log.high_watermark > partition.log.log_start_offset
