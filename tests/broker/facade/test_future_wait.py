"""Waiting for a future of another thread, in trio and blocking."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import trio

from odradek.broker.facade.future_wait import blocking_settled, trio_settled


def test_trio_code_waits_for_a_result_of_another_thread() -> None:
    future: Future[str] = Future()

    async def main() -> bool:
        threading.Thread(target=future.set_result, args=("done",)).start()
        return await trio_settled(future, 60)

    assert trio.run(main)


def test_trio_code_gives_up_after_its_time() -> None:
    future: Future[str] = Future()
    assert not trio.run(trio_settled, future, 0.01)
    future.set_result("late: nobody waits, and nothing breaks")


def test_a_thread_waits_for_a_result_of_another_one() -> None:
    future: Future[str] = Future()
    threading.Thread(target=future.set_result, args=("done",)).start()
    assert blocking_settled(future, float("inf"))
    assert not blocking_settled(Future(), 0.01)
