"""Checks the configs of a group against the broker's own, as Kafka does, in its order."""

from __future__ import annotations

import re
from collections.abc import Mapping

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.config.keys import BOUNDED, bounds_of

_KINDS = ("consumer", "share", "streams")
STREAMS_ASSIGNOR = "sticky"
_DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"


_TAGS = "streams.rack.aware.assignment.tags"
_ASSIGNOR = "streams.assignor.name"
_COMMAS = re.compile(r"\s*,\s*")


def check_group_texts(own: Mapping[str, str]) -> None:
    """ConfigError for values that Kafka refuses before it looks at their types. `own`: as they were given."""
    tags = own.get(_TAGS, "").strip()
    if len(set(_COMMAS.split(tags))) < len(_COMMAS.split(tags)):
        raise ConfigError(f"{_TAGS} must not contain duplicate tag keys.")


def check_group_configs(own: Mapping[str, str], broker: BrokerConfig) -> None:
    """ConfigError if a value that a group sets itself is out of bounds, or its sessions end before a heartbeat is due.

    `own`: in normal form. A config that the group does not set is the broker's.
    """
    if own.get(_DEAD_LETTER_TOPIC, "").startswith("__"):
        raise ConfigError(f"{_DEAD_LETTER_TOPIC}: DLQ topic name must not start with '__'")
    for name in BOUNDED:
        if name in own:
            _check_bounds(name, int(own[name]), broker)
    if own.get(_ASSIGNOR, STREAMS_ASSIGNOR) != STREAMS_ASSIGNOR:
        known = f"is not a registered task assignor. Registered assignors are: [{STREAMS_ASSIGNOR}]."
        raise ConfigError(f"{_ASSIGNOR} '{own[_ASSIGNOR]}' {known}")
    for kind in _KINDS:
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _in_force(session, own, broker) <= _in_force(heartbeat, own, broker):
            raise ConfigError(f"{session} must be greater than {heartbeat}")


def _check_bounds(name: str, value: int, broker: BrokerConfig) -> None:
    lowest, highest = bounds_of(name)
    if broker.release.tells_bounds_by_value:
        _check_values(name, value, *(None if bound is None else broker.get_int(bound) for bound in (lowest, highest)))
        return
    if lowest is not None and value < broker.get_int(lowest):
        raise ConfigError(f"{name} must be greater than or equal to {lowest}")
    if highest is not None and value > broker.get_int(highest):
        raise ConfigError(f"{name} must be less than or equal to {highest}")


def _check_values(name: str, value: int, lowest: int | None, highest: int | None) -> None:
    low, high = lowest is not None and value < lowest, highest is not None and value > highest
    if lowest is not None and highest is not None:
        if low or high:
            raise ConfigError(f"{name} must be in the range {lowest} to {highest} inclusive.")
    elif low:
        raise ConfigError(f"{name} must be greater than or equal to {lowest}")
    elif high:
        raise ConfigError(f"{name} must be less than or equal to {highest}")


def _in_force(name: str, own: Mapping[str, str], broker: BrokerConfig) -> int:
    return int(own[name]) if name in own else broker.get_int(f"group.{name}")
