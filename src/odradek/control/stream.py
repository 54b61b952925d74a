"""Requests to the broker as they come to their end: a line of JSON for each."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncGenerator
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.facade.remote.encoding import encoded
from odradek.broker.transcript.request_list import Selection

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.undo import Undo
    from odradek.broker.transcript.recorded_request import RecordedRequest
    from odradek.control.calls import Calls

_LONGEST_QUEUE = 10_000
EVERY_S = 0.1
"""How often somebody is told who asked for the latest only."""


def line(value: Any) -> str:
    """A line of JSON."""
    return json.dumps(value, ensure_ascii=False) + "\n"


class RequestStream:
    """Follows the broker from its making on. A reader that is 10,000 requests late is told so, and cut.

    ``latest``: give no more than so many at a time, ten times a second, and say how many were left out.
    """

    def __init__(self, conditions: dict[str, Any], latest: int | None = None) -> None:
        """ValueError for conditions that make no sense."""
        if latest is not None and not 1 <= latest <= _LONGEST_QUEUE:
            raise ValueError(f"latest={latest}: expected 1 to {_LONGEST_QUEUE} requests")
        self._selection = Selection(**conditions)
        self._latest = latest
        self._token = trio.lowlevel.current_trio_token()
        self._queue: deque[RecordedRequest] = deque()
        self._left_out = 0
        self._is_late = False
        self._woken = trio.Event()
        self._undo: Undo | None = None

    async def begin(self, calls: Calls) -> None:
        """Follow from now on."""
        self._undo = await trio.to_thread.run_sync(partial(calls.follow, self._told))

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines, several in a piece, until the reader hangs up."""
        yield ""  # the answer's head goes out with the first piece
        while not self._is_late:
            await self._woken.wait()
            self._woken = trio.Event()
            yield self._taken()
            if self._latest is not None:
                await trio.sleep(EVERY_S)
        yield line({"error": {"type": "RuntimeError", "message": "too slow: requests are left out"}})

    async def end(self) -> None:
        """Follow no longer."""
        if self._undo is not None:
            await trio.to_thread.run_sync(self._undo.undo)

    def _taken(self) -> str:
        matching = [each for each in self._queue if self._selection.matches(each)]
        self._queue.clear()
        left_out, self._left_out = self._left_out, 0
        told = [line({"left_out": left_out})] if left_out else []
        return "".join([*told, *(line(encoded(each)) for each in matching)])

    def _told(self, recorded: RecordedRequest) -> None:
        """In the broker's thread."""
        try:
            self._token.run_sync_soon(self._put, recorded)
        except trio.RunFinishedError:
            pass

    def _put(self, recorded: RecordedRequest) -> None:
        self._queue.append(recorded)
        if self._latest is not None and len(self._queue) > self._latest:
            self._queue.popleft()
            self._left_out += 1
        elif len(self._queue) > _LONGEST_QUEUE:
            self._queue.clear()
            self._is_late = True
        self._woken.set()
