"""The kinds of groups."""

from __future__ import annotations

from enum import Enum


class GroupType(Enum):
    """Kafka's group types, by the names that ListGroups shows. A group has one type at a time."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
