"""How each flavour of a broker reaches its cluster: the one waits for it in trio, the other blocks.

The verbs are written once, in `facade/verbs`, on top of what is here; `facade/generated/blocking` is made of them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self, TypeVar

import trio

from odradek.broker.facade.broker import Broker
from odradek.broker.facade.generated.blocking.undo import Undo
from odradek.broker.facade.pending import Closing, Pending
from odradek.broker.facade.verbs.undo import TrioUndo

T = TypeVar("T")
C = TypeVar("C", bound=Closing)
Steps = Generator[None, None, T]
"""Work in several steps, between which others get their turn; its result is what it returns."""


class TrioFlavour(Broker):
    """In the caller's trio run. Each verb is a checkpoint: cancelled there, it does nothing."""

    async def _call(self, function: Callable[[], T]) -> T:
        await trio.lowlevel.checkpoint()
        return function()

    async def _always(self, function: Callable[[], T]) -> T:
        """For what has to be done though the task be cancelled."""
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
        """A second broker that begins with the state of this one: ``async with broker.fork() as other: ...``.

        It has ports and a clock of its own, and both go on by themselves. In memory they share what they have in
        common. The records of a broker with a data directory are copied; ``data_dir``: keep the fork in this empty
        directory, with what both have in common as one file.
        """
        from odradek.broker.clock import BrokerClock
        from odradek.broker.facade.state.fork import ForkSettings, state_of

        snapshot = await self._call(lambda: state_of(self._cluster))
        clock = BrokerClock(start_ms=snapshot.now_ms)
        settings = ForkSettings(snapshot, self._cluster, clock, data_dir, self._secured)
        async with settings.cluster.run() as cluster:
            await settings.start()
            yield type(self)(cluster, self._look, self._secured)

    def _undone_by(self, change: Callable[[], None], undo: Callable[[], None]) -> Pending[TrioUndo]:
        async def make() -> TrioUndo:
            await self._call(change)
            return TrioUndo(lambda: self._always(undo))

        return Pending(make())

    def _pending(self, function: Callable[[], C]) -> Pending[C]:
        return Pending(self._call(function))


class BlockingFlavour(Broker):
    """In any thread but the broker's own."""

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

    def _undone_by(self, change: Callable[[], None], undo: Callable[[], None]) -> Undo:
        self._call(change)
        return Undo(lambda: self._call(undo))

    def _pending(self, function: Callable[[], T]) -> T:
        return self._call(function)
