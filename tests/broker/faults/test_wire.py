"""What a wire does with the bytes of a connection."""

from __future__ import annotations

import random
import socket
from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.clock import BrokerClock
from odradek.broker.faults.delayed_bytes import Pace
from odradek.broker.faults.fault import Step
from odradek.broker.faults.wire import FREE, Terms, Wire


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


def test_jitter_changes_no_order(ends: Ends) -> None:
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
