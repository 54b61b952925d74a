"""The poller that waits in trio's place: where it may, what trio still gets, and what becomes of its faults."""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.sleeping_poller import Patience, SleepingPoller
from odradek.broker.requests.context import RequestContext
from odradek.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install
from tests.broker.net.test_connection import beat, dial, read_frame, run, serving
from tests.fakes.cluster import FakeCluster

pytestmark = pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs epoll")


@pytest.fixture(autouse=True)
def sleeping(poller: type) -> None:
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

    def break_down(self: SleepingPoller, connection: object) -> None:
        raise ValueError("broken")

    servers = []

    async def main() -> None:
        async with serving(cluster) as server, await dial(cluster) as stream:
            servers.append(server)
            await stream.send_all(beat())
            await read_frame(stream)
            monkeypatch.setattr(SleepingPoller, "_settle", break_down)
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

    monkeypatch.setattr("odradek.broker.net.sleeping_poller.time.perf_counter_ns", read)
    return set_step


def test_patience_is_for_answers_that_follow_each_other_quickly(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=True)
    ticks(1_000_000)
    slow = Events([EVENT, EVENT])
    for _ in range(2):
        patience.poll(slow, 5)  # type: ignore[arg-type]
    assert slow.waits == [5, 5], "it slept at once, as all waits were long"
    ticks(10_000)
    quick = Events([EVENT, [], EVENT])
    patience.poll(quick, 5)  # type: ignore[arg-type]
    patience.poll(quick, 5)  # type: ignore[arg-type]
    assert quick.waits == [5, 0, 0], "after a short wait it looks twice without sleeping"


def test_patience_ends_when_nothing_comes(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=True)
    ticks(10_000)
    patience.poll(Events([EVENT]), 5)  # type: ignore[arg-type]
    ticks(1_000_000)
    idle = Events([])
    patience.poll(idle, 5)  # type: ignore[arg-type]
    looked = len(idle.waits)
    patience.poll(idle, 5)  # type: ignore[arg-type]
    assert looked > 2
    assert idle.waits[looked:] == [5]


def test_patience_that_is_not_allowed_sleeps(ticks: Callable[[int], None]) -> None:
    patience = Patience(allowed=False)
    ticks(10_000)
    quick = Events([EVENT, EVENT])
    for _ in range(2):
        patience.poll(quick, 5)  # type: ignore[arg-type]
    assert quick.waits == [5, 5]
