"""Changes to the broker that can be undone.

Generated from facade/verbs/undo.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from odradek.broker.facade.names import Named


class Undo(Named):
    """Undoes a change such as ``broker.kill_node(2)``. ``with`` undoes it at the end of the block.

    The object may be dropped; then the change stays.
    """

    __slots__ = ("_of", "_undo")

    def __init__(self, undo: Callable[[], None], of: str = "") -> None:
        self._undo: Callable[[], None] | None = undo
        self._of = of

    def __repr__(self) -> str:
        of = f" of {self._of}" if self._of else ""
        return f"<{type(self).__name__}{of}: {'undone' if self._undo is None else 'not undone yet'}>"

    def undo(self) -> None:
        """Undo the change. A second call does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.undo()
