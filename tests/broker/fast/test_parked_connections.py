"""Parked connections are answered when they are woken or their time is up, each once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.fast.parked_connections import ParkedConnections
from odradek.broker.requests.parked_request import Parked

pytestmark = pytest.mark.trio


class FakeParked(Parked):
    def resume(self) -> Any:
        raise AssertionError("the connection does that")

    def abandon(self) -> None:
        raise AssertionError("the connection does that")


class Stage:
    """Parked connections by name; ``resumed`` are the names of those that were looked at, in order."""

    def __init__(self) -> None:
        self.clock = BrokerClock()
        self.clock.attach()
        self.resumed: list[str] = []
        self.rounds = 0
        self.parked: ParkedConnections[FakeConnection] = ParkedConnections(
            self.clock, self._resume, self._round_is_over
        )

    def park(self, name: str, wait_ms: int) -> Parked:
        parked = FakeParked(self.clock.now_ms() + wait_ms)
        self.parked.add(FakeConnection(name, parked), parked)
        return parked

    def _resume(self, connection: FakeConnection) -> None:
        self.resumed.append(connection.name)
        connection.parked = None

    def _round_is_over(self) -> None:
        self.rounds += 1

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.parked.run)
            await wait_all_tasks_blocked()
            yield
            nursery.cancel_scope.cancel()


class FakeConnection:
    def __init__(self, name: str, parked: Parked) -> None:
        self.name = name
        self.parked: Parked | None = parked

    @property
    def is_parked(self) -> bool:
        return self.parked is not None

    def waits_for(self, parked: Parked) -> bool:
        return self.parked is parked


async def test_deadlines_come_in_their_order(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.running():
        began = trio.current_time()
        for name, wait_ms in (("late", 3000), ("early", 1000), ("middle", 2000)):
            stage.park(name, wait_ms)
        await trio.sleep(10)
    assert stage.resumed == ["early", "middle", "late"]
    assert trio.current_time() - began == 10


async def test_an_earlier_deadline_shortens_the_sleep(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.running():
        stage.park("late", 60_000)
        await trio.sleep(1)
        stage.park("early", 1000)
        await trio.sleep(2)
        assert stage.resumed == ["early"]


async def test_who_is_woken_outside_of_a_turn_is_answered_soon(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.running():
        parked = stage.park("a", 60_000)
        parked.wake()
        assert stage.resumed == []
        await wait_all_tasks_blocked()
        assert stage.resumed == ["a"]


async def test_who_is_woken_in_a_turn_is_answered_at_its_end(autojump_clock: MockClock) -> None:
    stage = Stage()
    parked = stage.park("a", 60_000)
    stage.parked.begin_turn()
    parked.wake()
    parked.wake()
    assert stage.resumed == []
    stage.parked.end_turn()
    assert stage.resumed == ["a"]
    assert stage.rounds == 1


async def test_the_deadline_of_an_answered_request_does_nothing(autojump_clock: MockClock) -> None:
    stage = Stage()
    async with stage.running():
        stage.park("a", 1000).wake()
        await trio.sleep(10)
    assert stage.resumed == ["a"]


async def test_the_clock_is_the_brokers(autojump_clock: MockClock) -> None:
    stage = Stage()
    stage.clock.freeze()
    async with stage.running():
        stage.park("a", 1000)
        await trio.sleep(10)
        assert stage.resumed == []
        stage.clock.advance(1)
        await wait_all_tasks_blocked()
        assert stage.resumed == ["a"]


async def test_long_waits_that_end_early_do_not_fill_the_queue() -> None:
    stage = Stage()
    living = [stage.park(f"living {number}", 600_000) for number in range(300)]
    for number in range(10_000):
        parked = stage.park(f"answered {number}", 300_000)
        stage.parked.begin_turn()
        parked.wake()
        stage.parked.end_turn()
    assert stage.parked.deadlines <= 2 * (len(living) + 1)
    assert len(stage.resumed) == 10_000
