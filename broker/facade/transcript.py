"""`broker.requests`: what clients asked and were answered, as far as it can be seen; `verbs` adds what waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, overload

from odradek.broker.transcript.recorded_request import RecordedRequest, TranscriptReader
from odradek.broker.transcript.request_list import Conditions, Requests

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


class TranscriptView(Sequence[RecordedRequest]):
    """The last 10,000 requests, oldest first, as they are now; see `RecordedRequest` and `Requests`.

    With ``transcript=False`` the last 64, without what they said.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        clock = cluster.clock
        self._reader = TranscriptReader(cluster.topic_history, clock.ms_at, clock.changes[0].source_s)

    def all(self) -> Requests:
        """The requests as they are now; later ones do not come in."""
        return Requests(self._reader.read(self._cluster.recent.entries.copy()), self._reader)

    def __len__(self) -> int:
        return len(self._cluster.recent.entries)

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self.all())

    @overload
    def __getitem__(self, index: int) -> RecordedRequest: ...
    @overload
    def __getitem__(self, index: slice) -> Requests: ...
    def __getitem__(self, index: int | slice) -> RecordedRequest | Requests:
        return self.all()[index]

    def filter(self, api: str | None = None, **conditions: Unpack[Conditions]) -> Requests:
        """Those of an API, a topic, a group, ...: ``broker.requests.filter("Fetch", topic="orders", error=False)``."""
        return self.all().filter(api, **conditions)

    def count(self, api: str | None = None, **conditions: Unpack[Conditions]) -> int:
        """How many there are; arguments as of `filter`. Of the last 10,000 requests only."""
        return self.all().count(api, **conditions)

    def tail(self, api: str | None = None, *, limit: int = 100, **conditions: Unpack[Conditions]) -> Requests:
        """The newest ``limit`` of those that `filter` would give, oldest first; ValueError for less than 1."""
        return self.all().tail(api, limit=limit, **conditions)

    def save(self, path: str | Path) -> None:
        """Write all as JSON lines, for `odradek transcript`."""
        self.all().save(path)

    def save_capture(self, path: str | Path, *, port: int | None = 9092) -> None:
        """Write all as a capture that Wireshark reads; see `Requests.save_capture`."""
        self.all().save_capture(path, port=port)

    def __str__(self) -> str:
        return str(self.all())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} requests>"
