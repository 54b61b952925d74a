"""Which poller a server gets, in which run."""

from __future__ import annotations

import select
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from odradek.broker.clock import BrokerClock
from odradek.broker.fast.fast_lane import FastLane
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.fast.sleeping_poller import EventLoop, SleepingPoller, event_loop

needs_epoll = pytest.mark.skipif(not hasattr(select, "epoll"), reason="needs epoll")


def kind_in(clock: BrokerClock, run_clock: Any) -> type:
    async def main() -> type:
        poller = FastLane().new_poller(clock)
        assert poller is not None
        poller.close()
        return type(poller)

    return trio.run(main, clock=run_clock)


@needs_epoll
def test_it_is_taken_where_the_broker_s_clock_is_the_run_s() -> None:
    clock = BrokerClock()
    assert kind_in(clock, clock) is SleepingPoller
    assert kind_in(clock, None) is EpollPoller
    assert kind_in(clock, MockClock()) is EpollPoller


@needs_epoll
def test_of_two_servers_in_a_run_the_second_has_a_task() -> None:
    clock = BrokerClock()
    clock.sleeper = clock.seconds_until
    assert kind_in(clock, clock) is EpollPoller


@needs_epoll
def test_a_trio_with_other_insides_or_a_guest_has_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = BrokerClock()
    monkeypatch.setattr(EventLoop, "next_deadline", lambda self: self.no_such_attribute)
    assert kind_in(clock, clock) is EpollPoller
    monkeypatch.undo()

    async def as_guest() -> object:
        from trio._core._run import GLOBAL_RUN_CONTEXT

        monkeypatch.setattr(GLOBAL_RUN_CONTEXT.runner, "is_guest", True)
        return event_loop(clock)

    assert trio.run(as_guest, clock=clock) is None


def test_without_epoll_connections_wait_in_their_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "epoll", raising=False)
    assert FastLane().new_poller(BrokerClock()) is None
