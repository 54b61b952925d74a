"""The DescribeConfigs entries of a resource: each config with its value, source and synonyms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.broker.config.broker_config import TOPIC_SYNONYMS, BrokerConfig, ConfigSource, Synonym
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


def _entry(
    key: ConfigKey,
    value: str | None,
    synonyms: Iterable[Synonym],
    overrides: Mapping[str, str] = {},
    of_overrides: ConfigSource = ConfigSource.DEFAULT,
    *,
    read_only: bool = False,
) -> ConfigEntry:
    """The entry of a config, without secrets. `value`: if it is not among the resource's own ones, `overrides`."""
    found = tuple(synonyms)
    if key.name in overrides:
        value = overrides[key.name]
        found = (Synonym(key.name, value, of_overrides), *found)
    if key.is_sensitive:
        value, found = None, tuple(each._replace(value=None) for each in found)
    source = found[0].source if found else ConfigSource.DEFAULT
    return ConfigEntry(key.name, value, source, key, read_only, found)


def topic_entries(broker: BrokerConfig, overrides: Mapping[str, str], node_id: int) -> list[ConfigEntry]:
    """The configs of a topic with these overrides, as `node_id` sees its defaults, in Kafka's order."""
    keys, entries = broker.keys.topic, []
    for name in response_order([name for name, key in keys.items() if not key.internal or name in overrides]):
        behind = TOPIC_SYNONYMS.get(name)
        synonyms = [] if behind is None else broker.synonyms(behind[0][0], node_id)
        default = format_value(broker.topic_default(name, node_id))
        entries.append(_entry(keys[name], default, synonyms, overrides, ConfigSource.DYNAMIC_TOPIC))
    return entries


def broker_entries(broker: BrokerConfig, node_id: int, own: Mapping[str, str]) -> list[ConfigEntry]:
    """The configs of a node, in Kafka's order, without odradek's. `own`: the values from its place in the cluster (id,
    listeners, ...).
    """
    keys = broker.keys.broker
    given = dict.fromkeys((*broker.static_of(node_id), *broker.dynamic_default, *broker.dynamic_nodes.get(node_id, {})))
    shown = {name for name, key in keys.items() if not key.internal and key.update is not Update.DYNAMIC_ONLY}
    names = [name for name in keys if name in own or name in given or name in shown]
    names += (name for name in given if name not in keys)
    names = [name for name in names if not name.startswith(_OWN)]
    return [_broker_entry(broker, broker.keys.shown(name), node_id, own) for name in response_order(names)]


def _broker_entry(broker: BrokerConfig, key: ConfigKey, node_id: int, own: Mapping[str, str]) -> ConfigEntry:
    known = key.name in broker.keys.broker
    value = format_value(broker.get(key.name, node_id)) if known else broker.text(key.name, node_id)
    synonyms = broker.synonyms(key.name, node_id)
    if key.name in own:
        synonyms = [each for each in synonyms if each[::2] != (key.name, ConfigSource.STATIC_BROKER)]
    read_only = key.update is Update.READ_ONLY
    return _entry(key, value, synonyms, own, ConfigSource.STATIC_BROKER, read_only=read_only)


def cluster_default_entries(broker: BrokerConfig) -> list[ConfigEntry]:
    """The cluster-wide dynamic broker configs, which Kafka shows for the broker without a name."""
    entries = []
    for name in response_order(list(broker.dynamic_default)):
        key = broker.keys.shown(name)
        value = broker.dynamic_default[name]
        synonyms = [Synonym(name, value, ConfigSource.DYNAMIC_DEFAULT_BROKER)]
        entries.append(_entry(key, value, synonyms, read_only=key.update is Update.READ_ONLY))
    return entries


def group_entries(broker: BrokerConfig, overrides: Mapping[str, str], node_id: int) -> list[ConfigEntry]:
    """The configs of a consumer, share or streams group; `group.` + name is the broker config behind most of them."""
    keys, entries = broker.keys.group, []
    for name in response_order([name for name, key in keys.items() if not key.internal or name in overrides]):
        key = keys[name]
        behind = _BEHIND.get(name, "group." + name)
        if behind in broker_keys():
            synonyms = broker.synonyms(behind, node_id)
            value = format_value(broker.get(behind, node_id))
        else:
            synonyms = [Synonym(name, key.default, ConfigSource.DEFAULT)]
            value = key.default
        entries.append(_entry(key, value, synonyms, overrides, ConfigSource.GROUP))
    return entries


def client_metrics_entries(overrides: Mapping[str, str]) -> list[ConfigEntry]:
    """The configs of a client-metrics subscription (KIP-714)."""
    keys = keys_of("client_metrics").values()
    return [_entry(key, key.default, (), overrides, ConfigSource.CLIENT_METRICS) for key in keys]


def selected(entries: Iterable[ConfigEntry], names: Iterable[str] | None) -> list[ConfigEntry]:
    """The entries whose names were asked for; all of them for None or no name."""
    wanted = set(names or ())
    return [entry for entry in entries if not wanted or entry.name in wanted]
