"""The lag of a group, or why there is none to tell."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.config.suggestion import did_you_mean
from odradek.broker.coordinator.group.classic.states import DEAD
from odradek.broker.facade.group_info import GroupInfo, TopicPartition


class LagUnknownError(LookupError):
    """A group has no lag that could be told: it does not exist, or has not committed what the lag is counted from."""


def lag_of(info: GroupInfo, known: Iterable[str]) -> int:
    """The lag in records; LagUnknownError, which says why, instead of None. ``known``: the ids of all groups."""
    if info.lag is not None:
        return info.lag
    name = f"group {info.group_id!r}"
    if info.state == DEAD.value:
        ids = sorted(known)
        others = f"the groups are {', '.join(ids)}" if ids else "there is no group at all"
        raise LagUnknownError(f"{name} does not exist{did_you_mean(info.group_id, ids)}; {others}")
    if not info.offsets:
        instead = "; see share_partitions of the share group" if info.type == "share" else ""
        raise LagUnknownError(f"{name} has not committed any offset{instead}")
    if info.uncommitted:
        where = named(info.uncommitted)
        raise LagUnknownError(f"{name} has not committed any offset of {where}, where there are records")
    raise LagUnknownError(f"{name} has committed offsets only of partitions that exist no more: {named(info.offsets)}")


def named(partitions: Iterable[TopicPartition]) -> str:
    """Partitions as Kafka writes them: ``orders-0, orders-1``."""
    return ", ".join(f"{topic}-{index}" for topic, index in sorted(partitions))
