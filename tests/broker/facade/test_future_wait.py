"""Waiting for a future of another thread, in trio and in asyncio code."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

import pytest
import trio

from odradek.broker.facade.future_wait import settled


def test_trio_code_waits_for_a_result_of_another_thread() -> None:
    future: Future[str] = Future()

    async def main() -> bool:
        threading.Thread(target=future.set_result, args=("done",)).start()
        return await settled(future, 60)

    assert trio.run(main)


def test_asyncio_code_waits_for_a_result_of_another_thread() -> None:
    future: Future[str] = Future()

    async def main() -> bool:
        threading.Thread(target=future.set_result, args=("done",)).start()
        return await settled(future, 60)

    assert asyncio.run(main())


@pytest.mark.parametrize("run", [trio.run, lambda main: asyncio.run(main())])
def test_it_gives_up_after_its_time(run: object) -> None:
    future: Future[str] = Future()

    async def main() -> bool:
        return await settled(future, 0.01)

    assert callable(run)
    assert not run(main)
    future.set_result("late: nobody waits, and nothing breaks")
