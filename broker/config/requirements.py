"""What Kafka requires of a broker's configs beyond their types and limits, at the start and of each change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.protocol.errors import ErrorCode, KafkaError

_MIB = 1 << 20


def _orders() -> list[tuple[str, str, str]]:
    """Pairs of configs and how they must stand to each other, in Kafka's order."""
    pairs = []
    for kind in ("consumer", "share", "streams"):
        for name in ("heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"):
            own, least, most = (f"group.{kind}.{prefix}{name}" for prefix in ("", "min.", "max."))
            pairs += [(most, ">=", least), (own, ">=", least), (own, "<=", most)]
            if name == "session.timeout.ms":
                pairs.append((f"group.{kind}.heartbeat.interval.ms", "<", own))
    streams = "group.streams."
    for name in ("num.standby.replicas", "num.warmup.replicas"):
        pairs.append((f"{streams}{name}", "<=", f"{streams}max.{name.removeprefix('num.')}"))
    pairs.insert(-1, (f"{streams}task.offset.interval.ms", ">=", f"{streams}min.task.offset.interval.ms"))
    for name in ("delivery.count.limit", "partition.max.record.locks"):
        pairs += [
            (f"group.share.max.{name}", ">=", f"group.share.{name}"),
            (f"group.share.{name}", ">=", f"group.share.min.{name}"),
        ]
    name = "record.lock.duration.ms"
    return [
        *pairs,
        (f"group.share.{name}", ">=", f"group.share.min.{name}"),
        (f"group.share.max.{name}", ">=", f"group.share.{name}"),
        ("group.share.max.share.sessions", ">=", "group.share.max.size"),
    ]


_ORDERS = _orders()
_SAID = {">=": "greater than or equal to", "<=": "less than or equal to", "<": "less than"}


def check_requirements(config: BrokerConfig, values: Mapping[str, str], node_id: int | None = None) -> None:
    """ConfigError, in Kafka's words, unless the configs fit together. `values` would replace dynamic ones of the node,
    or of all nodes."""

    def value(name: str, default: int | None = None) -> int | None:
        if name in values:
            return int(values[name])
        if default is not None and config.get(name, node_id) is None:
            return default
        return config.get_int(name, node_id)

    def number(name: str) -> int:
        found = value(name)
        assert found is not None
        return found

    def required(fits: bool, text: str) -> None:
        if not fits:
            raise ConfigError(f"requirement failed: {text}")

    for name, order, other in _ORDERS:
        one, another = number(name), number(other)
        if not (one >= another if order == ">=" else one <= another if order == "<=" else one < another):
            raise ConfigError(f"{name} must be {_SAID[order]} {other}")
    for name, least in (("log.roll.ms", 1), ("log.roll.jitter.ms", 0)):
        found = value(name, least)
        required(found is not None and found >= least, f"{name} must be greater than or equal to {least}")
    retention = int(values["log.retention.ms"]) if "log.retention.ms" in values else _retention_ms(config, node_id)
    text = "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
    required(retention >= 1 or retention < 0, text)
    threads, buffer = number("log.cleaner.threads"), number("log.cleaner.dedupe.buffer.size")
    if threads == 0:
        raise ConfigError("/ by zero")  # Kafka's words are those of its division
    text = "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread."
    required(buffer // threads > _MIB, text)
    wait = number("replica.fetch.wait.max.ms")
    text = "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms to prevent unnecessary socket"
    required(wait <= number("replica.socket.timeout.ms"), f"{text} timeouts")
    text = (
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms to prevent frequent"
    )
    required(wait <= number("replica.lag.time.max.ms"), f"{text} changes in ISR")
    queued = number("queued.max.request.bytes")
    text = "queued.max.request.bytes must be larger or equal to socket.request.max.bytes"
    required(queued <= 0 or queued >= number("socket.request.max.bytes"), text)
    idle, delay = number("connections.max.idle.ms"), number("connection.failed.authentication.delay.ms")
    text = (
        f"connection.failed.authentication.delay.ms={delay} should always be less than connections.max.idle.ms={idle} "
        "to prevent failed authentication responses from timing out"
    )
    required(idle < 0 or delay < idle, text)


def _retention_ms(config: BrokerConfig, node_id: int | None) -> int:
    """`log.retention.ms`, or minutes or hours in its place."""
    found = config.topic_default("retention.ms", node_id)
    assert isinstance(found, int)
    return found


# -- Log directories that get no new replicas: `cordoned.log.dirs` (KIP-1066).
#
# The controller looks at the configs of the brokers themselves. Kafka's brokers tell it what is cordoned with their
# heartbeats, so its metadata log repeats it.

CORDONED = "cordoned.log.dirs"
SINCE = 30
"""The level of `metadata.version` that brought them: 4.3-IV0."""
_ALL = "*"


def cordoned(config: BrokerConfig, node_id: int) -> Collection[str]:
    """The cordoned directories of a node, by the paths that clients know."""
    names = config.get_list(CORDONED, node_id)
    return config.directories_of(node_id) if names == (_ALL,) else names


def takes_replicas(config: BrokerConfig, node_id: int, metadata_version: int) -> bool:
    """Whether a directory of the node may get new replicas."""
    if metadata_version < SINCE or not config.get_list(CORDONED, node_id):
        return True
    return not set(config.directories_of(node_id)) <= set(cordoned(config, node_id))


def check_cordons(config: BrokerConfig, node_ids: Iterable[int]) -> None:
    """ConfigError for `cordoned.log.dirs` that names no directory of its node."""
    for node_id in node_ids:
        check_cordoned(config, node_id, config.get_list(CORDONED, node_id))


def check_cordoned(config: BrokerConfig, node_id: int, names: Sequence[str]) -> None:
    """ConfigError, in Kafka's words, for directories that the node does not have."""
    if _ALL in names:
        if len(names) > 1:
            text = f"When {CORDONED} is set to {_ALL}, it must not contain other values"
            raise ConfigError(f"requirement failed: {text}")
        return
    unknown = [name for name in names if name not in config.directories_of(node_id)]
    if unknown:
        text = f"All entries in {CORDONED} must be present in log.dirs or log.dir. Missing entries : "
        raise ConfigError(f"requirement failed: {text}{', '.join(unknown)}")


def check_cordons_changed(
    config: BrokerConfig, node_id: int | None, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    """The same for a change of dynamic configs that a broker is asked for."""
    if node_id is not None and CORDONED in after and before.get(CORDONED) != after[CORDONED]:
        check_cordoned(config, node_id, [name for name in after[CORDONED].split(",") if name])


def check_cordons_of_metadata(before: str | None, after: str | None, metadata_version: int, *, by_broker: bool) -> None:
    """INVALID_CONFIG where the controller does not take a value of the config (None: it is not set any more)."""
    if metadata_version < SINCE:
        text = f"The {CORDONED} configuration value cannot be set because it requires metadata.version >= 4.3-IV0"
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)
    if by_broker or not (after or "").strip():
        return
    known = _items(before or "")
    if not set(_items(after or "")) <= set(known):
        text = (
            f"When updating {CORDONED} via controllers,  the new value must be a subset of the current configuration "
            "value."
        )
        raise KafkaError(ErrorCode.INVALID_CONFIG, text)


def _items(text: str) -> list[str]:
    return re.split(r"\s*,\s*", text.strip())
