"""Kafka's checks of configs of tiered storage (KIP-405, KIP-950), of the broker and of topics.

The tier's managers are Java classes. Those that Kafka has for its own tests are known by name: a storage that keeps
what is copied and one that forgets it, and a manager of its metadata of each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from odradek.broker.config.broker_config import BrokerConfig, ConfigError, TopicConfig
from odradek.broker.config.definition import ConfigValue, invalid_value

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
