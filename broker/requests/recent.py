"""The last requests that a cluster was asked, for failure reports."""

from __future__ import annotations

from collections import deque

from odradek.protocol.registry import API_BY_KEY

_KEPT = 64


class RecentRequests:
    """A ring of the last 64 requests of all connections. Owner: the cluster; the dispatcher fills it.

    Each of `entries` is (connection id, API key, version, correlation id, client id, size in bytes). A plain tuple,
    because one is made for every request.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: deque[tuple[str, int, int, int, str | None, int]] = deque(maxlen=_KEPT)

    def lines(self) -> list[str]:
        """The requests as lines of text, newest last. Any thread may ask."""
        return [
            f"{connection} {API_BY_KEY[key].name} v{version} correlation {correlation} client {client!r} ({size} bytes)"
            for connection, key, version, correlation, client, size in self.entries.copy()
        ]
