"""The poller that waits in trio's place: where it may, what trio still gets, and what becomes of its faults."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.fast.sleeping_poller import Patience, SleepingPoller, may_look_again
from odradek.broker.requests.context import RequestContext
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install
from tests.broker.net.test_connection import beat, dial, read_frame, run, serving
from tests.fakes.cluster import FakeCluster

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs epoll")


@pytest.fixture(autouse=True)
def sleeping(poller: type | None) -> None:
    """These tests are about one kind."""
    if poller is not SleepingPoller:
        pytest.skip("another poller")


def answering(install: Install) -> FakeCluster:
    install(HeartbeatRequest, lambda ctx, request: HeartbeatResponse())
    return FakeCluster()


def test_requests_are_served_while_tasks_never_let_trio_sleep(install: Install) -> None:
    cluster = answering(install)

    async def scenario(server: Any) -> None:
        async with await dial(cluster) as stream, trio.open_nursery() as nursery:

            async def busy() -> None:
                while True:
                    await trio.lowlevel.checkpoint()

            nursery.start_soon(busy)
            for number in range(20):
                await stream.send_all(beat(correlation_id=number))
                await read_frame(stream)
            nursery.cancel_scope.cancel()

    run(cluster, scenario)


def test_tasks_timers_and_threads_go_on_while_requests_never_let_trio_wake(install: Install) -> None:
    cluster = answering(install)

    async def scenario(server: Any) -> None:
        async with await dial(cluster) as stream, trio.open_nursery() as nursery:

            async def ask() -> None:
                while True:
                    await stream.send_all(beat())
                    await read_frame(stream)

            nursery.start_soon(ask)
            await cluster.clock.sleep(0.01)
            assert await trio.to_thread.run_sync(lambda: "from a thread") == "from a thread"
            nursery.cancel_scope.cancel()

    run(cluster, scenario)


@pytest.mark.parametrize("cushion", [0.0, 0.01])
def test_nothing_happens_only_when_the_sockets_are_quiet_too(install: Install, cushion: float) -> None:
    served: list[int] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
        served.append(ctx.correlation_id)
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Any) -> None:
        async with await dial(cluster) as stream:
            await stream.send_all(beat(correlation_id=0))
            await read_frame(stream)
            await stream.send_all(beat(correlation_id=1))
            await wait_all_tasks_blocked(cushion)
            assert served == [0, 1]

    run(cluster, scenario)


def test_a_clock_that_stands_still_holds_up_nobody(install: Install) -> None:
    cluster = answering(install)

    async def scenario(server: Any) -> None:
        async with await dial(cluster) as stream, trio.open_nursery() as nursery:
            cluster.clock.freeze()
            woken: list[int] = []

            async def later() -> None:
                await cluster.clock.sleep(10)
                woken.append(cluster.clock.now_ms())

            nursery.start_soon(later)
            await stream.send_all(beat())
            await read_frame(stream)
            assert not woken
            await trio.to_thread.run_sync(lambda: cluster.clock.advance(10))
            assert len(woken) == 1

    run(cluster, scenario)


def test_a_fault_of_the_poller_is_raised_by_its_task(monkeypatch: pytest.MonkeyPatch, install: Install) -> None:
    cluster = answering(install)

    def break_down(self: SleepingPoller, sockets: object, holding: object) -> None:
        raise ValueError("broken")

    servers = []

    async def main() -> None:
        async with serving(cluster) as server, await dial(cluster) as stream:
            servers.append(server)
            await stream.send_all(beat())
            await read_frame(stream)
            monkeypatch.setattr(SleepingPoller, "_send_held", break_down)
            await stream.send_all(beat())
            await trio.sleep_forever()

    with pytest.RaisesGroup(ValueError, flatten_subgroups=True):
        trio.run(main, clock=cluster.clock)
    servers[0].release()
    assert cluster.clock.sleeper is None


class Events:
    """An epoll whose answers are told, with how long each was waited for."""

    def __init__(self, answers: list[list[tuple[int, int]]]) -> None:
        self.answers = answers
        self.waits: list[float] = []

    def poll(self, seconds: float, most: int) -> list[tuple[int, int]]:
        self.waits.append(seconds)
        return self.answers.pop(0) if self.answers else []


EVENT = [(3, select.EPOLLIN)]


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """How many nanoseconds each look at the time is behind the one before."""
    now = step = 0

    def read() -> int:
        nonlocal now
        now += step
        return now

    def set_step(ns: int) -> None:
        nonlocal step
        step = ns

    monkeypatch.setattr("odradek.broker.fast.sleeping_poller.time.perf_counter_ns", read)
    return set_step


SHORT, LONG = 10_000, 1_000_000  # nanoseconds


def looks(patience: Patience, epoll: Events) -> int:
    """How often the epoll is asked without waiting before the next sleep, or before there is something."""
    before = len(epoll.waits)
    patience.poll(epoll, 5)  # type: ignore[arg-type]
    return epoll.waits[before:].count(0)


def test_patience_is_for_answers_that_follow_each_other_quickly(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=True)
    ticks(LONG)
    slow = Events([EVENT, EVENT])
    assert [looks(patience, slow) for _ in range(2)] == [0, 0], "it slept at once, as all waits were long"
    ticks(SHORT)
    assert looks(patience, Events([EVENT])) == 0, "nothing was short before"
    assert looks(patience, Events([[], EVENT])) == 2, "after a short wait it looks, and sleeps no more"
    assert looks(patience, Events([EVENT])) == 1


def test_patience_ends_when_waits_are_long(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=True)
    ticks(SHORT)
    looks(patience, Events([EVENT]))
    ticks(LONG)
    assert looks(patience, Events([])) > 2
    assert looks(patience, Events([])) == 0


def test_patience_that_was_in_vain_needs_twice_as_many_short_waits(ticks: Callable[[int], None]) -> None:
    """Waits may be short, and yet too long for what looking takes."""
    patience = Patience(allowed=True)
    ticks(SHORT)
    tries = [looks(patience, Events([])) > 0 for _ in range(16)]
    assert [number for number, tried in enumerate(tries) if tried] == [1, 3, 7, 15]


def test_patience_that_paid_is_given_sooner(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=True)
    ticks(SHORT)
    for _ in range(4):
        looks(patience, Events([]))  # in vain twice: four short waits are needed, one was
    for _ in range(3):
        assert looks(patience, Events([EVENT])) == 0
    assert looks(patience, Events([EVENT])) == 1, "it paid: two are enough from now on"
    looks(patience, Events([]))  # in vain: four again
    assert [looks(patience, Events([])) > 0 for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize(("allowed", "seconds"), [(False, 5), (True, 0)])
def test_patience_is_never_for_who_may_not_or_would_not_sleep(
    ticks: Callable[[int], None], allowed: bool, seconds: float
) -> None:
    patience = Patience(allowed=allowed)
    ticks(SHORT)
    quick = Events([EVENT, EVENT])
    for _ in range(2):
        patience.poll(quick, seconds)  # type: ignore[arg-type]
    assert quick.waits == [seconds, seconds]


def test_looking_again_is_for_the_main_thread_with_more_than_one_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1})
    assert may_look_again()
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(may_look_again()))
    thread.start()
    thread.join()
    assert answers == [False]
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {1})
    assert not may_look_again()
