"""How many connections a broker takes from whom: what `max.connections.per.ip` and its overrides may say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

PER_IP = "max.connections.per.ip"
OVERRIDES = "max.connections.per.ip.overrides"
NEEDS_OVERRIDES = f"{PER_IP} can be set to zero only if {OVERRIDES} property is set."
_HOST = r"[0-9a-zA-Z\-%._:]*"


def overrides_of(text: str) -> dict[str, int]:
    """The connections that each host may have, as `host:count` pairs say; ConfigError for other text."""
    found: dict[str, int] = {}
    for pair in re.split(r"\s*,\s*", text) if text else ():
        host, colon, count = pair.rpartition(":")
        if not colon:
            raise ConfigError(f"Error parsing configuration property '{OVERRIDES}': {pair!r} is not host:count")
        if not re.fullmatch(r"[+-]?[0-9]+", count.strip()):
            raise ConfigError(f"Error parsing configuration property '{OVERRIDES}': {count!r} is no number")
        found[host.strip()] = int(count)
    return found


def check_connections(per_ip: int, overrides: str) -> None:
    """ConfigError, in Kafka's words, for limits that do not fit together."""
    hosts = overrides_of(overrides)
    if per_ip == 0 and not hosts:
        raise ConfigError(NEEDS_OVERRIDES)
    invalid = [host for host in hosts if not re.fullmatch(_HOST, host)]
    if invalid:
        raise ConfigError(f"{OVERRIDES} contains invalid addresses : {','.join(invalid)}")


def check_connections_of(config: BrokerConfig) -> None:
    """`check_connections` for what a broker starts with."""
    if PER_IP in config.static or OVERRIDES in config.static:
        check_connections(config.get_int(PER_IP), config.get_str(OVERRIDES))
