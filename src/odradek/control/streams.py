"""Streams over HTTP: requests and records as lines of JSON, one for each, until the reader hangs up."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import trio

from odradek.broker.facade.console import PageLooks
from odradek.broker.facade.generated.blocking.transcript import Transcript
from odradek.broker.facade.records.reading import decoded_records, has_text
from odradek.broker.facade.records.watching import AT_ONCE, RecordFollow
from odradek.broker.facade.remote.json_values import encoded, error_told
from odradek.broker.facade.remote.operations import Operation, Parameter, operation_of
from odradek.broker.facade.thread_bridge import BrokerClosedError, trio_settled
from odradek.broker.transcript.request_list import Selection
from odradek.http_server import HttpResponse
from odradek.protocol.errors import KafkaError, as_value

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.undo import Undo
    from odradek.broker.transcript.recorded_request import RecordedRequest
    from odradek.control.calls import Calls


_LATEST = Parameter("latest", int | None, None)

REQUESTS = replace(
    operation_of(Transcript, "filter"),
    member="stream",
    path="/v1/requests/stream",
    parameters=(*operation_of(Transcript, "filter").parameters, _LATEST),
    doc="Requests as they come to their end, a line of JSON for each, until the reader hangs up.\n\n"
    '`latest`: no more than so many at a time, ten times a second; {"left_out": n} says how many were passed over.',
)
RECORDS = replace(
    operation_of(PageLooks, "decoded_records"),
    member="records_stream",
    path="/v1/records/stream",
    parameters=(
        *operation_of(PageLooks, "decoded_records").parameters,
        _LATEST,
        Parameter("starts", str | None, None),
        Parameter("contains", str, ""),
    ),
    doc="Records of a topic as they come, as `decoded-records` has them: for each a line of JSON, "
    '{"record": ..., "key": ..., "value": ...}, until the reader hangs up.\n\n'
    "`start`: begin at this offset, else with what comes from now on. `latest`: begin so many offsets before the end "
    'of each partition, and give no more of one at a time; {"left_out": n} says how many offsets were passed over. '
    '`limit`: end after so many records. `starts`: begin at these offsets of the partitions 0, 1, ... ("7,0,12").\n\n'
    "`contains`: only records with this text in key, value or a header, as bytes or decoded, small or capital; "
    '{"searched": n, "more": true} tells after each part how many records it had, and whether there are more already. '
    'An {"error": ...} is the last line.',
)
STREAMS: tuple[Operation, ...] = (RECORDS, REQUESTS)


_LONGEST_QUEUE = 10_000
EVERY_S = 0.1
"""The interval of answers to a reader that asked for the latest only."""


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
            with suppress(BrokerClosedError):
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


class RecordStream:
    """Follows a topic. ``limit``: end after so many records; ``contains``, ``starts``: see `RECORDS`.

    The other arguments are those of `RecordFollow`.
    """

    def __init__(
        self,
        calls: Calls,
        limit: int | None = None,
        contains: str = "",
        starts: str | None = None,
        start: int | None = None,
        **arguments: Any,
    ) -> None:
        """ValueError for arguments that make no sense."""
        if limit is not None and limit < 1:
            raise ValueError(f"limit={limit}: expected 1 record or more")
        at_once = None if contains or limit is None else min(limit, AT_ONCE)
        begin = [int(each) for each in starts.split(",")] if starts else start
        self._follow: RecordFollow = calls.follow_records(limit=at_once, start=begin, **arguments)
        self._contains = contains.lower()
        self._schemas = calls.record_schemas
        self._left = math.inf if limit is None else limit
        self._first: tuple[str, Any, bool] = "", None, False

    async def begin(self) -> None:
        """Look for the first time, before the lines; KafkaError if there is no such topic or partition."""
        self._first = await trio.to_thread.run_sync(self._look)

    async def lines(self) -> AsyncGenerator[str, None]:
        """The lines, several in a piece, until the reader hangs up or there were enough; an error is the last line."""
        try:
            text, changed, more = self._first
            while True:
                yield text
                if self._left <= 0:
                    return
                if not more:
                    await trio.sleep(EVERY_S)
                    await trio_settled(changed, math.inf)
                text, changed, more = await trio.to_thread.run_sync(self._look)
        except (KafkaError, RuntimeError) as error:
            yield line({"error": error_told(as_value(error))})

    async def end(self) -> None:
        """Follow no longer."""
        await trio.to_thread.run_sync(self._end)

    def _look(self) -> tuple[str, Any, bool]:
        news = self._follow.look()
        told = [line({"left_out": news.left_out})] if news.left_out else []
        for each in decoded_records(self._schemas, news.records):
            if self._left <= 0:
                break
            if not self._contains or has_text(each, self._contains):
                self._left -= 1
                told.append(line(encoded(each)))
        if self._contains:
            told.append(line({"searched": len(news.records), "more": news.more}))
        return "".join(told), news.changed, news.more

    def _end(self) -> None:
        try:
            self._follow.__exit__()
        except RuntimeError:
            pass  # the broker has ended, and forgotten it before


class Lines(Protocol):
    """A follower of the broker, until ``end``."""

    def lines(self) -> AsyncGenerator[str, None]:
        """Lines, several in a piece."""
        ...

    async def end(self) -> None:
        """Follow no longer."""
        ...


def streamed(stream: Lines) -> HttpResponse:
    """An answer that gives a stream's lines, and ends the stream however the answer ends, also before its first
    line."""
    return HttpResponse(stream.lines(), media_type="application/x-ndjson", end=stream.end)
