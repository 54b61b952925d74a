"""Answers in pieces, whose readers hang up."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Callable, MutableMapping
from typing import Any

import pytest
import trio
import trio.testing

from odradek.control.pieces_response import LinesResponse, PiecesResponse

SCOPE: dict[str, Any] = {"type": "http", "asgi": {"spec_version": "2.3"}}


class Counted:
    """A stream that never ends by itself."""

    def __init__(self) -> None:
        self.state = "not begun"
        self.ended = 0

    async def lines(self) -> AsyncGenerator[str, None]:
        self.state = "begun"
        try:
            while True:
                yield "{}\n"
                await trio.lowlevel.checkpoint()
        finally:
            self.state = "closed"

    async def end(self) -> None:
        await trio.lowlevel.checkpoint()
        self.ended += 1


def answered(response: Callable[[], PiecesResponse], stop_at: str) -> None:
    """Answer a reader that hangs up while a message of this type is sent to it."""

    async def main() -> None:
        gone = trio.Event()

        async def receive() -> MutableMapping[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: MutableMapping[str, Any]) -> None:
            if message["type"] == stop_at:
                gone.set()
                await trio.sleep_forever()

        await response()(SCOPE, receive, send)

    trio.run(main)


@pytest.mark.parametrize(("stop_at", "state"), [("http.response.start", "not begun"), ("http.response.body", "closed")])
def test_a_reader_that_hangs_up_ends_the_stream(stop_at: str, state: str) -> None:
    stream = Counted()
    answered(lambda: LinesResponse(stream), stop_at)
    gc.collect()  # a generator that is left to the collector is warned of, which fails this test
    assert (stream.state, stream.ended) == (state, 1)


def test_a_reader_that_hangs_up_closes_the_generator() -> None:
    stream = Counted()
    answered(lambda: PiecesResponse(stream.lines(), "application/json"), "http.response.body")
    gc.collect()
    assert stream.state == "closed"
