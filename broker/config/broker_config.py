"""The broker's and the topics' configuration: Kafka's names, defaults and sources, and changes while running."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from odradek.broker.config.definition import (
    LAST_WITH_FORMATS,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConfigValue,
    Update,
    Use,
    first_unknown,
    format_value,
    message_format,
    normal_values,
    protocol_version,
)
from odradek.broker.config.keys import base_name, broker_keys, keys_of_release, topic_keys
from odradek.broker.config.listeners import ListenerConfig
from odradek.broker.mistakes import did_you_mean
from odradek.broker.releases.release import DEFAULT, Release, ReleaseError, release_names, release_of
from odradek.protocol.compression import Codec
from odradek.protocol.record_batch import FORMAT_OF_BATCHES, TimestampType
from odradek.storage.log_config import LogConfig

__all__ = ["BrokerConfig", "ConfigError", "ConfigSource", "Synonym", "TopicConfig", "broker_keys", "topic_keys"]

_log = logging.getLogger("odradek.broker.config")

# Defaults in which odradek differs from Kafka (DIFFERENCES.md tells why).
DEFAULTS_OF_ODRADEK = {"group.initial.rebalance.delay.ms": "0", "group.streams.initial.rebalance.delay.ms": "0"}

_ASSIGNOR_PACKAGE = "org.apache.kafka.coordinator.group.assignor."
CONSUMER_ASSIGNORS: Mapping[str, str] = {
    "uniform": "uniform",
    "range": "range",
    f"{_ASSIGNOR_PACKAGE}UniformAssignor": "uniform",
    f"{_ASSIGNOR_PACKAGE}RangeAssignor": "range",
}
"""The assignors for `group.consumer.assignors`, by the names that members use."""

CODECS = frozenset({"offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"})
"""The codecs of internal topics, by number."""

_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS

# Topic config -> broker configs that give its default, first set one wins, with the factor to the topic's unit.
TOPIC_SYNONYMS: Mapping[str, tuple[tuple[str, int], ...]] = {
    "cleanup.policy": (("log.cleanup.policy", 1),),
    "compression.gzip.level": (("compression.gzip.level", 1),),
    "compression.lz4.level": (("compression.lz4.level", 1),),
    "compression.type": (("compression.type", 1),),
    "compression.zstd.level": (("compression.zstd.level", 1),),
    "delete.retention.ms": (("log.cleaner.delete.retention.ms", 1),),
    "file.delete.delay.ms": (("log.segment.delete.delay.ms", 1),),
    "flush.messages": (("log.flush.interval.messages", 1),),
    "flush.ms": (("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    "index.interval.bytes": (("log.index.interval.bytes", 1),),
    "local.retention.bytes": (("log.local.retention.bytes", 1),),
    "local.retention.ms": (("log.local.retention.ms", 1),),
    "max.compaction.lag.ms": (("log.cleaner.max.compaction.lag.ms", 1),),
    "max.message.bytes": (("message.max.bytes", 1),),
    "max.decompressed.message.bytes": (("max.decompressed.message.bytes", 1),),
    "message.downconversion.enable": (("log.message.downconversion.enable", 1),),
    "message.format.version": (("log.message.format.version", 1),),
    "message.timestamp.after.max.ms": (("log.message.timestamp.after.max.ms", 1),),
    "message.timestamp.before.max.ms": (("log.message.timestamp.before.max.ms", 1),),
    "message.timestamp.difference.max.ms": (("log.message.timestamp.difference.max.ms", 1),),
    "message.timestamp.type": (("log.message.timestamp.type", 1),),
    "min.cleanable.dirty.ratio": (("log.cleaner.min.cleanable.ratio", 1),),
    "min.compaction.lag.ms": (("log.cleaner.min.compaction.lag.ms", 1),),
    "min.insync.replicas": (("min.insync.replicas", 1),),
    "preallocate": (("log.preallocate", 1),),
    "remote.copy.lag.bytes": (("log.remote.copy.lag.bytes", 1),),
    "remote.copy.lag.ms": (("log.remote.copy.lag.ms", 1),),
    "retention.bytes": (("log.retention.bytes", 1),),
    "retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", _MINUTE_MS),
        ("log.retention.hours", _HOUR_MS),
    ),
    "segment.bytes": (("log.segment.bytes", 1),),
    "segment.index.bytes": (("log.index.size.max.bytes", 1),),
    "segment.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", _HOUR_MS)),
    "segment.ms": (("log.roll.ms", 1), ("log.roll.hours", _HOUR_MS)),
    "unclean.leader.election.enable": (("unclean.leader.election.enable", 1),),
}

# Broker configs with the same meaning, most precise first.
BROKER_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    name: family
    for family in (
        ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
        ("log.roll.ms", "log.roll.hours"),
        ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    )
    for name in family
} | {"log.flush.interval.ms": ("log.flush.interval.ms", "log.flush.scheduler.interval.ms")}

RACK_AWARE_SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
_PERSISTERS = "org.apache.kafka.server.share.persister."
DEFAULT_PERSISTER = f"{_PERSISTERS}DefaultStatePersister"
NO_OP_PERSISTER = f"{_PERSISTERS}NoOpStatePersister"
DESCRIPTION_PLUGIN = "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_CLASSES: Mapping[str, tuple[str, str]] = {
    "authorizer.class.name": ("authorizer", STANDARD_AUTHORIZER),
    "replica.selector.class": ("replica selector", RACK_AWARE_SELECTOR),
    "group.streams.topology.description.plugin.class": ("plugin", DESCRIPTION_PLUGIN),
}
"""Configs that take one class or nothing, and what the class is."""


class ConfigSource(IntEnum):
    """The source of a value, as DescribeConfigs numbers it."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Synonym(NamedTuple):
    """One of the settings that a value could come from, in order of precedence."""

    name: str
    value: str | None
    source: ConfigSource


def check_supported(key: ConfigKey, text: str) -> None:
    """ConfigError if odradek does not do what `key` asks for and `text` asks for something."""
    if key.name == "group.consumer.assignors":
        _check_assignors(key.normal(text).split(","))
    if key.name == "group.coordinator.rebalance.protocols" and "classic" not in key.normal(text).split(","):
        raise ConfigError("Disabling the 'classic' protocol is not supported.")
    kind, known = _CLASSES.get(key.name, ("", None))
    if known is not None and key.normal(text) not in ("", known):
        raise ConfigError(f"{kind} '{text}' is not supported by odradek: {key.name} takes {known} or nothing")
    if key.name == "group.share.persister.class.name" and text.strip() not in ("", DEFAULT_PERSISTER, NO_OP_PERSISTER):
        raise ConfigError(f"Unknown persister specified {text}")
    if key.name in CODECS and int(key.normal(text)) not in tuple(Codec):
        raise ConfigError(f"Unknown compression type id: {key.normal(text)}")
    if key.use is Use.REFUSED:
        default = DEFAULTS_OF_ODRADEK.get(key.name, key.default)
        if key.normal(text) != (default or ""):
            raise ConfigError(f"config '{key.name}' is not supported by odradek{_instead(key.name, default)}")


NO_NODE = -1
"""In place of a node's id: the value that all nodes share."""
_AS_ALL = -2
"""What `local.retention.*` says where as much is kept locally as in all."""
_NO_OPS = ("NoOpRemoteStorageManager", "NoOpRemoteLogMetadataManager")
_VERSION, _ZOOKEEPER = RELEASE_CONFIGS = ("odradek.kafka.version", "odradek.zookeeper")
_DIFFERENCE = "message.timestamp.difference.max.ms"
_NO_LIMIT_MS = (1 << 63) - 1


def _release_of(values: Mapping[str, object]) -> Release:
    """The Kafka release that these configs ask for; ConfigError for one that odradek does not know."""
    if _VERSION not in values and _ZOOKEEPER not in values:
        return release_of()
    zookeeper = values.get(_ZOOKEEPER)
    wanted = None if zookeeper is None else str(zookeeper).strip().lower() == "true"
    try:
        return release_of(str(values.get(_VERSION, DEFAULT)), wanted)
    except ReleaseError as error:
        raise ConfigError(str(error)) from None


class Reconfigurable(Protocol):
    """A component that acts on a node's configs while it runs."""

    def check(self, node_id: int, values: Mapping[str, str]) -> None:
        """ConfigError if these dynamic configs of the node have to be refused."""

    def apply(self, node_id: int) -> None:
        """The node's dynamic configs were written: they, or files that they name, may be others."""


class BrokerConfig:
    """All broker configs of one cluster, in Kafka's layers.

    From strongest to weakest: `dynamic_nodes[node_id]`, `dynamic_default` (both changed by clients),
    `static_nodes[node_id]`, `static` (both given at the start), default. `values` name what Kafka knows; `file`, which
    they go before, may hold any name: unknown ones are kept for nobody, with a warning. `nodes` has the values that
    single nodes start with. Without a node id a getter answers for the cluster, by what its first broker started with
    (`check_own_values` sees to it that the others say the same); dynamic values of a node count only where the cluster
    has one node. All layers hold checked text. Owner: the cluster; the dynamic
    layers follow the metadata image. `watchers` are called when a dynamic layer has changed, or a node's values have.
    `node_ids`: the brokers. `later_ids`: those of them that joined a running cluster. `model_id`: the broker whose
    values count for the cluster; None for the first one.
    `directories_of`: the log directories of a node, by the paths that clients know; the cluster sets it.
    `release`: the Kafka that the cluster behaves as. `keys`: the configs that it knows. `release_of`: the Kafka that a
    node runs, which the cluster sets.
    """

    def __init__(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        file: Mapping[str, str] | None = None,
        nodes: Mapping[int, Mapping[str, Any]] | None = None,
        node_ids: Iterable[int] = (1,),
    ) -> None:
        self.static: dict[str, str] = {}
        self.static_nodes: dict[int, dict[str, str]] = {}
        self.dynamic_default: dict[str, str] = {}
        self.dynamic_nodes: dict[int, dict[str, str]] = {}
        self.node_ids = tuple(node_ids)
        self.later_ids: tuple[int, ...] = ()
        self.model_id: int | None = None
        self.watchers: list[Callable[[], None]] = []
        self.directories_of: Callable[[int], Sequence[str]] = lambda node_id: ()
        self._values: dict[tuple[str, int | None], ConfigValue] = {}
        self._cluster_values: dict[str, ConfigValue] = {}
        self._log_configs: dict[frozenset[tuple[str, str]], LogConfig] = {}
        self.reconfigurables: list[Reconfigurable] = []
        self.release = _release_of({**(file or {}), **(values or {})})
        self.keys = keys_of_release(self.release)
        self.release_of: Callable[[int], Release] = lambda node_id: self.release
        for name, text in (file or {}).items():
            if name not in (values or {}):
                self.static[name] = self._kept(name, text)
        for name, value in (values or {}).items():
            self.static[name] = self.check(name, _text_of(name, value))
        for node_id, own in (nodes or {}).items():
            self._take_own(node_id, own)

    def _take_own(self, node_id: int, own: Mapping[str, Any]) -> None:
        self.static_nodes[node_id] = {name: self.check(name, _text_of(name, value)) for name, value in own.items()}

    def check(self, name: str, text: str) -> str:
        """`text` in its normal form; ConfigError for an unknown name, a bad value or what odradek cannot honour."""
        key = self.keys.find(name)
        if key is None or key.update is Update.DYNAMIC_ONLY:
            raise ConfigError(f"unknown config '{name}'{self._suggestion(name)}")
        normal = key.normal(text)
        check_supported(key, text)
        return normal

    def _kept(self, name: str, text: str) -> str:
        """The text of a file's config; one that Kafka does not know is kept as it is."""
        if self.keys.find(name) is None:
            self.warn_of_unknown(name)
            return text
        return self.check(name, text)

    def warn_of_unknown(self, name: str) -> None:
        """Warn that an unknown config is kept, as in Kafka, without an effect."""
        _log.warning("config '%s' is unknown and has no effect%s", name, self._suggestion(name))

    def _suggestion(self, name: str) -> str:
        synonyms = TOPIC_SYNONYMS.get(name)
        if synonyms and synonyms[0][0] != name and synonyms[0][0] in self.keys.broker:
            return f" (a topic config: the broker's default for it is '{synonyms[0][0]}')"
        every = (keys_of_release(release_of(each)) for each in release_names())
        if name not in self.keys.broker and any(name in keys.broker or name in keys.topic for keys in every):
            return f": Kafka {self.release} does not have it"
        return did_you_mean(name, self.keys.broker)

    # -- nodes

    @property
    def founder_ids(self) -> tuple[int, ...]:
        """The brokers that the cluster started with."""
        return tuple(node_id for node_id in self.node_ids if node_id not in self.later_ids)

    def as_started(self) -> BrokerConfig:
        """What the nodes start with now, without the changes of clients. It does not change."""
        made = copy(self)
        made.dynamic_default, made.dynamic_nodes = {}, {}
        made._take(self.release)
        return made

    def with_node(self, node_id: int, own: Mapping[str, Any]) -> BrokerConfig:
        """What the nodes start with if one of them has these values of its own.

        ConfigError for an unknown name, a bad value or what odradek cannot honour.
        """
        made = self.as_started()
        made.static_nodes = dict(self.static_nodes)
        made._take_own(node_id, own)
        return made

    def with_broker(self, node_id: int, own: Mapping[str, Any]) -> BrokerConfig:
        """The same with a broker that joins."""
        made = self.with_node(node_id, own)
        made.model_id = self.node_ids[0] if self.model_id is None else self.model_id
        made.node_ids = tuple(sorted((*self.node_ids, node_id)))
        made.later_ids = (*self.later_ids, node_id)
        return made

    def without_broker(self, node_id: int) -> BrokerConfig:
        """The same without a broker that had joined."""
        made = self.as_started()
        made.static_nodes = {other: own for other, own in self.static_nodes.items() if other != node_id}
        made.node_ids = tuple(other for other in self.node_ids if other != node_id)
        made.later_ids = tuple(other for other in self.later_ids if other != node_id)
        made.model_id = None if self.model_id == node_id else self.model_id
        return made

    def take_nodes(self, other: BrokerConfig) -> None:
        """The nodes, and what they start with, are those of `other` from now on."""
        self.static_nodes, self.node_ids, self.later_ids = other.static_nodes, other.node_ids, other.later_ids
        self.model_id = other.model_id
        self._changed()

    # -- releases

    def seen_by(self, release: Release) -> BrokerConfig:
        """The configs as they are now, for a node of a release: it knows other names, and has other defaults."""
        if release is self.release:
            return self
        seen = copy(self)
        seen._take(release)
        return seen

    def behave_as(self, release: Release) -> None:
        """The cluster behaves as another release from now on."""
        self._take(release)
        for told in self.watchers:
            told()

    def check_start(self, release: Release) -> None:
        """ConfigError if a node of a release would not start with what was given. It passes over unknown names."""
        seen = self.seen_by(release)
        for given in (self.static, *self.static_nodes.values()):
            for name, text in given.items():
                if seen.keys.find(name) is not None:
                    seen.check(name, text)

    def _take(self, release: Release) -> None:
        self.release = release
        self.keys = keys_of_release(release)
        self._values, self._cluster_values, self._log_configs = {}, {}, {}

    # -- reading

    def get(self, name: str, node_id: int | None = None) -> ConfigValue:
        """The typed value; KeyError for an unknown name."""
        if node_id is None:
            try:
                return self._cluster_values[name]
            except KeyError:
                value = self._cluster_values[name] = self._resolve(name, self._node_for_cluster())
                return value
        cached = self._values.get((name, node_id), self)
        if cached is self:
            cached = self._values[name, node_id] = self._resolve(name, node_id)
        return cached  # type: ignore[return-value]

    def get_int(self, name: str, node_id: int | None = None) -> int:
        """The value of a number config; TypeError if it is null or no integer."""
        value = self._cluster_values.get(name) if node_id is None else None
        if type(value) is int:
            return value
        value = self.get(name, node_id)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} is not an integer: {value!r}")
        return value

    def get_bool(self, name: str, node_id: int | None = None) -> bool:
        """The value of a boolean config."""
        value = self.get(name, node_id)
        if not isinstance(value, bool):
            raise TypeError(f"{name} is not a boolean: {value!r}")
        return value

    def get_str(self, name: str, node_id: int | None = None) -> str:
        """The value of a text config; TypeError if it is null."""
        value = self.get(name, node_id)
        if not isinstance(value, str):
            raise TypeError(f"{name} is not text: {value!r}")
        return value

    def get_list(self, name: str, node_id: int | None = None) -> tuple[str, ...]:
        """The value of a list config; nothing where it is null."""
        value = self.get(name, node_id)
        if value is None and broker_keys()[name].type is ConfigType.LIST:
            return ()
        if not isinstance(value, tuple):
            raise TypeError(f"{name} is not a list: {value!r}")
        return value

    def is_set(self, name: str) -> bool:
        """Whether `name` was given at the start or changed since."""
        of_nodes = (*self.static_nodes.values(), *self.dynamic_nodes.values())
        return name in self.static or name in self.dynamic_default or any(name in own for own in of_nodes)

    def static_of(self, node_id: int | None = None) -> Mapping[str, str]:
        """The configs that a node (the first broker) started with."""
        if node_id is None:
            node_id = self.node_ids[0] if self.model_id is None else self.model_id
        own = self.static_nodes.get(node_id)
        return {**self.static, **own} if own else self.static

    def synonyms(self, name: str, node_id: int | None) -> list[Synonym]:
        """The settings that the value of `name` on `node_id` could come from, strongest first."""
        base = base_name(name)
        family = BROKER_SYNONYMS.get(name, (name,)) if base is None else (name, base)
        layers = (
            (self.dynamic_nodes.get(-1 if node_id is None else node_id, {}), ConfigSource.DYNAMIC_BROKER),
            (self.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER),
            (self.static_of(node_id), ConfigSource.STATIC_BROKER),
        )
        found = [Synonym(s, layer[s], source) for layer, source in layers for s in family if s in layer]
        for synonym in family:
            default = self.default_text(synonym)
            if default is not None:
                found.append(Synonym(synonym, default, ConfigSource.DEFAULT))
        # Kafka drops what comes before the first entry under the asked name.
        start = next((i for i, entry in enumerate(found) if entry.name == name), len(found))
        return found[start:]

    def for_listener(
        self, name: str, node_id: int | None = None, proposed: Mapping[str, str] | None = None
    ) -> ListenerConfig:
        """The configuration as this listener (of that node) sees it, whatever it is at the time.

        `proposed`: what the node's dynamic configs would be, instead of what they are.
        """
        if proposed is None:
            return ListenerConfig(name, lambda key: self.text(key, node_id))
        return ListenerConfig(name, lambda key: self.text(key, node_id, proposed))

    # -- changing

    def set_dynamic(self, node_id: int | None, values: Mapping[str, str]) -> None:
        """Replace the dynamic layer of a node, or the cluster-wide one (None), by checked values."""
        layer = self.dynamic_default if node_id is None else self.dynamic_nodes.setdefault(node_id, {})
        if layer != values:
            layer.clear()
            layer.update(values)
            self._changed()

    def _changed(self) -> None:
        self._values.clear()
        self._cluster_values.clear()
        self._log_configs.clear()
        for told in self.watchers:
            told()

    # -- topics

    def topic_default(self, name: str, node_id: int | None = None) -> ConfigValue:
        """The value of a topic config where the topic does not set it."""
        for synonym, factor in TOPIC_SYNONYMS.get(name, ()):
            value = self.get(synonym, node_id)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int):
                    return value
                # A negative time means "no limit" in any unit.
                return -1 if value < 0 and factor > 1 else value * factor
        return self.topic_key(name).default_value()

    @property
    def tier_keeps(self) -> bool:
        """Whether the remote tier keeps what is copied; Kafka's no-op managers do not."""
        managers = (self.get(f"remote.log.{kind}.manager.class.name") for kind in ("storage", "metadata"))
        return not any(str(manager).endswith(_NO_OPS) for manager in managers)

    def topic_key(self, name: str) -> ConfigKey:
        """The key of a topic config by which the broker reads it; KeyError for an unknown name."""
        return topic_keys().get(name) or self.keys.topic[name]

    def log_config(self, overrides: Mapping[str, str]) -> LogConfig:
        """The config of a topic's logs with these overrides. Equal overrides share one object."""
        cache_key = frozenset(overrides.items())
        config = self._log_configs.get(cache_key)
        if config is None:
            config = self._log_configs[cache_key] = _build_log_config(self, overrides)
        return config

    # -- inside

    def _node_for_cluster(self) -> int | None:
        return self.node_ids[0] if len(self.node_ids) == 1 else None

    def _resolve(self, name: str, node_id: int | None) -> ConfigValue:
        # What the broker itself reads has the newest type: `listeners` was a text up to 4.0.
        key, newest = self.keys.broker.get(name), broker_keys().get(name)
        if key is None or (newest is not None and newest.type is not key.type):
            key = broker_keys()[name]
        text = self.text(name, node_id)
        return None if text is None else key.parse(text)

    def text(self, name: str, node_id: int | None, dynamic: Mapping[str, str] | None = None) -> str | None:
        """The text in force of any name, known or not; None if it is not set and has no default.

        `dynamic`: what the node's dynamic configs would be, instead of what they are.
        """
        if dynamic is None:
            changed = self._node_for_cluster() if node_id is None else node_id
            dynamic = self.dynamic_nodes.get(NO_NODE if changed is None else changed, {})
        for layer in (dynamic, self.dynamic_default, self.static_of(node_id)):
            if name in layer:
                return layer[name]
        return self.default_text(name)

    def default_text(self, name: str) -> str | None:
        """The default of a config as text; None where it has none or the name is unknown."""
        if self.release.configs and name in self.keys.broker and name not in DEFAULTS_OF_ODRADEK:
            return self.keys.broker[name].default
        return default_text(name) if name in broker_keys() else None


class TopicConfig:
    """The configs that a topic sets itself (`overrides`, checked text), over the broker's defaults.

    Owner: the topic. Replaced, not changed, when a client alters the topic.
    """

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str] | None = None) -> None:
        self.broker = broker
        self.overrides: Mapping[str, str] = dict(overrides or {})

    def get(self, name: str) -> ConfigValue:
        """The typed value of a topic config; KeyError for an unknown name."""
        text = self.overrides.get(name)
        if text is None:
            return self.broker.topic_default(name)
        return self.broker.topic_key(name).parse(text)

    def log_config(self) -> LogConfig:
        """The config of a topic's logs."""
        return self.broker.log_config(self.overrides)

    @staticmethod
    def check(values: Mapping[str, str], keys: Mapping[str, ConfigKey] | None = None) -> dict[str, str]:
        """Topic configs in normal form; ConfigError in Kafka's words for a name or value that does not fit.

        `keys`: the topic configs of a release; by default those of the default release.
        """
        keys = topic_keys() if keys is None else keys
        unknown = first_unknown(values, keys)
        if unknown is not None:
            raise ConfigError(f"Unknown topic config name: {unknown}")
        checked = normal_values(values, keys)
        _check_topic_values(checked)
        for name, text in checked.items():
            check_supported(keys[name], text)
        return checked


def _check_assignors(names: Sequence[str]) -> None:
    for name in names:
        if name not in CONSUMER_ASSIGNORS:
            known = ", ".join(dict.fromkeys(CONSUMER_ASSIGNORS.values()))
            raise ConfigError(f"assignor '{name}' is not supported by odradek: group.consumer.assignors takes {known}")


def default_text(name: str) -> str | None:
    """The default of a broker config as text: Kafka's, or odradek's own where they differ."""
    own = DEFAULTS_OF_ODRADEK.get(name)
    return broker_keys()[name].default if own is None else own


def _check_topic_values(values: Mapping[str, str]) -> None:
    low, high = values.get("min.compaction.lag.ms"), values.get("max.compaction.lag.ms")
    lag = int(low if low is not None else 0)
    limit = int(high) if high is not None else None
    if limit is not None and lag > limit:
        raise ConfigError(
            f"conflict topic config setting min.compaction.lag.ms ({lag}) > max.compaction.lag.ms ({limit})"
        )


def _text_of(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return format_value(value) or ""
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    raise ConfigError(f"config '{name}' needs text, a number, a boolean or a list, not {value!r}")


# Beginning of a refused name -> what to do instead.
_INSTEAD = {
    "controller.": "every node is broker and controller",
    "sasl.": "a broker logs in nowhere, and runs no Java class",
    "ssl.": "Python's ssl makes TLS, no Java class",
    "security.": "listeners speak plain text",
    "remote.log.": "the managers of tiered storage are those that odradek has",
}


def _instead(name: str, default: str | None) -> str:
    for beginning, hint in _INSTEAD.items():
        if name.startswith(beginning):
            return f": {hint}"
    return f" (only its default {default!r} is)"


_LOG_CONFIG_FIELDS = {
    field: name
    for field in LogConfig.__dataclass_fields__
    if (name := field.replace("_", ".")) in TOPIC_SYNONYMS and name != "compression.type"
}


def _message_format(broker: BrokerConfig, topic: TopicConfig) -> int:
    protocol = protocol_version(broker.get_str("inter.broker.protocol.version"))
    if protocol is not None and protocol > LAST_WITH_FORMATS:
        return FORMAT_OF_BATCHES
    return message_format(str(topic.get("message.format.version")))


def _build_log_config(broker: BrokerConfig, overrides: Mapping[str, str]) -> LogConfig:
    topic = TopicConfig(broker, overrides)
    known = broker.keys.topic
    names = {field: name for field, name in _LOG_CONFIG_FIELDS.items() if name in topic_keys() or name in known}
    fields: dict[str, Any] = {field: topic.get(name) for field, name in names.items()}
    fields["cleanup_policy"] = frozenset(fields["cleanup_policy"])
    fields["message_timestamp_type"] = (
        TimestampType.LOG_APPEND_TIME
        if fields["message_timestamp_type"] == "LogAppendTime"
        else TimestampType.CREATE_TIME
    )
    if _DIFFERENCE in broker.keys.topic:
        _limit_by_difference(fields, topic)
    codec = topic.get("compression.type")
    if codec != "producer":
        fields["compression_type"] = Codec.NONE if codec == "uncompressed" else Codec[str(codec).upper()]
    internal_segment = overrides.get("internal.segment.bytes")
    if internal_segment is not None:
        fields["segment_bytes"] = int(internal_segment)
    for limit in ("bytes", "ms"):
        if fields[f"local_retention_{limit}"] == _AS_ALL:
            fields[f"local_retention_{limit}"] = fields[f"retention_{limit}"]
    if broker.get_bool("remote.log.storage.system.enable") and topic.get("remote.storage.enable"):
        fields["remote_storage_enable"] = True
        fields["remote_log_copy_disable"] = topic.get("remote.log.copy.disable")
        fields["remote_storage_keeps"] = broker.tier_keeps
    fields["producer_id_expiration_ms"] = broker.get_int("producer.id.expiration.ms")
    fields["refuses_append_time"] = broker.release.refuses_append_time
    if broker.release.keeps_message_formats:
        fields["message_format"] = _message_format(broker, topic)
    return LogConfig(**fields)


def _limit_by_difference(fields: dict[str, Any], topic: TopicConfig) -> None:
    """Up to Kafka 3.9 one config limits timestamps on both sides, where those for one side (from 3.6) do not."""
    for side in ("before", "after"):
        name = f"message.timestamp.{side}.max.ms"
        if name not in topic.broker.keys.topic or topic.get(name) == _NO_LIMIT_MS:
            fields[f"message_timestamp_{side}_max_ms"] = topic.get(_DIFFERENCE)


def is_list_key(key: ConfigKey | None) -> bool:
    """Whether APPEND and SUBTRACT work on the key."""
    return key is not None and key.type is ConfigType.LIST
