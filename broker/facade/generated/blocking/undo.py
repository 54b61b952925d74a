"""A change to the broker that can be taken back.

Generated from facade/verbs/undo.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self


class Undo:
    """What a verb such as ``broker.kill_node(2)`` gives: ``with`` takes the change back at its end.

    Whoever has no use for it may drop it: the change stays then.
    """

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def __repr__(self) -> str:
        return "<Undo: done>" if self._undo is None else "<Undo>"

    def undo(self) -> None:
        """Take the change back; a second call does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.undo()
