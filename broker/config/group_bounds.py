"""Between which of the broker's configs the numbers lie that a group may set for itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from odradek.broker.config.keys import broker_keys

BOUNDED: Sequence[str] = (
    "consumer.heartbeat.interval.ms",
    "consumer.session.timeout.ms",
    "consumer.assignment.interval.ms",
    "share.heartbeat.interval.ms",
    "share.session.timeout.ms",
    "share.record.lock.duration.ms",
    "share.delivery.count.limit",
    "share.partition.max.record.locks",
    "share.assignment.interval.ms",
    "streams.heartbeat.interval.ms",
    "streams.session.timeout.ms",
    "streams.num.standby.replicas",
    "streams.assignment.interval.ms",
)
"""In the order in which Kafka 4.3.1 checks them."""
_RENAMED = {"streams.num.standby.replicas": "streams.standby.replicas"}
"""Whose bounds have another name."""


class Bounds(NamedTuple):
    """The names of the broker's configs; None where it has none."""

    lowest: str | None
    highest: str | None


@lru_cache
def bounds_of(name: str) -> Bounds:
    """`group.<kind>.min.<rest>` and `group.<kind>.max.<rest>` of a group's config, as far as the broker has these."""
    if name not in BOUNDED:
        return Bounds(None, None)
    kind, _, rest = _RENAMED.get(name, name).partition(".")
    lowest, highest = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
    known = broker_keys()
    return Bounds(lowest if lowest in known else None, highest if highest in known else None)
