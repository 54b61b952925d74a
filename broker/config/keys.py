"""Which names configs have: the broker's, the topics', and the broker's for one listener (`listener.name.x.*`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from odradek.broker.config.definition import ConfigKey, ConfigType, UnknownKey, Update, keys_of
from odradek.broker.releases.release import Release

LISTENER_PREFIX = "listener.name."
LIVE_LISTENERS = ("listener.security.protocol.map", "listeners")
"""The configs with the addresses of a running broker, see `odradek.broker.config.listener_layout`."""
_FOR_A_LISTENER = ("ssl.", "sasl.")
_ALSO_FOR_A_LISTENER = frozenset(
    {
        "connections.max.reauth.ms",
        "max.connection.creation.rate",
        "max.connections",
        "num.network.threads",
        "principal.builder.class",
    }
)
_OF_MECHANISMS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
_PROTOCOL = "inter.broker.protocol.version"
OF_STANDARD_AUTHORIZER = ("super.users", "allow.everyone.if.no.acl.found")
"""The configs that StandardAuthorizer reads by itself: a Kafka broker does not define them."""


@cache
def broker_keys() -> Mapping[str, ConfigKey]:
    """Every broker config of the newest release by name: Kafka's and odradek's own."""
    return {**keys_of("broker"), **keys_of("odradek")}


def topic_keys() -> Mapping[str, ConfigKey]:
    """Every topic config of the newest release by name."""
    return keys_of("topic")


class ConfigKeys:
    """The configs that one Kafka release knows, by name. `broker` has odradek's own as well."""

    def __init__(self, release: Release) -> None:
        self.broker: Mapping[str, ConfigKey]
        if release.configs:
            self.broker = {**_keys_of_release("broker", release), **keys_of("odradek")}
            self.topic = _keys_of_release("topic", release)
            self.group = _keys_of_release("group", release)
        else:
            self.broker, self.topic, self.group = broker_keys(), topic_keys(), keys_of("group")

    def find(self, name: str) -> ConfigKey | None:
        """The key of a broker config; of `listener.name.x.key` and `listener.name.x.mechanism.key` that of `key`.

        None for an unknown name, and for a key that no listener has for itself.
        """
        key = self.broker.get(name)
        if key is None and name.startswith(LISTENER_PREFIX):
            _, _, rest = name[len(LISTENER_PREFIX) :].partition(".")
            while rest:
                key = self.broker.get(rest)
                if key is not None:
                    return key if rest.startswith(_FOR_A_LISTENER) or rest in _ALSO_FOR_A_LISTENER else None
                _, _, rest = rest.partition(".")
        return key

    def shown(self, name: str) -> ConfigKey:
        """The key of any name that a broker keeps: known, a listener's, or unknown."""
        key = self.broker.get(name)
        if key is not None:
            return UnknownKey(name) if name in OF_STANDARD_AUTHORIZER else key
        base = self.broker.get(base_name(name) or "")
        if base is None:
            return UnknownKey(name)
        return ConfigKey(name, base.type, None, base.importance, base.limits, documentation=base.documentation)


@cache
def keys_of_release(release: Release) -> ConfigKeys:
    """The configs that a release knows."""
    return ConfigKeys(release)


def _keys_of_release(scope: str, release: Release) -> Mapping[str, ConfigKey]:
    differences = release.configs[scope]
    gone, changed = frozenset(differences["gone"]), differences["changed"]
    keys = {name: key for name, key in keys_of(scope).items() if name not in gone}
    if differences["added"]:
        others = keys_of(f"other_{scope}")
        keys |= {name: others[name] for name in differences["added"]}
    keys = {name: _changed(key, changed[name]) if name in changed else key for name, key in keys.items()}
    return {
        name: _with_newest_protocol(key, release) if key.limits == "protocol" else key for name, key in keys.items()
    }


def _with_newest_protocol(key: ConfigKey, release: Release) -> ConfigKey:
    """The key with the newest version of the protocol between brokers that a release knows."""
    changed = release.configs["broker"]["changed"].get(_PROTOCOL, {})
    newest = changed.get("default", keys_of("other_broker")[_PROTOCOL].default)
    return _changed(key, {"limits": f"protocol {newest}"})


def _changed(key: ConfigKey, change: Mapping[str, Any]) -> ConfigKey:
    kind = ConfigType[change["type"].upper()] if "type" in change else key.type
    was_list = key.type is ConfigType.LIST and kind is not ConfigType.LIST
    return ConfigKey(
        key.name,
        kind,
        change.get("default", key.default),
        change.get("importance", key.importance),
        change.get("limits", "" if was_list else key.limits),
        Update(change["update"]) if "update" in change else key.update,
        key.use,
        key.documentation,
        change.get("internal", key.internal),
    )


def base_name(name: str) -> str | None:
    """The parts of a listener's config: `key` of `listener.name.x.key`. None for other names.

    Kafka takes what stands behind the listener's name for the key. Of a mechanism's it knows the few that it calls so.
    """
    if not name.startswith(LISTENER_PREFIX):
        return None
    _, _, base = name[len(LISTENER_PREFIX) :].partition(".")
    return next((key for key in _OF_MECHANISMS if base.endswith(key)), base)


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
"""In the order in which Kafka 4.4.0 checks them."""
_RENAMED = {"streams.num.standby.replicas": "streams.standby.replicas"}
"""Configs whose bounds have another name."""


class Bounds(NamedTuple):
    """The names of the broker's configs; None where it has none."""

    lowest: str | None
    highest: str | None


@lru_cache
def bounds_of(name: str) -> Bounds:
    """`group.<kind>.min.<rest>` and `group.<kind>.max.<rest>` of a group's config, if the broker has these."""
    if name not in BOUNDED:
        return Bounds(None, None)
    kind, _, rest = _RENAMED.get(name, name).partition(".")
    lowest, highest = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
    known = broker_keys()
    return Bounds(lowest if lowest in known else None, highest if highest in known else None)
