"""The thread for large batches: in turn, and ended when nobody waits any more."""

from __future__ import annotations

import threading

import pytest
import trio

from odradek.broker.worker import ThreadWork, Worker


@pytest.mark.trio
async def test_the_result_comes_back_and_so_does_an_exception() -> None:
    worker = Worker()

    def fails(work: ThreadWork) -> None:
        raise ValueError("no")

    main = threading.current_thread()
    assert await worker.do(lambda work: threading.current_thread() is not main)
    with pytest.raises(ValueError, match="no"):
        await worker.do(fails)


@pytest.mark.trio
async def test_one_piece_of_work_is_done_at_a_time_in_the_order_of_asking() -> None:
    worker = Worker()
    done: list[int] = []
    at_once: list[int] = []
    lock = threading.Lock()

    async def one(number: int) -> None:
        def work(turn: ThreadWork) -> None:
            assert lock.acquire(blocking=False)
            turn.give_way()
            done.append(number)
            lock.release()

        await worker.do(work)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(one, number)
            await trio.testing.wait_all_tasks_blocked()
    assert done == list(range(5))
    assert not at_once


@pytest.mark.trio
async def test_work_ends_where_it_gives_way_when_its_caller_is_cancelled() -> None:
    worker = Worker()
    begun = trio.Event()
    token = trio.lowlevel.current_trio_token()
    rounds: list[int] = []

    def endless(work: ThreadWork) -> None:
        while True:
            work.give_way()
            if not rounds:
                token.run_sync_soon(begun.set)
            rounds.append(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker.do, endless)
        await begun.wait()
        nursery.cancel_scope.cancel()
    assert await worker.do(lambda work: "next") == "next"  # which waits for the end of the first
    ended = len(rounds)
    assert await worker.do(lambda work: len(rounds)) == ended


@pytest.mark.trio
async def test_what_several_calls_may_inflate_is_shared() -> None:
    worker = Worker()
    shared = ThreadWork()
    shared.left = 10

    def take(work: ThreadWork) -> int:
        work.left -= 4
        return work.left

    assert [await worker.do(take, shared) for _ in range(3)] == [6, 2, -2]


@pytest.mark.trio
async def test_work_that_failed_does_not_end_the_next_that_shares_its_limit() -> None:
    worker = Worker()
    shared = ThreadWork()

    def fails(work: ThreadWork) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await worker.do(fails, shared)
    await worker.do(ThreadWork.give_way, shared)
