"""`python -m odradek.container.health`: whether the container's broker answers, on the first listener that clients use.

It dials the listener's own address and asks for ApiVersions, as each `WireClient` does first; that needs no log-in. A
broker that wants a client's certificate refuses the check's TLS handshake: it answers, too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import NamedTuple

from odradek.client_security.options import ClientSecurity, TlsOptions
from odradek.container.environment import EnvironmentRefused, read_environment
from odradek.wire_client import TlsError, WireClient

_LISTENER = re.compile(r"([\w.-]+)://\[?([^,]*?)\]?:(\d+)(?:,|$)")
_WILDCARDS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
_TIMEOUT_S = 4.0
_TLS = ClientSecurity("SSL", TlsOptions(verify=False, check_hostname=False))


class Address(NamedTuple):
    """Where to ask, and whether by TLS."""

    host: str
    port: int
    tls: bool


def client_listener(configs: Mapping[str, str]) -> Address | None:
    """The first listener of a broker's configs that is no controller's, in the clear if there is one; None without."""
    protocols = dict(re.findall(r"([\w.-]+):(\w+)", configs.get("listener.security.protocol.map", "")))
    controllers = configs.get("controller.listener.names", "CONTROLLER").replace(" ", "").split(",")
    found = [
        Address(_WILDCARDS.get(host, host), int(port), protocols.get(name, name).endswith("SSL"))
        for name, host, port in _LISTENER.findall(configs["listeners"])
        if name not in controllers
    ]
    return min(found, key=lambda address: address.tls, default=None)


def main() -> int:
    try:
        configs = read_environment(os.environ).configs
    except EnvironmentRefused as error:
        print(error, file=sys.stderr)
        return 1
    address = client_listener(configs)
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
