"""`python -m odradek.container.health`: whether the container's broker answers, on the first listener that clients use.

It dials the listener's own address and asks for ApiVersions, as each `WireClient` does first; that needs no log-in. A
broker that wants a client's certificate refuses the check's TLS handshake: it answers, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import LOOPBACK, SecurityProtocol, parse_listener, parse_protocols
from odradek.client_security.options import ClientSecurity, TlsOptions
from odradek.container.environment import EnvironmentRefused, read_environment
from odradek.wire_client import TlsError, WireClient

_TIMEOUT_S = 4.0
_TLS = ClientSecurity("SSL", TlsOptions(verify=False, check_hostname=False))


class Address(NamedTuple):
    """Where to ask, and whether by TLS."""

    host: str
    port: int
    tls: bool


def client_listener(configs: Mapping[str, str]) -> Address | None:
    """The first listener of a broker's configs that is no controller's, in the clear if there is one; None without.

    ConfigError for a listener without a protocol.
    """
    protocols = {**SecurityProtocol.__members__, **parse_protocols(configs.get("listener.security.protocol.map", ""))}
    controllers = configs.get("controller.listener.names", "CONTROLLER").upper().replace(" ", "").split(",")
    texts = [text.strip() for text in configs["listeners"].split(",")]
    listeners = [parse_listener(text, protocols) for text in texts if text.partition(":")[0].upper() not in controllers]
    found = [Address(LOOPBACK.get(each.host, each.host), each.port, each.protocol.tls) for each in listeners]
    return min(found, key=lambda address: address.tls, default=None)


def main() -> int:
    try:
        address = client_listener(read_environment(os.environ).configs)
    except (EnvironmentRefused, ConfigError) as error:
        print(error, file=sys.stderr)
        return 1
    if address is None:
        print("no listener is for clients", file=sys.stderr)
        return 1
    security = _TLS if address.tls else ClientSecurity()
    try:
        WireClient(address.host, address.port, timeout_s=_TIMEOUT_S, security=security).close()
    except OSError as error:
        if not (isinstance(error, TlsError) and "client certificate" in str(error)):
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
