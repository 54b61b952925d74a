"""Waiting for something that happens in the broker's thread: in trio, or blocking a thread of one's own."""

from __future__ import annotations

import math
from concurrent.futures import Future, wait
from typing import Any

import trio

WAIT_TIMEOUT_S = 30.0
"""How long a test waits for a broker unless told otherwise."""


async def trio_settled(future: Future[Any], timeout_s: float) -> bool:
    """Wait until the future has a result; false if that takes longer."""
    done = trio.Event()
    token = trio.lowlevel.current_trio_token()

    def wake(_: Future[Any]) -> None:
        try:
            token.run_sync_soon(done.set)
        except trio.RunFinishedError:
            pass

    future.add_done_callback(wake)
    with trio.move_on_after(timeout_s):
        await done.wait()
    return future.done()


def blocking_settled(future: Future[Any], timeout_s: float) -> bool:
    """Block until the future has a result; false if that takes longer."""
    return bool(wait([future], timeout=None if timeout_s == math.inf else timeout_s).done)
