"""Listeners: names, security protocols and addresses, as `listeners` and its relatives write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError

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
