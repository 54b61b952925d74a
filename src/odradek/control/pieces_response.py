"""Answers in pieces, and those that go on until their reader hangs up: lines of JSON."""

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


class PiecesResponse(StreamingResponse):
    """Gives what a generator yields, and closes the generator however the answer ends."""

    def __init__(self, pieces: AsyncGenerator[str, None], media_type: str) -> None:
        self._pieces = pieces
        super().__init__(pieces, media_type=media_type)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            with trio.CancelScope(shield=True):
                await self.end()

    async def end(self) -> None:
        """The answer is over."""
        await self._pieces.aclose()


class LinesResponse(PiecesResponse):
    """Gives a stream's lines, and ends the stream however the answer ends, also before its first line."""

    def __init__(self, stream: Lines) -> None:
        self._stream = stream
        super().__init__(stream.lines(), "application/x-ndjson")

    async def end(self) -> None:
        await super().end()
        await self._stream.end()
