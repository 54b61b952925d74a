"""Which poller a server gets, in which run."""

from __future__ import annotations

import select
import socket
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from odradek.broker.clock import BrokerClock
from odradek.broker.fast.fast_lane import MAX_BYTES, FastLane, KeptAnswers, do_not_pace
from odradek.broker.fast.poller import EpollPoller
from odradek.broker.fast.sleeping_poller import EventLoop, SleepingPoller, event_loop
from tests.broker.net.test_connection import beat, dial, read_frame, serving
from tests.broker.net.test_server import open_sockets
from tests.fakes.cluster import FakeCluster

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


pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_CONGESTION"), reason="another system")


def control_of(sock: socket.socket) -> bytes:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


def test_the_broker_asks_for_that_in_the_fast_lane(poller: type | None) -> None:
    cluster = FakeCluster()
    with socket.socket() as new:
        usual = control_of(new)

    async def main() -> None:
        async with serving(cluster), await dial(cluster) as client:
            await client.send_all(beat())
            await read_frame(client)
            (sock,) = [each for each in open_sockets() if each.getpeername() == client.socket.getsockname()]
            assert control_of(sock) == (usual if poller is None else b"reno")

    trio.run(main, clock=cluster.clock)


def test_a_socket_that_refuses_it_stays_as_it_is() -> None:
    near, far = socket.socketpair()
    with near, far:
        do_not_pace(near)


def ask(kept: KeptAnswers, api: str, question: object, answer: object, size: int = 1) -> None:
    kept.of(api, 1)
    kept.keep(api, question, answer, size)


def test_a_newer_version_empties_the_table_of_its_api_alone() -> None:
    kept = KeptAnswers()
    ask(kept, "Metadata", "q", "a")
    ask(kept, "ApiVersions", "q", "b")
    assert kept.of("Metadata", 1) == {"q": "a"}
    assert kept.of("Metadata", 2) == {}
    assert kept.of("ApiVersions", 1) == {"q": "b"}


def test_a_full_table_begins_anew() -> None:
    kept = KeptAnswers()
    for question in range(200):
        ask(kept, "Metadata", question, question)
    assert 0 < len(kept.of("Metadata", 1)) <= 64


def test_large_answers_fill_a_table_sooner_and_one_too_large_is_not_kept() -> None:
    kept = KeptAnswers()
    for question in range(5):
        ask(kept, "Metadata", question, question, MAX_BYTES // 3)
    assert kept.of("Metadata", 1) == {3: 3, 4: 4}
    ask(kept, "Metadata", "all", "all", MAX_BYTES + 1)
    assert "all" not in kept.of("Metadata", 1)
