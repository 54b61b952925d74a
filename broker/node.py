"""A broker node of the cluster, as Metadata shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Node:
    """One broker of the cluster.

    ``host`` and ``port`` are where the node listens (``port`` is 0 until it does). ``advertised`` is the address to
    tell clients; ``None`` means "the host that the client dialled, with this node's port", which needs no set-up.
    """

    id: int
    host: str = "127.0.0.1"
    port: int = 0
    rack: str | None = None
    up: bool = True
    advertised: tuple[str, int] | None = None

    def address_for(self, dialled_host: str | None) -> tuple[str, int]:
        """The (host, port) to tell a client that reached the cluster at ``dialled_host``."""
        if self.advertised is not None:
            return self.advertised[0], self.advertised[1] or self.port
        return dialled_host or self.host, self.port
