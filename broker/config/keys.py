"""Which names configs have: the broker's, the topics', and the broker's for one listener (`listener.name.x.*`)."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.config.definition import ConfigKey, UnknownKey, keys_of

LISTENER_PREFIX = "listener.name."
LIVE_LISTENERS = ("listener.security.protocol.map", "listeners")
"""What says where a running broker listens, see `odradek.broker.config.listener_changes`."""
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
_OF_THE_AUTHORIZER = ("super.users", "allow.everyone.if.no.acl.found")
"""What StandardAuthorizer reads by itself: a Kafka broker does not know these names."""
_broker_keys: dict[str, ConfigKey] = {}


def broker_keys() -> Mapping[str, ConfigKey]:
    """Every broker config by name: Kafka's and odradek's own."""
    return _broker_keys or _load_broker_keys()


def _load_broker_keys() -> Mapping[str, ConfigKey]:
    for name, key in (*keys_of("broker").items(), *keys_of("odradek").items()):
        _broker_keys[name] = key
    return _broker_keys


def topic_keys() -> Mapping[str, ConfigKey]:
    """Every topic config by name."""
    return keys_of("topic")


def key_of(name: str) -> ConfigKey | None:
    """The key of a broker config; of `listener.name.x.key` and `listener.name.x.mechanism.key` that of `key`.

    None for an unknown name, and for a key that no listener has for itself.
    """
    key = broker_keys().get(name)
    if key is None and name.startswith(LISTENER_PREFIX):
        _, _, rest = name[len(LISTENER_PREFIX) :].partition(".")
        while rest:
            key = broker_keys().get(rest)
            if key is not None:
                return key if rest.startswith(_FOR_A_LISTENER) or rest in _ALSO_FOR_A_LISTENER else None
            _, _, rest = rest.partition(".")
    return key


def base_name(name: str) -> str | None:
    """What a listener's config is about: `key` of `listener.name.x.key`. None for other names.

    Kafka takes what stands behind the listener's name for the key. Of a mechanism's it knows the few that it calls so.
    """
    if not name.startswith(LISTENER_PREFIX):
        return None
    _, _, base = name[len(LISTENER_PREFIX) :].partition(".")
    return next((key for key in _OF_MECHANISMS if base.endswith(key)), base)


def shown_key(name: str) -> ConfigKey:
    """What is told of any name that a broker keeps: known, a listener's, or unknown."""
    key = broker_keys().get(name)
    if key is not None:
        return UnknownKey(name) if name in _OF_THE_AUTHORIZER else key
    base = broker_keys().get(base_name(name) or "")
    if base is None:
        return UnknownKey(name)
    return ConfigKey(name, base.type, None, base.importance, base.limits, documentation=base.documentation)
