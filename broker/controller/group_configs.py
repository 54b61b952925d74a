"""What the configs of a group may be, beside the broker's own: the checks of Kafka 4.3.1, in its order."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, broker_keys

_BOUNDED = (
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
"""Numbers that lie between the broker's `group.<kind>.min.<rest>` and `.max.<rest>`, as far as it has these."""
_BOUNDS = {"streams.num.standby.replicas": "streams.standby.replicas"}
"""Whose bounds have another name."""
_KINDS = ("consumer", "share", "streams")


def check_group_configs(own: Mapping[str, str], broker: BrokerConfig) -> None:
    """ConfigError if a value that a group sets itself is out of bounds, or its sessions end before a heartbeat is due.

    `own`: in normal form. What the group does not set is the broker's.
    """
    for name in _BOUNDED:
        if name in own:
            _check_bounds(name, int(own[name]), broker)
    for kind in _KINDS:
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if _in_force(session, own, broker) <= _in_force(heartbeat, own, broker):
            raise ConfigError(f"{session} must be greater than {heartbeat}")


def _check_bounds(name: str, value: int, broker: BrokerConfig) -> None:
    kind, _, rest = _BOUNDS.get(name, name).partition(".")
    for side, word in (("min", "greater"), ("max", "less")):
        bound = f"group.{kind}.{side}.{rest}"
        if bound in broker_keys():
            limit = broker.get_int(bound)
            if (value < limit) if side == "min" else (value > limit):
                raise ConfigError(f"{name} must be {word} than or equal to {bound}")


def _in_force(name: str, own: Mapping[str, str], broker: BrokerConfig) -> int:
    return int(own[name]) if name in own else broker.get_int(f"group.{name}")
