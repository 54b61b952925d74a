"""What Kafka requires of a broker's configs beyond their types and limits, at the start and of each change."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, TopicConfig
from odradek.broker.config.definition import ConfigValue, invalid_value
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


# -- tiered storage (KIP-405, KIP-950): configs of the broker and of topics
#
# The tier's managers are Java classes. Those that Kafka has for its own tests are known by name: a storage that keeps
# what is copied and one that forgets it, and a manager of its metadata of each kind.


SYSTEM = "remote.log.storage.system.enable"
STORAGE = "remote.log.storage.manager.class.name"
METADATA = "remote.log.metadata.manager.class.name"
LISTENER = "remote.log.metadata.manager.listener.name"

_PACKAGE = "org.apache.kafka.server.log.remote."
FORGETS = f"{_PACKAGE}storage.NoOpRemoteStorageManager"
FORGETS_METADATA = f"{_PACKAGE}storage.NoOpRemoteLogMetadataManager"
STORAGES = (f"{_PACKAGE}storage.LocalTieredStorage", FORGETS)
METADATA_MANAGERS = (f"{_PACKAGE}metadata.storage.TopicBasedRemoteLogMetadataManager", FORGETS_METADATA)

_UNLIMITED = -1
_AS_ALL = -2


def check_broker(config: BrokerConfig, listeners: Collection[str]) -> None:
    """ConfigError where the broker would not start with these configs. `listeners`: the names of the brokers' own."""
    if not config.get_bool(SYSTEM):
        return
    for name, known in ((STORAGE, STORAGES), (METADATA, METADATA_MANAGERS)):
        value = config.get(name)
        if value not in known:
            raise ConfigError(f"{name}={value or ''} is not supported by odradek: it takes {' or '.join(known)}")
    wanted = config.get(LISTENER)
    if wanted is not None and str(wanted).upper() not in {name.upper() for name in listeners}:
        valid = ", ".join(listeners)
        why = f"Should be set as a listener name within valid broker listener name list: {valid}"
        raise invalid_value(LISTENER, wanted, why)
    _check_local(config.topic_default, "local.retention.bytes", "retention.bytes")
    _check_local(config.topic_default, "local.retention.ms", "retention.ms")


def check_topic(broker: BrokerConfig, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """ConfigError, in Kafka's words, for a topic that would have the settings `after` in place of `before`."""
    value = TopicConfig(broker, after).get
    if not value("remote.storage.enable"):
        was_tiered = before.get("remote.storage.enable") == "true"
        if was_tiered and not value("remote.log.delete.on.disable"):
            raise ConfigError(
                "It is invalid to disable remote storage without deleting remote data. If you want to keep the remote "
                "data and turn to read only, please set `remote.storage.enable=true,remote.log.copy.disable=true`. If "
                "you want to disable remote storage and delete all remote data, please set "
                "`remote.storage.enable=false,remote.log.delete.on.disable=true`."
            )
        return
    if not broker.get_bool(SYSTEM):
        raise ConfigError(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    if value("cleanup.policy") not in ((), ("delete",)):
        raise ConfigError(
            "Remote log storage only supports topics with cleanup.policy=delete or cleanup.policy being an empty list."
        )
    limits = [("local.retention.bytes", "retention.bytes"), ("local.retention.ms", "retention.ms")]
    for local, whole in limits:
        _check_local(value, local, whole)
    if value("remote.log.copy.disable"):
        for local, whole in limits:
            if value(local) not in (_AS_ALL, value(whole)):
                raise ConfigError(
                    f"When `remote.log.copy.disable` is set to true, the `{local}` and `{whole}` must be set to the "
                    "identical value because there will be no more logs copied to the remote storage."
                )


def check_stored(broker: BrokerConfig, topics: Iterable[Mapping[str, str]]) -> None:
    """ConfigError where the log directory has a tiered topic, and the broker does not tier any more. `topics`: their
    settings."""
    if not broker.get_bool(SYSTEM) and any(settings.get("remote.storage.enable") == "true" for settings in topics):
        raise ConfigError(
            "You have to delete all topics with the property remote.storage.enable=true before disabling tiered "
            "storage cluster-wide"
        )


def check_dynamic(broker: BrokerConfig, values: Mapping[str, str], node_id: int | None) -> None:
    """ConfigError for dynamic configs of a broker that keep more locally than in all.

    Kafka looks at them also where nothing is tiered.
    """

    def value(name: str) -> ConfigValue:
        if name in values:
            return int(values[name])
        if name == "log.retention.ms":
            return broker.topic_default("retention.ms", node_id)
        return broker.get(name, node_id)

    try:
        for unit in ("ms", "bytes"):
            _check_local(value, f"log.local.retention.{unit}", f"log.retention.{unit}")
            _check_lag(value, unit)
    except ConfigError as error:
        raise ConfigError(
            f"Invalid value org.apache.kafka.common.config.ConfigException: {error} for configuration "
            "Invalid dynamic configuration"
        ) from None


def _check_lag(value: Callable[[str], ConfigValue], unit: str) -> None:
    """Copying may not lag behind further than local segments are kept."""
    lag, kept = value(f"log.remote.copy.lag.{unit}"), value(f"log.local.retention.{unit}")
    if kept == _AS_ALL:
        kept = value(f"log.retention.{unit}")
    assert isinstance(lag, int)
    assert isinstance(kept, int)
    if 0 <= kept < lag:
        why = f"Value must not exceed log.local.retention.{unit} (effective value: {kept})"
        raise invalid_value(f"log.remote.copy.lag.{unit}", lag, why)


def _check_local(value: Callable[[str], ConfigValue], local: str, whole: str) -> None:
    kept, limit = value(local), value(whole)
    assert isinstance(kept, int)
    assert isinstance(limit, int)
    if limit <= _UNLIMITED or kept == _AS_ALL:
        return
    if kept == _UNLIMITED:
        raise invalid_value(local, kept, f"Value must not be -1 as {whole} value is set as {limit}.")
    if kept > limit:
        raise invalid_value(local, kept, f"Value must not be more than {whole} property value: {limit}")
