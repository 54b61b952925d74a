"""``broker.requests``: the transcript of requests, and waiting for some of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Self, Unpack, overload

from odradek.broker.clock import in_event_loop
from odradek.broker.facade.names import Named
from odradek.broker.facade.thread_bridge import BrokerClosedError, blocking_look, trio_look
from odradek.broker.requests.recent_requests import RawExchange
from odradek.broker.transcript.recorded_request import RecordedRequest, TranscriptReader
from odradek.broker.transcript.request_list import Conditions, Requests

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.facade.thread_bridge import Call, Offload
    from odradek.broker.transcript.request_list import Selection


_SHOWN = 12


class Watcher:
    """Calls a function with each request that has been served, between `start` and `stop`."""

    def __init__(self, cluster: Cluster, told: Callable[[RawExchange], None]) -> None:
        self._cluster = cluster
        self._told = told

    def start(self) -> Callable[[], None]:
        """Returns `stop`. Both are called in the broker's thread."""
        self._cluster.recent.watchers.append(self._told)
        _tell(self._cluster)
        return self.stop

    def stop(self) -> None:
        if self._told in self._cluster.recent.watchers:
            self._cluster.recent.watchers.remove(self._told)
        _tell(self._cluster)


def _tell(cluster: Cluster) -> None:
    for dispatcher in cluster.dispatchers:
        dispatcher.watchers_changed()


class RequestWait:
    """Collects matching requests as they are served. ``with`` ends the wait."""

    def __init__(
        self, cluster: Cluster, look: Call, reader: TranscriptReader, selection: Selection, count: int
    ) -> None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"count={count!r}: expected 1 or more requests")
        self._cluster = cluster
        self._look_in = look
        self._reader = reader
        self._selection = selection
        self._count = count
        self._seen: set[int] = set()
        self._new: deque[RawExchange] = deque()
        self._found: list[RecordedRequest] = []
        self._changed: Future[None] = Future()
        self._watcher = Watcher(cluster, self._ended)

    def __enter__(self) -> Self:
        self._look_in(self._begin)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._look_in(self._watcher.stop)
        except BrokerClosedError:
            pass
        del self._watcher  # which refers to this wait

    def blocking_wait(self, timeout_s: float) -> Requests:
        """Block this thread."""
        return self._answer(blocking_look(self._look, timeout_s, self._look_in), timeout_s)

    async def trio_wait(self, timeout_s: float, offload: Offload) -> Requests:
        """Wait in trio; requests are read by ``offload``."""
        return self._answer(await trio_look(self._look, timeout_s, offload), timeout_s)

    def _look(self) -> Future[None] | None:
        """Look at new requests. Returns None if there are enough, else a future that gets a result on the next one."""
        changed = self._changed
        if changed.done():
            changed = self._changed = Future()
        while self._new:
            raw = self._new.popleft()
            if id(raw) in self._seen:
                continue
            (recorded,) = self._reader.read([raw])
            if recorded.state != "waiting" and self._selection.matches(recorded):
                self._seen.add(id(raw))
                self._found.append(recorded)
        return None if len(self._found) >= self._count else changed

    def _answer(self, is_there: bool, timeout_s: float) -> Requests:
        if is_there:
            return Requests(self._found, self._reader)
        last = Requests(self._reader.read(list(self._cluster.recent.entries.copy())[-_SHOWN:]), self._reader)
        others = f"the last of all:\n{last}" if last else "no request at all has been served"
        which = f" with {self._selection.text}" if self._selection.text else ""
        raise TimeoutError(
            f"{len(self._found)} of {self._count} requests{which} after {timeout_s:g} s{in_event_loop()}; {others}"
        )

    # -- in the broker's thread

    def _begin(self) -> None:
        self._new.extend(self._cluster.recent.entries)
        self._watcher.start()

    def _ended(self, raw: RawExchange) -> None:
        self._new.append(raw)
        if not self._changed.done():
            self._changed.set_result(None)


class TranscriptView(Named, Sequence[RecordedRequest]):
    """The last 10,000 requests, oldest first; see `RecordedRequest` and `Requests`.

    With ``transcript=False`` it has the last 64 requests, without their contents.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        clock = cluster.clock
        self._reader = TranscriptReader(cluster.topic_history, clock.ms_at, clock.changes[0].source_s)

    def all(self) -> Requests:
        """The requests so far, as a list that does not grow."""
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
        """The requests that match: ``broker.requests.filter("Fetch", topic="orders", error=False)``."""
        return self.all().filter(api, **conditions)

    def count(self, api: str | None = None, **conditions: Unpack[Conditions]) -> int:
        """The number of requests that `filter` would return, among the last 10,000."""
        return self.all().count(api, **conditions)

    def tail(self, api: str | None = None, *, limit: int = 100, **conditions: Unpack[Conditions]) -> Requests:
        """The newest ``limit`` requests that `filter` would return, oldest first. ValueError if it is less than 1."""
        return self.all().tail(api, limit=limit, **conditions)

    def save(self, path: str | Path) -> None:
        """Write all requests as JSON lines, for `odradek transcript`."""
        self.all().save(path)

    def save_capture(self, path: str | Path, *, port: int | None = 9092) -> None:
        """Write all requests as a capture for Wireshark; see `Requests.save_capture`."""
        self.all().save_capture(path, port=port)

    def __str__(self) -> str:
        return str(self.all())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} requests>"
