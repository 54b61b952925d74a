"""What a verb of the trio flavour returns if it can be awaited or used in ``async with``."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar


class Closing(Protocol):
    """What ends in ``async with``."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


T = TypeVar("T", bound=Closing)


class Pending(Generic[T]):
    """A change that is made when it is awaited: ``undo = await broker.kill_node(2)``.

    ``async with broker.kill_node(2):`` makes it and takes it back at the end of the block. A change that is dropped
    without either is not made, and Python warns of it as of any coroutine that was never awaited.
    """

    __slots__ = ("_change", "_made")

    def __init__(self, change: Coroutine[Any, Any, T]) -> None:
        self._change = change
        self._made: T | None = None

    def __repr__(self) -> str:
        return f"<Pending {self._change!r}: await it>"

    def __await__(self) -> Generator[Any, Any, T]:
        return self._change.__await__()

    async def __aenter__(self) -> T:
        self._made = await self._change
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._made is not None:
            await self._made.__aexit__(kind, error, trace)
