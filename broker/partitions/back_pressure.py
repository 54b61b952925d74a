"""Back-pressure: Produce waits here while the file writer is behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from odradek.storage.chunks import ChunkPool


class BackPressure:
    """Waits for a chunk pool to have room, for the tasks of one event loop.

    `on_change` is called when the pool becomes crowded, and when it no longer is.
    """

    def __init__(self, pool: ChunkPool, on_change: Callable[[bool], None]) -> None:
        self._pool = pool
        self._on_change = on_change
        self._changed = trio.Event()
        pool.on_crowded = self._crowded

    async def wait(self) -> None:
        """Return when the pool is not crowded; an append that follows at once finds it like that."""
        while self._pool.crowded:
            self._listen()
            self._pool.collect()  # collect what was written before anybody listened
            if self._pool.crowded:
                await self._changed.wait()

    def _listen(self) -> None:
        """Look at the pool, in this event loop, whenever its writer has done something."""
        token = trio.lowlevel.current_trio_token()

        def written() -> None:
            try:
                token.run_sync_soon(self._pool.collect, idempotent=True)
            except trio.RunFinishedError:
                pass

        self._pool.when_written(written)

    def _crowded(self, crowded: bool) -> None:
        if not crowded:
            self._pool.when_written(None)
            changed, self._changed = self._changed, trio.Event()
            changed.set()
        self._on_change(crowded)
