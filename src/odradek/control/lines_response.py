"""An answer that goes on until its reader hangs up: lines of JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

import trio
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send


class Lines(Protocol):
    """What has begun to follow the broker, and follows it until ``end``."""

    def lines(self) -> AsyncGenerator[str, None]:
        """Lines, several in a piece."""
        ...

    async def end(self) -> None:
        """Follow no longer."""
        ...


class LinesResponse(StreamingResponse):
    """Gives a stream's lines, and ends the stream however the answer ends, also before its first line."""

    def __init__(self, stream: Lines) -> None:
        self._stream = stream
        self._lines = stream.lines()
        super().__init__(self._lines, media_type="application/x-ndjson")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with trio.CancelScope(shield=True):
                await self._lines.aclose()
                await self._stream.end()
