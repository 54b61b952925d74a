"""What a wire does with the bytes of a connection."""

from __future__ import annotations

import random
import socket
from collections.abc import Awaitable, Callable, Iterator

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.faults.fault import Step
from odradek.broker.net.wire import FREE, PROMPT, DelayedBytes, Pace, Terms, Wire


class Ends:
    """A wire over one end of a pair of sockets; `read` takes what has arrived at the other end."""

    def __init__(self) -> None:
        self.clock = BrokerClock()
        inner, self.far = socket.socketpair()
        inner.setblocking(False)
        self.far.setblocking(False)
        self.unplugged = self.aborted = 0
        self.wire = Wire(inner, self.clock, random.Random(1), unplug=self._unplug, abort=self._abort)

    def _unplug(self) -> None:
        self.unplugged += 1

    def _abort(self) -> None:
        self.aborted += 1

    async def read(self) -> bytes | None:
        """None: nothing has arrived; b"" the end."""
        await wait_all_tasks_blocked()
        try:
            return self.far.recv(1 << 20)
        except BlockingIOError:
            return None

    def run(self, scenario: Callable[[Ends], Awaitable[None]]) -> None:
        async def main() -> None:
            with trio.fail_after(60):
                self.clock.freeze()
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.wire.run)
                    await scenario(self)
                    nursery.cancel_scope.cancel()
                self.wire.inner.close()

        try:
            trio.run(main)
        finally:
            self.far.close()


@pytest.fixture
def ends() -> Ends:
    return Ends()


def test_answers_arrive_late_and_in_order(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(answers=Pace(delay_ms=100)))
        assert ends.wire.send(b"one") == 3
        ends.clock.advance(seconds=0.05)
        assert ends.wire.sendmsg([b"t", b"wo"]) == 3
        assert await ends.read() is None
        ends.clock.advance(seconds=0.05)
        assert await ends.read() == b"one"
        ends.clock.advance(seconds=0.05)
        assert await ends.read() == b"two"

    ends.run(scenario)


def test_link_jitter_keeps_the_order_of_bytes(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(answers=Pace(jitter_ms=1000)))
        for number in range(50):
            ends.wire.send(b"%02d" % number)
        got = await ends.read() or b""
        assert len(got) < 100
        ends.clock.advance(seconds=1)
        got += await ends.read() or b""
        assert got == b"".join(b"%02d" % number for number in range(50))

    ends.run(scenario)


def test_a_slow_line_lets_so_many_bytes_through_in_a_second(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(answers=Pace(bytes_per_second=1000)))
        ends.wire.send(bytes(2000))
        ends.clock.advance(seconds=1)
        assert len(await ends.read() or b"") == 1000
        ends.clock.advance(seconds=1)
        assert len(await ends.read() or b"") == 1000

    ends.run(scenario)


def test_a_held_wire_neither_reads_nor_sends(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(held=True))
        ends.far.send(b"question")
        space = memoryview(bytearray(100))
        with pytest.raises(BlockingIOError):
            ends.wire.recv_into(space)
        with pytest.raises(BlockingIOError):
            ends.wire.recv(1, socket.MSG_PEEK)
        ends.wire.send(b"answer")
        assert await ends.read() is None
        ends.wire.change(FREE)
        assert ends.wire.recv_into(space) == 8
        assert await ends.read() == b"answer"
        assert ends.unplugged == 1

    ends.run(scenario)


def test_a_full_wire_makes_the_connection_wait(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(answers=Pace(delay_ms=100)))
        ends.wire.send(bytes(2 << 20))
        with pytest.raises(BlockingIOError):
            ends.wire.send(b"more")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ends.wire.wait_room)
            await wait_all_tasks_blocked()
            ends.clock.advance(seconds=1)
            got = 0
            while got < 2 << 20:
                got += len(await ends.read() or b"")
        assert ends.wire.send(b"more") == 4

    ends.run(scenario)


def test_what_is_on_its_way_arrives_before_the_end(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(answers=Pace(delay_ms=100)))
        ends.wire.send(b"last words")
        ends.wire.close()
        assert await ends.read() is None
        ends.clock.advance(seconds=1)
        assert await ends.read() == b"last words"
        assert await ends.read() == b""

    ends.run(scenario)


def test_a_held_wire_closes_at_once(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.change(Terms(held=True))
        ends.wire.send(b"never")
        ends.wire.close()
        assert await ends.read() == b""

    ends.run(scenario)


def test_steps_with_pauses_and_an_end(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.play([Step(b"a"), Step(b"b", 100), Step(None, 100, "close")])
        assert await ends.read() == b"a"
        assert await ends.read() is None
        ends.clock.advance(seconds=0.1)
        assert await ends.read() == b"b"
        assert await ends.read() is None
        ends.clock.advance(seconds=0.1)
        assert await ends.read() == b""

    ends.run(scenario)


def test_after_a_stall_or_a_half_close_nothing_leaves_any_more(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.play([Step(b"a"), Step(None, end="half-close")])
        assert await ends.read() == b"a"
        assert await ends.read() == b""
        ends.far.send(b"go on")
        assert ends.wire.recv_into(memoryview(bytearray(10))) == 5
        assert ends.wire.send(b"into the void") == 13
        assert await ends.read() == b""

    ends.run(scenario)


def test_a_reset_asks_for_the_end_of_the_connection(ends: Ends) -> None:
    async def scenario(ends: Ends) -> None:
        ends.clock.attach()
        ends.wire.play([Step(b"a"), Step(None, end="reset")])
        await wait_all_tasks_blocked()
        assert ends.aborted == 1
        ends.wire.close()
        assert await ends.read() == b"a"
        assert await ends.read() == b""  # pairs of sockets of one machine know no RST

    ends.run(scenario)


class Way:
    def __init__(self) -> None:
        self.near, self.far = socket.socketpair()
        self.near.setblocking(False)
        self.late = DelayedBytes(random.Random(1))

    def take_in(self, pace: Pace, now_ms: int) -> None:
        self.late.take_in(self.near, pace, now_ms)

    def read(self, now_ms: int, size: int = 100) -> bytes | None:
        space = bytearray(size)
        try:
            count = self.late.read_into(memoryview(space), now_ms)
        except BlockingIOError:
            return None
        return bytes(space[:count])


@pytest.fixture
def way() -> Iterator[Way]:
    way = Way()
    with way.near, way.far:
        yield way


def test_bytes_arrive_late_and_in_order(way: Way) -> None:
    way.far.send(b"one")
    way.take_in(Pace(100), 0)
    way.far.send(b"two")
    way.take_in(Pace(100), 50)
    assert (way.late.next_ms, way.read(99)) == (100, None)
    assert (way.read(100), way.late.next_ms) == (b"one", 150)
    assert (way.read(149), way.read(150), way.late.next_ms) == (None, b"two", None)


def test_what_has_arrived_together_is_read_together_as_far_as_it_fits(way: Way) -> None:
    for part in (b"one", b"two"):
        way.far.send(part)
        way.take_in(PROMPT, 0)
    assert [way.read(0, 4), way.read(0, 4), way.read(0, 4)] == [b"onet", b"wo", None]
    assert len(way.late) == 0


def test_a_thin_line_and_jitter_change_no_order(way: Way) -> None:
    way.far.send(b"x" * 500)
    way.take_in(Pace(0, 0, 1000), 0)
    way.far.send(b"y")
    way.take_in(PROMPT, 10)
    assert (way.read(499), way.read(500, 501)) == (None, b"x" * 500 + b"y")
    way.far.send(b"z")
    way.take_in(Pace(0, 1000), 1000)
    assert way.late.next_ms is not None
    assert 1000 <= way.late.next_ms <= 2000


def test_the_end_of_the_stream_is_late_too(way: Way) -> None:
    way.far.send(b"last")
    way.far.close()
    way.take_in(Pace(10), 0)
    assert [way.read(9), way.read(10), way.read(10)] == [None, b"last", b""]
    way.take_in(Pace(10), 20)
    assert way.read(20) == b""


def test_no_more_is_taken_in_than_there_is_room_for(way: Way) -> None:
    way.far.setblocking(False)
    sent = 0
    for _ in range(60):
        try:
            sent += way.far.send(bytes(64 * 1024))
        except BlockingIOError:
            pass
        way.take_in(Pace(10), 0)
    assert sent > 1024 * 1024
    read = 0
    while (got := way.read(10, 1 << 21)) is not None:
        read += len(got)
    assert 1024 * 1024 <= read < 1024 * 1024 + 64 * 1024
    way.take_in(PROMPT, 10)
    assert way.read(10)


def test_delays_add_up_and_the_thinnest_line_counts() -> None:
    assert Pace(50, 10).then(Pace(20, 1, 1000)) == Pace(70, 11, 1000)
    assert Pace(bytes_per_second=500).then(Pace(bytes_per_second=1000)) == Pace(bytes_per_second=500)
    assert PROMPT.then(PROMPT) == PROMPT
