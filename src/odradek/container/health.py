"""`python -m odradek.container.health`: whether the container's broker answers on its first listener of plain text."""

from __future__ import annotations

import os
import re
import sys

from odradek.container.environment import read_environment
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.wire_client import WireClient


def plain_port(listeners: str, protocols: str) -> int | None:
    """The port of the first listener that speaks plain text; None where there is none."""
    by_name = dict(re.findall(r"([\w.-]+):(\w+)", protocols))
    for name, port in re.findall(r"([\w.-]+)://[^,]*:(\d+)", listeners):
        if by_name.get(name, name) == "PLAINTEXT" and name != "CONTROLLER":
            return int(port)
    return None


def main() -> int:
    configs = read_environment(os.environ).configs
    port = plain_port(configs["listeners"], configs.get("listener.security.protocol.map", ""))
    if port is None:
        return 0  # who connects has to log in: the process runs, which is all that can be said
    try:
        with WireClient("127.0.0.1", port) as client:
            client.request(ApiVersionsRequest("odradek-health", "1"))
    except OSError as error:
        print(f"127.0.0.1:{port}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
