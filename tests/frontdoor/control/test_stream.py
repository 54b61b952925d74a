"""Following a broker's requests."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest
import trio
import trio.testing

from odradek.control.stream import RequestStream


class Followed:
    """Calls of which only `follow` is asked."""

    def __init__(self) -> None:
        self.told: Any = None
        self.undone = 0

    def follow(self, told: Any) -> Followed:
        self.told = told
        return self

    def undo(self) -> None:
        self.undone += 1


def test_a_reader_that_is_too_slow_is_told_and_cut() -> None:
    followed = Followed()

    async def main() -> list[str]:
        stream = RequestStream({"api": "Fetch"})
        calls: Any = followed
        await stream.begin(calls)
        for _ in range(10_001):
            followed.told(Unmatched())
        await trio.testing.wait_all_tasks_blocked()
        lines = [line async for line in stream.lines()]
        await stream.end()
        return lines

    assert trio.run(main) == ["", '{"error": {"type": "RuntimeError", "message": "too slow: requests are left out"}}\n']
    assert followed.undone == 1


class Unmatched:
    """A request of another API."""

    class exchange:  # noqa: N801
        api_key = 18


def test_who_wants_the_latest_is_told_how_many_were_left_out() -> None:
    followed = Followed()

    async def main() -> str:
        stream = RequestStream({"api": "Fetch"}, latest=10)
        calls: Any = followed
        await stream.begin(calls)
        for _ in range(1_000):
            followed.told(Unmatched())
        await trio.testing.wait_all_tasks_blocked()
        async with aclosing(stream.lines()) as lines:
            assert await anext(lines) == ""
            told = await anext(lines)
        await stream.end()
        return told

    assert json.loads(trio.run(main)) == {"left_out": 990}
    assert followed.undone == 1


def test_conditions_that_make_no_sense_are_refused() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="no API is called"):
            RequestStream({"api": "Fetsh"})
        with pytest.raises(ValueError, match="latest=0"):
            RequestStream({}, latest=0)

    trio.run(main)
