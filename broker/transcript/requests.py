"""Requests in their order: selected, counted, printed, saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from odradek.broker.transcript.recorded_request import Facts, RecordedRequest
from odradek.broker.transcript.selection import Selection

if TYPE_CHECKING:
    from odradek.protocol.errors import ErrorCode


class Conditions(TypedDict, total=False):
    """What a request has to be, besides its API. All that are given count.

    `topic`, and a `partition` of it; `group`; `transactional_id`; `client_id`; `node`; `error`: a name, True for any,
    False for none; `state`: ``answered``, ``waiting``, ``unanswered`` or ``cut``; `since`: seconds, as `at` of the
    request; `when`: a function of the `RecordedRequest`.
    """

    topic: str
    partition: int
    group: str
    transactional_id: str
    client_id: str
    node: int
    error: str | ErrorCode | bool
    state: str
    since: float
    when: Callable[[RecordedRequest], object]


class Requests(Sequence[RecordedRequest]):
    """Requests, oldest first. Printed, they are one line each."""

    def __init__(self, requests: Iterable[RecordedRequest], facts: Facts) -> None:
        self._requests = list(requests)
        self._facts = facts

    def __len__(self) -> int:
        return len(self._requests)

    def __iter__(self) -> Iterator[RecordedRequest]:
        return iter(self._requests)

    @overload
    def __getitem__(self, index: int) -> RecordedRequest: ...
    @overload
    def __getitem__(self, index: slice) -> Requests: ...
    def __getitem__(self, index: int | slice) -> RecordedRequest | Requests:
        if isinstance(index, slice):
            return Requests(self._requests[index], self._facts)
        return self._requests[index]

    def filter(self, api: str | None = None, **conditions: Unpack[Conditions]) -> Requests:
        """Those of an API, a topic, ...: see `Conditions`. ValueError for names of APIs or errors that do not exist."""
        selection = Selection(api, **conditions)
        return Requests((each for each in self._requests if selection.matches(each)), self._facts)

    def count(self, api: str | None = None, **conditions: Unpack[Conditions]) -> int:
        """How many there are of an API, a topic, ...: see `Conditions`."""
        return len(self.filter(api, **conditions))

    def tail(self, api: str | None = None, *, limit: int = 100, **conditions: Unpack[Conditions]) -> Requests:
        """The newest ``limit`` of those that `filter` would give, oldest first; ValueError for less than 1."""
        if limit < 1:
            raise ValueError(f"limit={limit}: expected 1 request or more")
        selection = Selection(api, **conditions)
        found = islice((each for each in reversed(self._requests) if selection.matches(each)), limit)
        return Requests(reversed(list(found)), self._facts)

    def save(self, path: str | Path) -> None:
        """Write them as JSON lines, for `odradek transcript`."""
        from odradek.broker.transcript.json_lines import to_line

        with Path(path).open("w", encoding="utf-8") as file:
            for each in self:
                file.write(to_line(each) + "\n")

    def save_capture(self, path: str | Path, *, port: int | None = 9092) -> None:
        """Write them as a capture that Wireshark reads and decodes.

        The packets are made up around what was kept: see `transcript.capture`. Brokers have `port` in it, so that
        Wireshark knows what they speak; None: the port that they had.
        """
        from odradek.broker.transcript.capture import write_capture

        with Path(path).open("wb") as file:
            write_capture(self, file, self._facts, port)

    def __str__(self) -> str:
        from odradek.broker.transcript.lines import lines_of

        return "\n".join(lines_of(self))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)}>"
