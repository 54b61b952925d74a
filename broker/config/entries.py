"""The DescribeConfigs entries of a resource: each config with its value, source and synonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.broker.config.broker_config import (
    TOPIC_SYNONYMS,
    BrokerConfig,
    ConfigSource,
    Synonym,
)
from odradek.broker.config.definition import ConfigKey, Update, format_value, keys_of, response_order
from odradek.broker.config.keys import broker_keys

_BEHIND = {"streams.assignor.name": "group.streams.assignors"}
"""Config of a group -> the broker config behind it, if that is not `group.` + name."""
_OWN = "odradek."
"""Begins the names of odradek's configs, which no tool of Kafka's expects."""


class ConfigEntry(NamedTuple):
    """One config of one resource. `value` is None where it is null or secret."""

    name: str
    value: str | None
    source: ConfigSource
    key: ConfigKey
    read_only: bool = False
    synonyms: tuple[Synonym, ...] = ()

    @property
    def is_sensitive(self) -> bool:
        """Whether the value is withheld."""
        return self.key.is_sensitive


def topic_entries(broker: BrokerConfig, overrides: Mapping[str, str], node_id: int) -> list[ConfigEntry]:
    """The configs of a topic with these overrides, as `node_id` sees its defaults, in Kafka's order."""
    keys = broker.keys.topic
    names = response_order([name for name, key in keys.items() if not key.internal or name in overrides])
    return [_topic_entry(broker, keys[name], overrides, node_id) for name in names]


def _topic_entry(broker: BrokerConfig, key: ConfigKey, overrides: Mapping[str, str], node_id: int) -> ConfigEntry:
    behind = TOPIC_SYNONYMS.get(key.name)
    synonyms = [] if behind is None else broker.synonyms(behind[0][0], node_id)
    own = overrides.get(key.name)
    if own is None:
        value = format_value(broker.topic_default(key.name, node_id))
    else:
        value = own
        synonyms.insert(0, Synonym(key.name, own, ConfigSource.DYNAMIC_TOPIC))
    source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
    return ConfigEntry(key.name, value, source, key, synonyms=tuple(synonyms))


def broker_entries(broker: BrokerConfig, node_id: int, own: Mapping[str, str]) -> list[ConfigEntry]:
    """The configs of a node, in Kafka's order, without odradek's. `own`: the values from its place in the cluster (id,
    listeners, ...).
    """
    keys = broker.keys.broker
    given = dict.fromkeys((*broker.static_of(node_id), *broker.dynamic_default, *broker.dynamic_nodes.get(node_id, {})))
    names = [name for name, key in keys.items() if name in own or name in given or _is_shown(key)]
    names += (name for name in given if name not in keys)
    names = [name for name in names if not name.startswith(_OWN)]
    return [_broker_entry(broker, broker.keys.shown(name), node_id, own) for name in response_order(names)]


def _is_shown(key: ConfigKey) -> bool:
    return not key.internal and key.update is not Update.DYNAMIC_ONLY


def _broker_entry(broker: BrokerConfig, key: ConfigKey, node_id: int, own: Mapping[str, str]) -> ConfigEntry:
    synonyms = broker.synonyms(key.name, node_id)
    value = (
        format_value(broker.get(key.name, node_id))
        if key.name in broker.keys.broker
        else broker.text(key.name, node_id)
    )
    if key.name in own:
        value = own[key.name]
        synonyms = [each for each in synonyms if each[::2] != (key.name, ConfigSource.STATIC_BROKER)]
        synonyms.insert(0, Synonym(key.name, value, ConfigSource.STATIC_BROKER))
    if key.is_sensitive:
        value = None
        synonyms = [Synonym(entry.name, None, entry.source) for entry in synonyms]
    source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
    read_only = key.update is Update.READ_ONLY
    return ConfigEntry(key.name, value, source, key, read_only, tuple(synonyms))


def cluster_default_entries(broker: BrokerConfig) -> list[ConfigEntry]:
    """The cluster-wide dynamic broker configs, which Kafka shows for the broker without a name."""
    entries = []
    for name in response_order(list(broker.dynamic_default)):
        key = broker.keys.shown(name)
        value = None if key.is_sensitive else broker.dynamic_default[name]
        synonyms = (Synonym(name, value, ConfigSource.DYNAMIC_DEFAULT_BROKER),)
        read_only = key.update is Update.READ_ONLY
        entries.append(ConfigEntry(name, value, ConfigSource.DYNAMIC_DEFAULT_BROKER, key, read_only, synonyms))
    return entries


def group_entries(broker: BrokerConfig, overrides: Mapping[str, str], node_id: int) -> list[ConfigEntry]:
    """The configs of a consumer, share or streams group; `group.` + name is the broker config behind most of them."""
    keys = broker.keys.group
    entries = []
    for name in response_order([name for name, key in keys.items() if not key.internal or name in overrides]):
        key = keys[name]
        behind = _BEHIND.get(name, "group." + name)
        if behind in broker_keys():
            synonyms = broker.synonyms(behind, node_id)
            value = format_value(broker.get(behind, node_id))
        else:
            synonyms = [Synonym(name, key.default, ConfigSource.DEFAULT)]
            value = key.default
        if name in overrides:
            value = overrides[name]
            synonyms.insert(0, Synonym(name, value, ConfigSource.GROUP))
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        entries.append(ConfigEntry(name, value, source, key, synonyms=tuple(synonyms)))
    return entries


def client_metrics_entries(overrides: Mapping[str, str]) -> list[ConfigEntry]:
    """The configs of a client-metrics subscription (KIP-714)."""
    return [
        ConfigEntry(
            name,
            overrides[name],
            ConfigSource.CLIENT_METRICS,
            key,
            synonyms=(Synonym(name, overrides[name], ConfigSource.CLIENT_METRICS),),
        )
        if name in overrides
        else ConfigEntry(name, key.default, ConfigSource.DEFAULT, key)
        for name, key in keys_of("client_metrics").items()
    ]


def selected(entries: Iterable[ConfigEntry], names: Iterable[str] | None) -> list[ConfigEntry]:
    """The entries whose names were asked for; all of them for None or no name."""
    wanted = set(names or ())
    if not wanted:
        return list(entries)
    return [entry for entry in entries if entry.name in wanted]
