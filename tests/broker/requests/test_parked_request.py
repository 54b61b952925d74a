"""A parked request that a task waits for."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock

from odradek.broker.clock import BrokerClock
from odradek.broker.requests.parked_request import Parked

pytestmark = pytest.mark.trio


class Countdown(Parked):
    """Gives its response when it has been woken ``wakes`` times, or at its deadline."""

    def __init__(self, clock: BrokerClock, wakes: int, wait_ms: int) -> None:
        super().__init__(clock.now_ms() + wait_ms)
        self.clock = clock
        self.wakes = wakes
        self.abandoned = False

    def resume(self) -> str | None:
        if self.wakes <= 0:
            return "woken"
        return "late" if self.clock.now_ms() >= self.deadline_ms else None

    def abandon(self) -> None:
        self.abandoned = True


@pytest.fixture
async def clock() -> BrokerClock:
    clock = BrokerClock()
    clock.attach()
    return clock


async def test_it_looks_again_with_each_wake_up(clock: BrokerClock, autojump_clock: MockClock) -> None:
    parked = Countdown(clock, wakes=2, wait_ms=60_000)

    async def wake() -> None:
        for _ in range(2):
            await trio.sleep(1)
            parked.wakes -= 1
            parked.wake()

    before = clock.now_ms()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wake)
        assert await parked.response(clock) == "woken"
    assert 2000 <= clock.now_ms() - before < 60_000
    assert parked.abandoned


async def test_it_ends_at_its_deadline(clock: BrokerClock, autojump_clock: MockClock) -> None:
    before = clock.now_ms()
    assert await Countdown(clock, wakes=1, wait_ms=5000).response(clock) == "late"
    assert clock.now_ms() - before >= 5000


async def test_what_came_before_anybody_waited_counts(clock: BrokerClock, autojump_clock: MockClock) -> None:
    parked = Countdown(clock, wakes=1, wait_ms=60_000)
    parked.wakes = 0
    parked.wake()
    before = clock.now_ms()
    assert await parked.response(clock) == "woken"
    assert clock.now_ms() == before


async def test_a_cancelled_wait_leaves_nothing(clock: BrokerClock, autojump_clock: MockClock) -> None:
    parked = Countdown(clock, wakes=1, wait_ms=60_000)
    with trio.move_on_after(1):
        await parked.response(clock)
    assert parked.abandoned
