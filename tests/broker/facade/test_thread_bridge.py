"""Calls into the broker's thread, and waits for futures."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest
import trio

from odradek.broker.facade.thread_bridge import BrokerClosedError, HandOver, blocking_settled, trio_settled


def test_a_call_runs_in_the_brokers_thread_and_gives_results_and_errors_back() -> None:
    found: list[object] = []

    def other(hand_over: HandOver) -> None:
        found.append(hand_over(threading.get_ident))
        with pytest.raises(ZeroDivisionError):
            hand_over(lambda: 1 // 0)

    async def main() -> HandOver:
        hand_over = HandOver()
        assert hand_over(lambda: "directly") == "directly"
        await trio.to_thread.run_sync(other, hand_over)
        return hand_over

    trio.run(main)
    assert found == [threading.get_ident()]


def test_a_run_that_is_over_says_so() -> None:
    made: list[HandOver] = []

    async def main() -> None:
        made.append(HandOver())

    broker = threading.Thread(target=trio.run, args=(main,))
    broker.start()
    broker.join()
    with pytest.raises(BrokerClosedError, match="closed"):
        made[0](lambda: None)


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
