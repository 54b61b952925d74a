"""How a user's thread reaches the broker's."""

from __future__ import annotations

import threading

import pytest
import trio

from odradek.broker.facade.call import BrokerClosedError, HandOver


def test_it_runs_in_the_brokers_thread_and_gives_results_and_errors_back() -> None:
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
