"""Changes to the broker that can be undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Self

from odradek.broker.facade.names import Named


class TrioUndo(Named):
    """Undoes a change such as ``await broker.kill_node(2)``. ``async with`` undoes it at the end of the block.

    The object may be dropped; then the change stays.
    """

    __slots__ = ("_of", "_undo")

    def __init__(self, undo: Callable[[], Awaitable[None]], of: str = "") -> None:
        self._undo: Callable[[], Awaitable[None]] | None = undo
        self._of = of

    def __repr__(self) -> str:
        of = f" of {self._of}" if self._of else ""
        return f"<{type(self).__name__}{of}: {'undone' if self._undo is None else 'not undone yet'}>"

    async def undo(self) -> None:
        """Undo the change. A second call does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            await undo()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.undo()
