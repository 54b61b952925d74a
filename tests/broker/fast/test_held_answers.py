"""What is held back in a turn leaves whichever way the system takes it, and one lost client is one lost client."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.fast import held_answers
from odradek.broker.fast.fast_lane import FastLane
from odradek.broker.fast.held_answers import NOT_NOW, SLOT_BYTES, SLOTS, HeldAnswers, SocketBatch, give_back, take_batch
from odradek.broker.fast.held_appends import HeldAppends
from odradek.broker.net.connection import Connection
from odradek.broker.net.server import Server
from odradek.broker.requests.context import RequestContext
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.broker.conftest import Install
from tests.broker.fast.test_poller import Later, be_served, correlation_id, hold_for, send_now
from tests.broker.net.test_connection import beat, dial, is_closed, read_frame, run
from tests.fakes.cluster import FakeCluster

CLIENTS = 6
WHOLE = 1 << 20


class Batch:
    """In the place of a `SocketBatch`: takes so many bytes of the answer at each place, or has an error for it."""

    def __init__(self, takes: dict[int, int], *, refused: bool = False) -> None:
        self.refused = refused
        self.calls: list[int] = []
        self._takes = takes

    def send(self, sockets: Sequence[int], answers: Sequence[bytes]) -> list[int]:
        self.calls.append(len(sockets))
        results = []
        for place, answer in enumerate(answers):
            taken = min(self._takes.get(place, WHOLE), len(answer))
            if taken > 0:
                with socket.socket(fileno=os.dup(sockets[place])) as twin:
                    assert twin.send(answer[:taken]) == taken
            results.append(taken)
        return results


Use = Callable[[Batch | None], list[Any]]


@pytest.fixture
def use(poller: Any, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Let the poller have this batch; returns what it gives back."""
    if poller is None:
        pytest.skip("it holds nothing back")

    def use(batch: Batch | None) -> list[Any]:
        given: list[Any] = []

        def new_poller(clock: BrokerClock, held_appends: HeldAppends) -> Any:
            made = poller(clock, held_appends)
            made._answers = HeldAnswers(lambda: batch, given.append)
            made.longest_hold_ns = 1 << 62  # a turn is one turn on a slow machine, too
            return made

        monkeypatch.setattr(FakeCluster, "new_lane", staticmethod(lambda: FastLane(new_poller)))
        return given

    return use


def answered(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse:
    return HeartbeatResponse()


def serve(
    install: Install,
    test: Callable[[list[trio.SocketStream]], Awaitable[None]],
    handler: Callable[[RequestContext, HeartbeatRequest], Any] = answered,
) -> None:
    """Run a test with so many clients that the poller knows."""
    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        streams = [await dial(cluster) for _ in range(CLIENTS)]
        for stream in streams:
            await be_served(stream)
        await test(streams)
        for stream in streams:
            await stream.aclose()

    run(cluster, scenario)


async def all_answered(streams: list[trio.SocketStream]) -> None:
    """A request on each connection, all of them in one turn, and its answer."""
    for number, stream in enumerate(streams):
        send_now(stream, beat(correlation_id=number))
    for number, stream in enumerate(streams):
        assert correlation_id(await read_frame(stream)) == number


def test_one_call_for_the_answers_of_a_turn(install: Install, use: Use) -> None:
    batch = Batch({})
    given = use(batch)

    async def scenario(streams: list[trio.SocketStream]) -> None:
        await all_answered(streams)
        assert batch.calls == [CLIENTS]
        await all_answered(streams[:3])  # few go one by one
        assert batch.calls == [CLIENTS]

    serve(install, scenario)
    assert given == [batch]


def test_what_a_socket_does_not_take_now_follows(install: Install, use: Use) -> None:
    use(Batch({1: NOT_NOW, 2: 3, 5: 0}))

    async def scenario(streams: list[trio.SocketStream]) -> None:
        for _ in range(2):
            await all_answered(streams)

    serve(install, scenario)


def test_a_lost_client_is_the_only_one_that_is_cut(install: Install, use: Use) -> None:
    batch = Batch({2: -errno.ECONNRESET})
    use(batch)

    async def scenario(streams: list[trio.SocketStream]) -> None:
        for number, stream in enumerate(streams):
            send_now(stream, beat(correlation_id=number))
        lost = streams.pop(2)
        for stream in streams:
            await read_frame(stream)
        assert await is_closed(lost)
        await lost.aclose()
        await all_answered(streams[:3])

    serve(install, scenario)


def test_after_a_refusal_answers_go_one_by_one(install: Install, use: Use) -> None:
    batch = Batch(dict.fromkeys(range(CLIENTS), NOT_NOW), refused=True)
    given = use(batch)

    async def scenario(streams: list[trio.SocketStream]) -> None:
        for _ in range(3):
            await all_answered(streams)

    serve(install, scenario)
    assert batch.calls == [CLIENTS]
    assert not given


def test_where_the_system_has_no_such_call(install: Install, use: Use) -> None:
    given = use(None)

    async def scenario(streams: list[trio.SocketStream]) -> None:
        for _ in range(3):
            await all_answered(streams)

    serve(install, scenario)
    assert not given


def test_those_that_are_woken_together_are_answered_by_one_call(install: Install, use: Use) -> None:
    batch = Batch({1: 3, 2: -errno.ECONNRESET, 3: NOT_NOW})
    use(batch)
    parked: list[Later] = []

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> Any:
        if request.group_id == "wake":
            for each in parked:
                each.be_ready()
        elif request.group_id == "park":
            parked.append(Later(ctx.services.clock, 86_400_000))
            return parked[-1]
        return HeartbeatResponse()

    async def scenario(streams: list[trio.SocketStream]) -> None:
        *waiting, waker = streams
        for number, stream in enumerate(waiting):
            send_now(stream, beat("park", correlation_id=number))
        await waker.send_all(beat(correlation_id=7))
        assert correlation_id(await read_frame(waker)) == 7
        assert len(parked) == len(waiting)
        send_now(waiting[3], beat(correlation_id=33))  # behind the one that waits: its answers go by themselves
        await waker.send_all(beat("wake", correlation_id=8))
        assert correlation_id(await read_frame(waker)) == 8
        lost = waiting.pop(2)
        for number, stream in zip((0, 1, 3, 4), waiting, strict=True):
            assert correlation_id(await read_frame(stream)) == number
        assert correlation_id(await read_frame(waiting[2])) == 33
        assert await is_closed(lost)
        assert batch.calls == [4]

    serve(install, scenario, handler)


def test_an_answer_of_a_woken_one_does_not_leave_when_another_cuts_it(install: Install, poller: type | None) -> None:
    if poller is None:
        pytest.skip("it holds nothing back")
    parked: list[Later] = []
    found: list[Connection] = []

    class Cutting(Later):
        def resume(self) -> HeartbeatResponse | None:
            if self.ready:
                found[0].cut("for a test")
            return super().resume()

    def handler(ctx: RequestContext, request: HeartbeatRequest) -> Any:
        if request.group_id == "wake":
            for each in parked:
                each.be_ready()
        elif request.group_id != "g":
            kind = Later if request.group_id == "park" else Cutting
            parked.append(kind(ctx.services.clock, 86_400_000))
            return parked[-1]
        return HeartbeatResponse()

    install(HeartbeatRequest, handler)
    cluster = FakeCluster()

    async def scenario(server: Server) -> None:
        first, second, waker = await dial(cluster), await dial(cluster), await dial(cluster)
        for stream in (first, second, waker):
            await be_served(stream)
        found.extend(server.connections)
        hold_for(server, 1 << 62)
        await first.send_all(beat("park"))
        await wait_all_tasks_blocked()
        await second.send_all(beat("cut the first", correlation_id=2))
        await wait_all_tasks_blocked()
        await waker.send_all(beat("wake", correlation_id=3))
        assert correlation_id(await read_frame(waker)) == 3
        assert correlation_id(await read_frame(second)) == 2
        assert await is_closed(first)
        for stream in (first, second, waker):
            await stream.aclose()

    run(cluster, scenario)


Pair = tuple[socket.socket, socket.socket]


@pytest.fixture(autouse=True)
def poller() -> None:
    """Nothing here has a poller, so once is enough."""


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    """As many connections as a call takes, `(broker's end, client's end)`; the broker's does not wait."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        made: list[Pair] = []
        for _ in range(SLOTS):
            client = socket.create_connection(server.getsockname())
            made.append((server.accept()[0], client))
            made[-1][0].setblocking(False)
    yield made
    for pair in made:
        for end in pair:
            end.close()


@pytest.fixture
def batch() -> Iterator[SocketBatch]:
    taken = take_batch()
    if taken is None:
        pytest.skip("this system has no call for many sockets")
    yield taken
    give_back(taken)


def answer(number: int) -> bytes:
    return bytes([number]) * (1 + number * 16)


def sent(batch: SocketBatch, pairs: list[Pair]) -> list[int]:
    return batch.send([ours.fileno() for ours, _ in pairs], [answer(number) for number in range(len(pairs))])


def fill(full: socket.socket) -> None:
    """Send until it takes no more."""
    with suppress(BlockingIOError):
        while True:
            full.send(bytes(65536))


def test_each_socket_gets_its_answer(batch: SocketBatch, pairs: list[Pair]) -> None:
    for _ in range(3):
        assert sent(batch, pairs) == [len(answer(number)) for number in range(SLOTS)]
        for number, (_, client) in enumerate(pairs):
            assert client.recv(SLOT_BYTES + 1) == answer(number)
    assert not batch.refused


def test_socket_batch_sends_an_answer_of_a_whole_slot(batch: SocketBatch, pairs: list[Pair]) -> None:
    (ours, client), data = pairs[0], os.urandom(SLOT_BYTES)
    assert batch.send([ours.fileno()], [data]) == [SLOT_BYTES]
    assert client.recv(SLOT_BYTES, socket.MSG_WAITALL) == data


def test_what_one_socket_cannot_take_is_told_of_that_one(batch: SocketBatch, pairs: list[Pair]) -> None:
    full, lost = pairs[1][0], pairs[3][0]
    fill(full)
    lost.shutdown(socket.SHUT_WR)
    results = sent(batch, pairs[:6])
    assert results == [1, NOT_NOW, len(answer(2)), -errno.EPIPE, len(answer(4)), len(answer(5))]
    assert pairs[5][1].recv(SLOT_BYTES) == answer(5)


def test_what_comes_behind_a_socket_that_is_none_is_told_as_not_sent(batch: SocketBatch, pairs: list[Pair]) -> None:
    closed = os.dup(pairs[1][0].fileno())
    os.close(closed)
    descriptors = [pairs[0][0].fileno(), closed, pairs[2][0].fileno()]
    assert batch.send(descriptors, [b"a", b"b", b"c"]) == [1, NOT_NOW, NOT_NOW]
    assert batch.send(descriptors[2:], [b"c"]) == [1]


def test_a_batch_that_is_given_back_serves_the_next(batch: SocketBatch, pairs: list[Pair]) -> None:
    other = take_batch()
    assert other is not None
    give_back(other)
    assert take_batch() is other
    assert sent(other, pairs) == [len(answer(number)) for number in range(SLOTS)]
    give_back(other)


def test_a_system_that_refuses_a_call_is_not_asked_again(batch: SocketBatch, pairs: list[Pair]) -> None:
    calls = held_answers._CALLS[os.uname().machine]
    refused = SocketBatch(calls._replace(submit=-1))
    assert sent(refused, pairs) == [NOT_NOW] * SLOTS
    assert refused.refused
    give_back(refused)
    fresh = take_batch()
    assert fresh is not None
    assert fresh is not refused
    give_back(fresh)


def test_a_system_without_it_has_none(
    batch: SocketBatch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine = os.uname().machine
    calls = held_answers._CALLS[machine]
    monkeypatch.setattr(held_answers, "_unused", [])
    with caplog.at_level(logging.DEBUG, "odradek.broker.net"):
        monkeypatch.setitem(held_answers._CALLS, machine, calls._replace(setup=-1))
        assert take_batch() is None
    assert caplog.messages == [f"answers are sent one by one: [Errno {errno.ENOSYS}] {os.strerror(errno.ENOSYS)}"]
    monkeypatch.delitem(held_answers._CALLS, machine)
    assert take_batch() is None
