"""A parked request that a task waits for."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from odradek.broker.clock import BrokerClock
from odradek.broker.partitions.waiters import WaiterSet
from odradek.broker.requests.parked_request import (
    EncodedBody,
    OutcomeWait,
    Parked,
    ParkedInPartitions,
    awaited,
    is_coroutine,
    later,
    later_all,
    then,
)
from odradek.broker.runtime.replies import ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.clocks import clock_at


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
        def begin() -> Any:
            if name == "refused":
                raise KafkaError(ErrorCode.NOT_COORDINATOR)
            return reply

        return begin, lambda told: answer.update({name: told}), lambda error: answer.update({name: error.code})

    assert later_all([row("a", 1), row("refused", 1)], answer) == {"a": 1, "refused": ErrorCode.NOT_COORDINATOR}
    del answer["refused"]
    waiting = later_all([row("a", 1), row("b", slots[0]), row("c", slots[1])], answer)
    slots[1].complete(3)
    slots[0].fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(waiting) == {"a": 1, "b": ErrorCode.NOT_COORDINATOR, "c": 3}


def test_awaited_gives_the_coordinators_own_answer_now_or_later() -> None:
    refused: ReplySlot[Any] = ReplySlot()
    answered: ReplySlot[Any] = ReplySlot()
    assert awaited(1) == 1
    refused.fail(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert run(awaited(refused, lambda error: error.code.value)) == 16
    answered.complete(2)
    assert run(awaited(answered)) == 2


def test_then_makes_an_answer_of_one_that_is_there_or_comes() -> None:
    clock = BrokerClock()

    async def two() -> int:
        return 2

    assert then(1, clock, str) == "1"
    assert run(then(two(), clock, str)) == "2"
    slot: ReplySlot[Any] = ReplySlot()
    slot.complete(3)
    assert run(then(awaited(slot), clock, str)) == "3"
    assert run(then(two(), clock, lambda number: later(slot, lambda other: number + other))) == 5


# -- Outcomes of changes that partitions wait for.


class Change:
    """A change of a partition that is over when `done` says so."""

    def __init__(self) -> None:
        self.partition = SimpleNamespace(waiters=WaiterSet())
        self.done = False


class Changes:
    """Changes and who waits for them; `told`: (change, whether there was no more time)."""

    def __init__(self, clock: BrokerClock, count: int, timeout_ms: int) -> None:
        self.told: list[tuple[int, bool]] = []
        self.changes = [Change() for _ in range(count)]
        self.wait = OutcomeWait(clock, timeout_ms, self.changes, self._settle, lambda: "answer")

    def _settle(self, change: Change, due: bool) -> bool:
        self.told.append((self.changes.index(change), due))
        return change.done

    def finish(self, number: int) -> None:
        self.changes[number].done = True
        self.changes[number].partition.waiters.wake_all()


def test_outcomes_are_settled_once_each_as_they_come() -> None:
    asked = Changes(clock_at(1000), 2, timeout_ms=50)
    woken: list[int] = []
    asked.wait.wake = lambda: woken.append(1)
    assert asked.wait.resume() is None
    assert asked.told == []
    asked.finish(1)
    assert woken == [1]
    assert asked.wait.resume() is None
    assert asked.told == [(0, False), (1, False)]
    asked.finish(0)
    assert asked.wait.resume() == "answer"
    assert asked.told[2:] == [(0, False)]
    assert not any(len(change.partition.waiters) for change in asked.changes)


@pytest.mark.parametrize("timeout_ms", [50, 0, -1])
def test_an_outcome_wait_ends_at_its_time(timeout_ms: int) -> None:
    clock = clock_at(1000)
    asked = Changes(clock, 1, timeout_ms)
    assert asked.wait.deadline_ms == 1000 + max(0, timeout_ms)
    if timeout_ms > 0:
        clock.advance(0.049)
        assert asked.wait.resume() is None
        clock.advance(0.001)
    assert asked.wait.resume() == "answer"
    assert asked.told == [(0, True)]


class BytesWait(ParkedInPartitions):
    """Waits for ten bytes."""

    def __init__(self, clock: BrokerClock, waiters: WaiterSet, **seen: bool) -> None:
        super().__init__(clock, 1000)
        self.wait_in([waiters], 10, **seen)

    def look(self, due: bool) -> str:
        return "due" if due else "woken"


@pytest.mark.parametrize(
    ("seen", "moved", "woken"),
    [({}, False, True), ({"committed": True}, False, False), ({"committed": True}, True, True)],
)
def test_a_wait_for_bytes_counts_what_its_reader_sees(seen: dict[str, bool], moved: bool, woken: bool) -> None:
    clock, waiters = clock_at(1000), WaiterSet()
    wait = BytesWait(clock, waiters, **seen)
    waiters.appended(9, stable_moved=False)
    assert wait.resume() is None
    waiters.appended(1, stable_moved=moved)
    assert wait.resume() == ("woken" if woken else None)
    assert len(waiters) == (0 if woken else 1)
    clock.advance(1)
    assert woken or wait.resume() == "due"


def test_an_outcome_wait_that_nobody_wants_leaves_the_partitions() -> None:
    asked = Changes(clock_at(1000), 2, timeout_ms=50)
    asked.wait.abandon()
    assert not any(len(change.partition.waiters) for change in asked.changes)
