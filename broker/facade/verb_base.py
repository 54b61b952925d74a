"""The bases of the verbs: one for a broker in the caller's trio run, one for a broker in another thread.

The verbs are written once, in `facade/verbs`, on top of `TrioVerbs`; `facade/generated/blocking` is generated from them
and built on `BlockingVerbs`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import trio

from odradek.broker.facade.broker import Broker
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.verbs.undo import TrioUndo

if TYPE_CHECKING:
    from odradek.broker.nodes.node_life import Undoing

C = TypeVar("C", bound=AbstractAsyncContextManager[Any])


class Pending(Generic[C]):
    """A change that happens when it is awaited: ``undo = await broker.kill_node(2)``.

    ``async with broker.kill_node(2):`` makes the change and undoes it at the end of the block. A change that is neither
    awaited nor entered does not happen, and Python warns about it as about any coroutine that was never awaited.
    """

    __slots__ = ("_change", "_made")

    def __init__(self, change: Coroutine[Any, Any, C]) -> None:
        self._change = change
        self._made: C | None = None

    def __repr__(self) -> str:
        return f"<Pending {self._change!r}: await it>"

    def __await__(self) -> Generator[Any, Any, C]:
        return self._change.__await__()

    async def __aenter__(self) -> C:
        self._made = await self._change
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._made is not None:
            await self._made.__aexit__(kind, error, trace)


T = TypeVar("T")

Steps = Generator[None, None, T]
"""Work in several steps, between which other tasks run. Its return value is the result."""


class TrioVerbs(Broker):
    """Verbs in the caller's trio run. Each verb is a checkpoint; if it is cancelled there, it does nothing."""

    _shown = "TrioBroker"

    async def _call(self, function: Callable[[], T]) -> T:
        await trio.lowlevel.checkpoint()
        return function()

    async def _offload(self, function: Callable[[], T]) -> T:
        """Call a function that reads what a wait waits for, which may take a while."""
        return function()

    async def _always(self, function: Callable[[], T]) -> T:
        """Call the function even if the task is cancelled."""
        result = function()
        await trio.lowlevel.cancel_shielded_checkpoint()
        return result

    async def _steps(self, work: Steps[T]) -> T:
        try:
            while True:
                await trio.lowlevel.checkpoint()
                next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            work.close()

    @asynccontextmanager
    async def fork(self, data_dir: str | Path | None = None) -> AsyncIterator[Self]:
        """Start a second broker with the state of this one: ``async with broker.fork() as other: ...``.

        It has its own ports and clock, and is independent from then on. In memory the two share the records that they
        have in common. The records of a broker with a data directory are copied; ``data_dir`` is an empty directory to
        keep the fork in, where files that both have in common are stored once.
        """
        from odradek.broker.facade.settings import ForkSettings
        from odradek.broker.facade.state.snapshot import Snapshot

        snapshot = await self._call(lambda: Snapshot(self._cluster))
        settings = ForkSettings(snapshot, self._cluster, data_dir, self._secured)
        async with settings.cluster.run() as cluster:
            await settings.start()
            yield type(self)(cluster, self._look, self._secured)

    def _undoable(self, change: Callable[[], Undoing]) -> Pending[TrioUndo]:
        async def make() -> TrioUndo:
            undo = await self._call(change)
            return TrioUndo(lambda: self._always(undo), _verb(change))

        return Pending(make())

    def _pending(self, function: Callable[[], C]) -> Pending[C]:
        return Pending(self._call(function))


def _verb(change: Callable[[], Undoing]) -> str:
    """The verb that makes a change, for the repr of its undo. The change is a lambda of it."""
    return change.__qualname__.partition(".<locals>")[0].rpartition(".")[2]


class BlockingVerbs(Broker):
    """Verbs for any thread but the broker's own."""

    _shown = "KafkaBroker"

    def _call(self, function: Callable[[], T]) -> T:
        return self._look(function)

    _always = _call

    def _steps(self, work: Steps[T]) -> T:
        try:
            while True:
                next(work)
        except StopIteration as end:
            result: T = end.value
            return result

    def _undoable(self, change: Callable[[], Undoing]) -> Undo:
        undo = self._call(change)
        return Undo(lambda: self._call(undo), _verb(change))

    def _pending(self, function: Callable[[], T]) -> T:
        return self._call(function)
