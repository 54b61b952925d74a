"""Records of a topic as they come: a line of JSON for each."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import trio

from odradek.broker.facade.records.decoded import decoded_records
from odradek.broker.facade.records.watching import AT_ONCE, RecordFollow
from odradek.broker.facade.remote.encoding import encoded, error_told
from odradek.broker.facade.thread_bridge import trio_settled
from odradek.control.stream import EVERY_S, line
from odradek.protocol.errors import KafkaError

if TYPE_CHECKING:
    from odradek.control.calls import Calls


class RecordStream:
    """Follows a topic. ``limit``: end after so many records; the other arguments are those of `RecordFollow`."""

    def __init__(self, calls: Calls, limit: int | None = None, **arguments: Any) -> None:
        """ValueError for arguments that make no sense."""
        if limit is not None and limit < 1:
            raise ValueError(f"limit={limit}: expected 1 record or more")
        self._follow: RecordFollow = calls.follow_records(at_once=min(limit or AT_ONCE, AT_ONCE), **arguments)
        self._schemas = calls.record_schemas
        self._left = math.inf if limit is None else limit
        self._first: tuple[str, Any] = "", None

    async def begin(self) -> None:
        """Look for the first time, before the lines; KafkaError if there is no such topic or partition."""
        self._first = await trio.to_thread.run_sync(self._look)

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines, several in a piece, until the reader hangs up or there were enough; an error is the last line."""
        try:
            text, changed = self._first
            while True:
                yield text
                if self._left <= 0:
                    return
                await trio.sleep(EVERY_S)
                await trio_settled(changed, math.inf)
                text, changed = await trio.to_thread.run_sync(self._look)
        except (KafkaError, RuntimeError) as error:
            yield line({"error": error_told(error)})

    async def end(self) -> None:
        """Follow no longer."""
        await trio.to_thread.run_sync(self._end)

    def _look(self) -> tuple[str, Any]:
        news = self._follow.look()
        some = news.records if self._left == math.inf else news.records[: int(self._left)]
        self._left -= len(some)
        told = [line({"left_out": news.left_out})] if news.left_out else []
        told += [line(encoded(each)) for each in decoded_records(self._schemas, some)]
        return "".join(told), news.changed

    def _end(self) -> None:
        try:
            self._follow.__exit__()
        except RuntimeError:
            pass  # the broker has ended, and forgotten it before
