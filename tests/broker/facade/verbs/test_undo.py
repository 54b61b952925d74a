"""Changes that are taken back at the end of a block."""

from __future__ import annotations

import pytest

from odradek.broker.facade.generated.blocking.undo import Undo


def test_a_block_takes_the_change_back_once() -> None:
    done: list[str] = []
    with Undo(lambda: done.append("back"), "freeze_node") as undo:
        assert done == []
        assert repr(undo) == "<Undo of freeze_node: not undone yet>"
    undo.undo()
    assert done == ["back"]
    assert repr(undo) == "<Undo of freeze_node: undone>"


def test_a_block_that_fails_takes_it_back_too() -> None:
    done: list[str] = []
    with pytest.raises(ValueError, match="mine"), Undo(lambda: done.append("back")):
        raise ValueError("mine")
    assert done == ["back"]
