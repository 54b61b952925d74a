"""Waiting for something that happens in the broker's thread, from trio or asyncio code of any thread."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import trio

WAIT_TIMEOUT_S = 30.0
"""How long a test waits for a broker unless told otherwise."""


async def settled(future: Future[Any], timeout_s: float) -> bool:
    """Wait until the future has a result; false if that takes longer."""
    if trio.lowlevel.in_trio_run():
        await _settled_in_trio(future, timeout_s)
    else:
        await _settled_in_asyncio(future, timeout_s)
    return future.done()


async def _settled_in_trio(future: Future[Any], timeout_s: float) -> None:
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


async def _settled_in_asyncio(future: Future[Any], timeout_s: float) -> None:
    import asyncio

    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake(_: Future[Any]) -> None:
        try:
            loop.call_soon_threadsafe(done.set)
        except RuntimeError:  # the loop is closed
            pass

    future.add_done_callback(wake)
    try:
        await asyncio.wait_for(done.wait(), timeout_s)
    except TimeoutError:
        pass
