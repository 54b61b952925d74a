"""Listeners: names, security protocols and addresses, as `listeners` and its relatives write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError, ConfigType, ConfigValue
from odradek.broker.config.keys import LISTENER_PREFIX, broker_keys

# As Kafka's, but for ports that no socket has: Kafka fails at them when it listens.
_ENDPOINT = r"(?P<name>.*)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>[0-9]+)"
_LARGEST_PORT = 65_535
_PROTOCOL_MAP = "listener.security.protocol.map"
LOOPBACK: Mapping[str, str] = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""The hosts that mean every address, and where a program on the same machine reaches who listens there."""


class SecurityProtocol(StrEnum):
    """The protocol of a listener. `number`: its number in the metadata log."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def tls(self) -> bool:
        """Whether connections begin with a TLS handshake."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def sasl(self) -> bool:
        """Whether clients log in before their first request."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)

    @property
    def number(self) -> int:
        """0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""
        return list(SecurityProtocol).index(self)


class Listener(NamedTuple):
    """One entry of `listeners` or `advertised.listeners`. An empty host means every address; port 0 any free one."""

    name: str
    protocol: SecurityProtocol
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        return f"{self.name}://{address_text(self.host, self.port)}"


def address_text(host: str, port: int) -> str:
    """`host:port`, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def normalised(name: str) -> str:
    """A listener's name as Kafka keeps it: in capitals. ConfigError for an empty one."""
    if not name.strip():
        raise ConfigError("The provided listener name is null or empty string")
    return name.upper()


def parse_listener(text: str, protocols: Mapping[str, SecurityProtocol]) -> Listener:
    """The listener that `NAME://host:port` says. `protocols`: of each name. ConfigError in Kafka's words."""
    match = re.fullmatch(_ENDPOINT, text)
    if match is None or int(match["port"]) > _LARGEST_PORT:
        raise ConfigError(f"Unable to parse {text} to a broker endpoint")
    name = normalised(match["name"])
    protocol = protocols.get(name)
    if protocol is None:
        raise ConfigError(f"No security protocol defined for listener {name}")
    return Listener(name, protocol, match["host"], int(match["port"]))


def parse_protocols(text: str) -> dict[str, SecurityProtocol]:
    """The protocol of each listener that `listener.security.protocol.map` says; ConfigError in Kafka's words."""
    given: dict[str, str] = {}
    for pair in re.split(r"\s*,\s*", text) if text else ():
        name, colon, protocol = pair.rpartition(":")
        if not colon:
            raise ConfigError(f"Error parsing configuration property '{_PROTOCOL_MAP}': {pair!r} is not NAME:PROTOCOL")
        given[name.strip()] = protocol.strip()
    found: dict[str, SecurityProtocol] = {}
    for name, protocol in given.items():
        if protocol.upper() not in SecurityProtocol.__members__:
            raise ConfigError(f"Invalid security protocol `{protocol}` defined in {_PROTOCOL_MAP}")
        key = normalised(name)
        if key in found:
            raise ConfigError(f"Listener {key} stands twice in {_PROTOCOL_MAP}")
        found[key] = SecurityProtocol[protocol.upper()]
    return found


# -- The configuration as one listener, or one SASL mechanism of it, sees it.


_NEVER_SHARED = frozenset(
    {
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.server.callback.handler.class",
    }
)
"""The configs of a mechanism that have effect under its own prefix only: on a broker Kafka ignores them elsewhere."""


class ListenerConfig:
    """Reads `listener.name.<name>.<key>` first, then `<key>`; always the present one.

    `text_of`: a broker config's text by its full name, None where nobody set it and it has no default.
    """

    def __init__(self, name: str, text_of: Callable[[str], str | None]) -> None:
        self.name = name
        self._text_of = text_of
        self._prefix = f"{LISTENER_PREFIX}{name.lower()}."
        self._shared: Callable[[str], str | None] = text_of

    def for_mechanism(self, mechanism: str) -> ListenerConfig:
        """The configuration of a SASL mechanism: `listener.name.<name>.<mechanism>.<key>` goes before the others.

        JAAS and the handlers' classes are read under that name alone.
        """
        narrower = ListenerConfig(self.name, self._text_of)
        narrower._prefix = f"{self._prefix}{mechanism.lower()}."
        narrower._shared = lambda key: None if key in _NEVER_SHARED else self._text(key)
        return narrower

    def _text(self, key: str) -> str | None:
        own = self._text_of(self._prefix + key)
        return self._shared(key) if own is None else own

    def is_set(self, key: str) -> bool:
        """Whether the listener (the mechanism) has a value of its own."""
        return self._text_of(self._prefix + key) is not None

    def get(self, key: str) -> ConfigValue:
        """The typed value; KeyError for an unknown key."""
        definition = broker_keys()[key]
        text = self._text(key)
        return None if text is None else definition.parse(text)

    def get_text(self, key: str) -> str | None:
        """The value of a text, class or password config, None where it is not set."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{key} is not text: {value!r}")
        return value

    def switch(self, key: str) -> bool | None:
        """The value of a boolean config that only some releases have; None where the broker's release has none."""
        text = self._text(key)
        return None if text is None else text.strip().lower() == "true"

    def get_list(self, key: str) -> tuple[str, ...]:
        """The value of a list config; nothing where it is null."""
        value = self.get(key)
        if value is None and broker_keys()[key].type is ConfigType.LIST:
            return ()
        if not isinstance(value, tuple):
            raise TypeError(f"{key} is not a list: {value!r}")
        return value

    def get_int(self, key: str) -> int:
        """The value of a number config; TypeError if it is null or no integer."""
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{key} is not an integer: {value!r}")
        return value

    def get_bool(self, key: str) -> bool:
        """The value of a boolean config."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise TypeError(f"{key} is not a boolean: {value!r}")
        return value
