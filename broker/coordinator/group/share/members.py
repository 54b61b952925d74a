"""The members of a share group and the share partitions that are stored for it, as the log says it: values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from odradek.broker.coordinator.group.assignment import NOTHING, Partitions

JOIN = 0
"""The epoch with which a member joins."""
LEAVE = -1
"""The epoch with which it leaves."""


class ShareMember(NamedTuple):
    """A member as stored. ``topics``: names it subscribes to, each once; ``assigned``: what it has."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    assigned: Partitions = NOTHING


class TopicStates(NamedTuple):
    """Partitions of one topic that the share coordinator stores, or begins to."""

    name: str
    partitions: frozenset[int]


def joined(one: Mapping[bytes, TopicStates], other: Mapping[bytes, TopicStates]) -> dict[bytes, TopicStates]:
    """The partitions of both; the names of the second count."""
    result = dict(one)
    for topic_id, row in other.items():
        known = result.get(topic_id)
        result[topic_id] = row if known is None else TopicStates(row.name, known.partitions | row.partitions)
    return result
