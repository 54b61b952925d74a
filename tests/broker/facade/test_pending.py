"""What can be awaited or used in ``async with``."""

from __future__ import annotations

import gc

import pytest
import trio

from odradek.broker.facade.pending import Pending
from odradek.broker.facade.verbs.undo import TrioUndo


def test_a_pending_change_is_awaited_or_ends_with_its_block() -> None:
    done: list[str] = []

    async def back() -> None:
        done.append("back")

    async def make() -> TrioUndo:
        done.append("made")
        return TrioUndo(back)

    async def main() -> None:
        undo = await Pending(make())
        assert done == ["made"]
        await undo.undo()
        await undo.undo()
        assert done == ["made", "back"]
        with pytest.raises(ValueError, match="mine"):
            async with Pending(make()) as undo:
                raise ValueError("mine")
        assert repr(undo) == "<TrioUndo: done>"
        assert done == ["made", "back"] * 2

    trio.run(main)


def test_one_that_is_dropped_is_told() -> None:
    async def make() -> TrioUndo:
        raise AssertionError

    def drop() -> None:
        Pending(make())
        gc.collect()

    with pytest.warns(RuntimeWarning, match="never awaited"):
        drop()
