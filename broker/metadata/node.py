"""A broker node of the cluster, as Metadata shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LISTENER = re.compile(r"PLAINTEXT://(?P<host>\[[^\]]+\]|[^:/\[\]]+):(?P<port>\d{1,5})")


@dataclass(slots=True)
class Node:
    """One broker of the cluster.

    `host` and `port` are where the node listens (`port` is 0 until it does). `advertised` is the address to
    tell clients; `None` means "the host that the client dialled, with this node's port", which needs no set-up.
    `log_dir` is None for a node that keeps its logs in memory.
    """

    id: int
    host: str = "127.0.0.1"
    port: int = 0
    rack: str | None = None
    up: bool = True
    advertised: tuple[str, int] | None = None
    log_dir: Path | None = None

    def address_for(self, dialled_host: str | None) -> tuple[str, int]:
        """The (host, port) to tell a client that reached the cluster at `dialled_host`."""
        if self.advertised is not None:
            return self.advertised[0], self.advertised[1] or self.port
        return dialled_host or self.host, self.port


def advertised_addresses(listeners: Sequence[str], nodes: int) -> list[tuple[str, int]]:
    """The (host, port) to advertise for each node, from the values of `advertised.listeners`; [] for none.

    One value serves all nodes: the first has its port, the others the following ones; port 0 = the node's own port.
    ValueError for anything else.
    """
    if not listeners:
        return []
    if len(listeners) not in (1, nodes):
        raise ValueError(f"advertised.listeners: {len(listeners)} addresses for {nodes} nodes; one, or one for each")
    found = [_LISTENER.fullmatch(listener) for listener in listeners]
    addresses = []
    for text, match in zip(listeners, found, strict=True):
        if match is None or int(match["port"]) > 65535:
            raise ValueError(f"advertised.listeners: {text} is not of the form PLAINTEXT://host:port")
        addresses.append((match["host"].strip("[]"), int(match["port"])))
    if len(addresses) < nodes:
        host, port = addresses[0]
        return [(host, port + index if port else 0) for index in range(nodes)]
    return addresses
