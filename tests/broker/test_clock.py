"""The broker's clock moves timers and timestamps together, from any thread."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock

HOUR_MS = 3_600_000
MINUTE_MS = 60_000
"""More than a busy machine lets pass between two lines."""


def in_thread(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_now_is_the_wall_time() -> None:
    before = time.time()
    now_ms = BrokerClock().now_ms()
    assert 1000 * before - 100 <= now_ms <= 1000 * time.time() + 100


def test_clock_starts_where_told() -> None:
    assert 0 <= BrokerClock(start_ms=1_000).now_ms() - 1_000 < MINUTE_MS


def test_clock_only_moves_forward() -> None:
    clock = BrokerClock()
    with pytest.raises(ValueError, match="forward"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="forward"):
        clock.advance(float("nan"))


def test_clock_advance_adds_up_units() -> None:
    clock = BrokerClock()
    clock.freeze()
    before = clock.now_ms()
    assert clock.advance(1, minutes=2, hours=3, days=4) - before == 1000 + 120_000 + 3 * HOUR_MS + 96 * HOUR_MS


def test_frozen_time_stands_still_until_resumed() -> None:
    clock = BrokerClock()
    with clock.stopped():
        before = clock.now_ms()
        assert clock.frozen
        time.sleep(0.02)
        assert clock.now_ms() == before
        clock.advance(5)
        assert clock.now_ms() == before + 5000
    assert 0 <= clock.now_ms() - before - 5000 < MINUTE_MS


def test_a_task_that_sleeps_an_hour_wakes_when_another_thread_advances() -> None:
    clock = BrokerClock()
    woke: list[int] = []

    async def main() -> None:
        async def sleeper() -> None:
            begin = clock.now_ms()
            await clock.sleep(3600)
            woke.append(clock.now_ms() - begin)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleeper)
            await wait_all_tasks_blocked()
            thread = in_thread(lambda: clock.advance(hours=1))
        await trio.to_thread.run_sync(thread.join)

    real = time.monotonic()
    trio.run(main, clock=clock)
    assert time.monotonic() - real < 60
    assert HOUR_MS <= woke[0] < HOUR_MS + MINUTE_MS


def test_advance_from_a_thread_returns_after_the_timers_have_acted() -> None:
    clock = BrokerClock()
    acted: list[str] = []
    seen: list[list[str]] = []

    async def main() -> None:
        async def timer() -> None:
            await clock.sleep(60)
            acted.append("once")
            await trio.lowlevel.checkpoint()
            acted.append("twice")

        def advance() -> None:
            clock.advance(minutes=2)
            seen.append(list(acted))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(timer)
            await wait_all_tasks_blocked()
            await trio.to_thread.run_sync(advance)

    trio.run(main, clock=clock)
    assert seen == [["once", "twice"]]


def test_another_thread_moves_the_clock_between_two_steps_of_a_task_never_inside_one() -> None:
    clock = BrokerClock()

    async def main() -> None:
        due_ms = clock.now_ms() + 2 * MINUTE_MS
        thread = in_thread(lambda: clock.advance(hours=1))
        thread.join(0.05)  # as long as this step goes on, the other thread waits
        left_ms = due_ms - clock.now_ms()
        assert thread.is_alive()
        assert left_ms > MINUTE_MS
        await clock.sleep(left_ms / 1000)  # would take two minutes if the jump had come before
        await trio.to_thread.run_sync(thread.join)
        assert clock.now_ms() - due_ms >= HOUR_MS - 2 * MINUTE_MS

    trio.run(main, clock=clock)


def test_a_broker_that_stands_still_does_not_stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.broker.clock._SETTLE_TIMEOUT_S", 0.01)
    clock = BrokerClock()

    async def main() -> None:
        before = clock.now_ms()
        in_thread(lambda: clock.advance(hours=1)).join()
        jumped = clock.now_ms() - before
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
        assert HOUR_MS <= jumped <= clock.now_ms() - before < HOUR_MS + MINUTE_MS  # once, not twice

    trio.run(main, clock=clock)


def test_a_frozen_clock_holds_timers_back() -> None:
    clock = BrokerClock()

    async def main() -> str:
        clock.freeze()
        order: list[str] = []

        async def timer() -> None:
            await clock.sleep(0.001)
            order.append("timer")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(timer)
            await trio.to_thread.run_sync(time.sleep, 0.03)
            order.append("real time passed")
            clock.advance(1)
        return ",".join(order)

    assert trio.run(main, clock=clock) == "real time passed,timer"


@given(
    begun=st.floats(1, 1e8),
    steps_ms=st.lists(st.integers(1, 10_000), min_size=1, max_size=20),
    is_hosted=st.booleans(),
)
def test_steps_that_add_up_to_a_wait_reach_its_end(begun: float, steps_ms: list[int], is_hosted: bool) -> None:
    clock = BrokerClock()
    clock.face.source = lambda: begun

    async def main() -> None:
        if is_hosted:
            clock.attach()
        clock.freeze()
        before_ms = clock.now_ms()
        with clock.move_on_after(sum(steps_ms) / 1000) as scope, trio.CancelScope() as outer:
            for step_ms in steps_ms[:-1]:
                clock.advance(step_ms / 1000)
                await trio.lowlevel.checkpoint()
            assert not scope.cancel_called
            clock.advance((steps_ms[-1] - 1) / 1000)
            await wait_all_tasks_blocked()
            assert not scope.cancel_called, "a millisecond is left"
            clock.advance(0.001)
            await wait_all_tasks_blocked()
            assert scope.cancel_called
            outer.cancel()
        assert clock.now_ms() == before_ms + sum(steps_ms)
        clock.resume()
        assert clock.now_ms() >= before_ms + sum(steps_ms)

    trio.run(main, clock=MockClock() if is_hosted else clock)


def hosted(test: Callable[[BrokerClock], object], autojump: bool = True) -> None:
    async def main() -> None:
        clock = BrokerClock()
        clock.attach()
        await test(clock)  # type: ignore[misc]

    trio.run(main, clock=MockClock(autojump_threshold=0) if autojump else None)


def test_hosted_in_a_run_with_autojump_hours_cost_nothing() -> None:
    async def scenario(clock: BrokerClock) -> None:
        before = clock.now_ms()
        await clock.sleep(7200)
        assert 2 * HOUR_MS <= clock.now_ms() - before <= 2 * HOUR_MS + 1

    hosted(scenario)


@pytest.mark.parametrize("autojump", [True, False])
def test_hosted_clock_advances_waits_of_its_own_only(autojump: bool) -> None:
    async def scenario(clock: BrokerClock) -> None:
        before = clock.now_ms()
        host_before = trio.current_time()
        woke = trio.Event()

        async def timer() -> None:
            await clock.sleep(3600)
            woke.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(timer)
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
            clock.advance(hours=1)
            await woke.wait()
        assert HOUR_MS <= clock.now_ms() - before < HOUR_MS + MINUTE_MS
        assert trio.current_time() - host_before < 60

    hosted(scenario, autojump)


def test_hosted_clock_freezes_and_resumes() -> None:
    async def scenario(clock: BrokerClock) -> None:
        clock.freeze()
        now = clock.now_ms()
        await trio.sleep(100)
        assert clock.now_ms() == now
        with clock.move_on_after(10) as scope:
            clock.advance(11)
            await trio.sleep(1000)
        assert scope.cancelled_caught
        clock.resume()
        assert clock.now_ms() == now + 11_000
        with clock.move_on_after(10) as scope:
            await trio.sleep_forever()
        assert clock.now_ms() == now + 21_000

    hosted(scenario)


@pytest.mark.parametrize("is_hosted", [False, True])
def test_a_wait_whose_deadline_has_passed_is_over_at_once(is_hosted: bool) -> None:
    async def scenario(clock: BrokerClock) -> None:
        with clock.move_on_after(-1) as scope:
            await trio.sleep_forever()
        assert scope.cancelled_caught

    if is_hosted:
        hosted(scenario)
    else:
        trio.run(scenario, BrokerClock())


def test_clock_keeps_its_time_when_attached() -> None:
    async def main() -> None:
        clock = BrokerClock(start_ms=5_000_000)
        clock.advance(10)
        before = clock.now_ms()
        clock.attach()
        assert 0 <= clock.now_ms() - before < MINUTE_MS
        assert 5_010_000 <= clock.now_ms() < 5_010_000 + MINUTE_MS

    trio.run(main, clock=MockClock())


def test_clock_sleeps_until_a_time() -> None:
    async def scenario(clock: BrokerClock) -> None:
        target = clock.now_ms() + 5000
        await clock.sleep_until_ms(target)
        assert clock.now_ms() >= target
        await clock.sleep_until_ms(target - 1)

    hosted(scenario)


def test_advance_after_the_run_has_ended_is_harmless() -> None:
    clock = BrokerClock()

    async def main() -> None:
        clock.attach()

    trio.run(main, clock=clock)
    before = clock.now_ms()
    assert clock.advance(1) >= before + 1000


def test_the_clock_ends_with_the_year_9999() -> None:
    clock = BrokerClock(start_ms=0)
    with pytest.raises(ValueError, match="beyond the year 9999"):
        clock.advance(days=1e300)
    clock.advance(days=365 * 8000)
    assert repr(clock).startswith("<BrokerClock 99")
    with pytest.raises(ValueError, match="beyond the year 9999"):
        clock.advance(days=365 * 100)


@pytest.mark.parametrize("now_ms", [-1, -5, 253_402_300_800_000, 2**63, 10**400])
def test_the_clock_shows_no_time_outside_of_the_years_1970_to_9999(now_ms: int) -> None:
    clock = BrokerClock(start_ms=5)
    clock.freeze()
    with pytest.raises(ValueError, match="this clock shows times from 1970 to the year 9999"):
        clock.set_ms(now_ms)
    with pytest.raises(ValueError, match="this clock shows times from 1970 to the year 9999"):
        BrokerClock(start_ms=now_ms)
    assert (clock.now_ms(), clock.frozen) == (5, True)
    clock.set_ms(253_402_300_799_999, frozen=True)
    assert clock.now_ms() == 253_402_300_799_999
    clock.set_ms(0, frozen=True)
    assert clock.now_ms() == 0


def test_only_numbers_move_a_clock() -> None:
    for wrong in ("1", None, True):
        with pytest.raises(TypeError, match=re.escape(f"minutes={wrong!r}: expected a number")):
            BrokerClock().advance(minutes=wrong)  # type: ignore[arg-type]
