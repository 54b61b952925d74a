"""A parked request that a task waits for."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from odradek.broker.clock import BrokerClock
from odradek.broker.requests.parked_request import EncodedBody, Parked, is_coroutine, later, later_all
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError


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


@pytest.mark.trio
async def test_a_parked_request_looks_again_with_each_wake_up(clock: BrokerClock, autojump_clock: MockClock) -> None:
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


@pytest.mark.trio
async def test_a_parked_request_ends_at_its_deadline(clock: BrokerClock, autojump_clock: MockClock) -> None:
    before = clock.now_ms()
    assert await Countdown(clock, wakes=1, wait_ms=5000).response(clock) == "late"
    assert clock.now_ms() - before >= 5000


@pytest.mark.trio
async def test_what_came_before_anybody_waited_counts(clock: BrokerClock, autojump_clock: MockClock) -> None:
    parked = Countdown(clock, wakes=1, wait_ms=60_000)
    parked.wakes = 0
    parked.wake()
    before = clock.now_ms()
    assert await parked.response(clock) == "woken"
    assert clock.now_ms() == before


@pytest.mark.trio
async def test_a_cancelled_wait_leaves_nothing(clock: BrokerClock, autojump_clock: MockClock) -> None:
    parked = Countdown(clock, wakes=1, wait_ms=60_000)
    with trio.move_on_after(1):
        await parked.response(clock)
    assert parked.abandoned


# -- What a handler returns: a coroutine of a plain function or of a compiled one, or anything else.


class CompiledCoroutine:
    """As mypyc makes them: a class of its own for each function."""

    def __await__(self) -> Generator[Any, Any, int]:
        yield
        return 1


def test_coroutines_are_told_from_other_values() -> None:
    async def handler() -> None: ...

    plain = handler()
    assert is_coroutine(plain)
    plain.close()
    assert is_coroutine(CompiledCoroutine())


def test_is_coroutine_of_other_values_is_false() -> None:
    assert not is_coroutine(None)
    assert not is_coroutine(EncodedBody(b""))


# -- Answers that come now or later.


def run(answer: Any) -> Any:
    async def main() -> Any:
        if isinstance(answer, Parked):
            return await answer.response(BrokerClock())
        assert isinstance(answer, Coroutine)
        return await answer

    return trio.run(main)


def test_a_reply_is_answered_now_or_when_it_comes() -> None:
    slot: ReplySlot[int] = ReplySlot()
    assert later(1, str) == "1"
    waiting = later(slot, str)
    slot.complete(2)
    assert run(waiting) == "2"


def test_who_waits_is_woken_by_the_reply() -> None:
    slot: ReplySlot[int] = ReplySlot()
    waiting = later(slot, str)
    assert isinstance(waiting, Parked)
    woken: list[str] = []
    waiting.wake = lambda: woken.append("woken")
    assert (waiting.resume(), woken) == (None, [])
    slot.complete(2)
    assert (waiting.resume(), woken) == ("2", ["woken"])


def test_who_has_gone_is_not_woken() -> None:
    slot: ReplySlot[int] = ReplySlot()
    waiting = later(slot, str)
    assert isinstance(waiting, Parked)
    waiting.wake = lambda: pytest.fail("nobody waits")
    waiting.abandon()
    slot.complete(2)


def test_an_error_that_comes_later_is_answered_or_raised() -> None:
    slot: ReplySlot[int] = ReplySlot()
    slot.fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(later(slot, str, lambda error: error.code.name)) == "NOT_COORDINATOR"
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        run(later(slot, str))


def test_several_replies_fill_one_answer() -> None:
    answer: dict[str, Any] = {}
    slots: list[ReplySlot[int]] = [ReplySlot(), ReplySlot()]

    def row(name: str, reply: int | ReplySlot[int]) -> Any:
        return reply, lambda told: answer.update({name: told}), lambda error: answer.update({name: error.code})

    assert later_all([row("a", 1)], answer) == {"a": 1}
    waiting = later_all([row("a", 1), row("b", slots[0]), row("c", slots[1])], answer)
    slots[1].complete(3)
    slots[0].fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(waiting) == {"a": 1, "b": ErrorCode.NOT_COORDINATOR, "c": 3}
