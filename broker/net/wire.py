"""The transport between a connection and its socket while a test has made the link bad.

A connection without such a link has its socket itself. With one it has a `Wire`, which stands in the socket's place: it
holds back what comes and what goes, lets answers leave late or slowly, or does to the bytes of one answer what a fault
says. Everything that leaves goes through one queue, so the order of the answers stays.
"""

from __future__ import annotations

import itertools
import random
import socket
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, NamedTuple

import trio

from odradek.broker.faults.fault import Step
from odradek.broker.faults.wire_fault import RESET

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock
    from odradek.broker.net.sending import Transport


_ROOM_BYTES = 1024 * 1024  # on its way in each direction; what comes waits in the socket, what leaves in the connection
_AT_ONCE = 64 * 1024


class Pace(NamedTuple):
    """Bytes are `delay_ms` late and up to `jitter_ms` more, and there are not more than so many in a second."""

    delay_ms: int = 0
    jitter_ms: int = 0
    bytes_per_second: int | None = None

    def then(self, other: Pace) -> Pace:
        """The options of two links in a row."""
        rates = [rate for rate in (self.bytes_per_second, other.bytes_per_second) if rate is not None]
        delay_ms, jitter_ms = self.delay_ms + other.delay_ms, self.jitter_ms + other.jitter_ms
        return Pace(delay_ms, jitter_ms, min(rates, default=None))


PROMPT = Pace()


class DelayedBytes:
    """The bytes of one connection on their way in, in order. Owner: its wire.

    `next_ms`: the next arrival that is not announced yet, None without one.
    """

    __slots__ = ("_busy_until_ms", "_draw", "_ended", "_last_due_ms", "_pieces", "_scratch", "_size", "next_ms")

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._pieces: deque[tuple[float, bytes]] = deque()  # empty bytes: the end of the stream
        self._size = 0
        self._ended = False
        self._last_due_ms = self._busy_until_ms = 0.0
        self._scratch = memoryview(bytearray(_AT_ONCE))
        self.next_ms: float | None = None

    def __len__(self) -> int:
        return len(self._pieces)

    def take_in(self, inner: Transport, pace: Pace, now_ms: int) -> None:
        """Send on its way what has come to the socket."""
        rate = pace.bytes_per_second
        while not self._ended and self._size < _ROOM_BYTES:
            try:
                count = inner.recv_into(self._scratch)
            except BlockingIOError:
                break
            self._ended = not count
            self._size += count
            self._busy_until_ms = max(self._busy_until_ms, now_ms) + (0 if rate is None else count * 1000 / rate)
            jitter_ms = self._draw.uniform(0, pace.jitter_ms) if pace.jitter_ms else 0
            self._last_due_ms = max(self._last_due_ms, self._busy_until_ms + pace.delay_ms + jitter_ms)
            self._pieces.append((self._last_due_ms, bytes(self._scratch[:count])))
        self.next_ms = self._pieces[0][0] if self._pieces else None

    def read_into(self, space: memoryview, now_ms: int) -> int:
        """Take what has arrived: so many bytes, 0 at the end of the stream. BlockingIOError for nothing."""
        filled = 0
        while self._pieces and filled < len(space) and self._pieces[0][0] <= now_ms:
            due_ms, data = self._pieces[0]
            if not data:
                if filled:
                    break
                return 0
            count = min(len(data), len(space) - filled)
            space[filled : filled + count] = data[:count]
            filled += count
            self._pieces.popleft()
            if count < len(data):
                self._pieces.appendleft((due_ms, data[count:]))
        self._size -= filled
        self.next_ms = self._pieces[0][0] if self._pieces else None
        if not filled:
            raise BlockingIOError
        return filled


def _nobody() -> None:
    """Nobody reads."""


_SLOW_PIECES_A_SECOND = 20


class Terms(NamedTuple):
    """The effect of a link. `held`: nothing comes or goes. `answers` and `requests`: how late they are."""

    held: bool = False
    answers: Pace = PROMPT
    requests: Pace = PROMPT


FREE = Terms()


class _Piece:
    __slots__ = ("data", "due_ms", "end")

    def __init__(self, due_ms: float, data: memoryview, end: str = "") -> None:
        self.due_ms = due_ms
        self.data = data
        self.end = end


class Wire:
    """A `Transport` over another one. Owner: a connection; `run` in the server's nursery while the wire is there.

    `unplug` is called when the link is a plain one again and nothing is on its way, `abort` has to cancel the
    connection's task, `wake` to let it read what has arrived late.
    """

    def __init__(
        self,
        inner: Transport,
        clock: BrokerClock,
        draw: random.Random,
        *,
        unplug: Callable[[], None],
        abort: Callable[[], None],
        wake: Callable[[], None] = _nobody,
    ) -> None:
        self.inner = inner
        self.terms = FREE
        self._abort = abort
        self._clock = clock
        self._draw = draw
        self._unplug = unplug
        self._wake = wake
        self._arriving: DelayedBytes | None = None
        self._queue: deque[_Piece] = deque()
        self._queued = 0
        self._last_due_ms = 0.0
        self._busy_until_ms = 0.0
        self._ended = False  # nothing of the connection leaves any more
        self._closing = False
        self._closed = False
        self._resets = False
        self._scope = trio.CancelScope()
        self._changed = trio.Event()
        self._room = trio.Event()
        self._free = trio.Event()

    @property
    def plain(self) -> bool:
        """Whether there is nothing left to do for a wire."""
        return self.terms == FREE and not self._queue and not self._ended and not self._arriving

    def change(self, terms: Terms) -> None:
        """The link is another one; what is on its way arrives when it would have."""
        self.terms = terms
        self._forget_arrived()
        if not terms.held:
            free, self._free = self._free, trio.Event()
            free.set()
        self._tell()

    async def until_free(self) -> None:
        """Wait until nothing is held."""
        while self.terms.held and not self._closed:
            await self._free.wait()

    async def wait_room(self) -> None:
        """Wait until the next answer may be given."""
        while self._queued > _ROOM_BYTES and not self._closed:
            await self._room.wait()
        await trio.lowlevel.checkpoint()

    # -- as a transport

    def fileno(self) -> int:
        return self.inner.fileno()

    def recv_into(self, space: memoryview, /) -> int:
        if self.terms.held:
            raise BlockingIOError
        if self._arriving is None and self.terms.requests == PROMPT:
            return self.inner.recv_into(space)
        return self._recv_late(space)

    def recv(self, size: int, flags: int, /) -> bytes:
        if self.terms.held:
            raise BlockingIOError
        if self._arriving:
            return b"."  # nobody asks more than whether the stream has ended
        return self.inner.recv(size, flags)

    def send(self, data: bytes | memoryview, /) -> int:
        return self.sendmsg((data,))

    def sendmsg(self, parts: Sequence[bytes | memoryview], /) -> int:
        """Take all of it on its way; BlockingIOError while there is no room."""
        if self._queued > _ROOM_BYTES:
            raise BlockingIOError
        data = b"".join(parts)
        if not self._ended:
            self._put(data, 0.0)
        return len(data)

    def close(self) -> None:
        """Close the socket when all that is on its way has left; at once if nothing can leave."""
        self._closing = True
        if not self._queue or self.terms.held or self._resets:
            self._close()
        else:
            self._tell()

    # -- faults

    def play(self, steps: Sequence[Step]) -> None:
        """Send an answer as these steps say."""
        after_ms = 0.0
        for step in steps:
            if self._ended:
                return
            after_ms += step.after_ms
            if step.data is not None:
                self._put(bytes(step.data), after_ms)
                continue
            self._ended = True
            if step.end != "stall":
                self._queue.append(_Piece(self._due(after_ms), memoryview(b""), step.end))
        self._tell()

    def reset(self) -> None:
        """End the connection as a crashed machine does, with RST."""
        self._queue.clear()
        self._ended = self._resets = True
        self._abort()

    # -- inside

    def _recv_late(self, space: memoryview) -> int:
        """Take what the client has sent long enough ago; what has come meanwhile is on its way from now on."""
        if self._arriving is None:
            self._arriving = DelayedBytes(self._draw)
        now_ms = self._clock.now_ms()
        try:
            self._arriving.take_in(self.inner, self.terms.requests, now_ms)
            return self._arriving.read_into(space, now_ms)
        finally:
            self._forget_arrived()
            self._tell()

    def _forget_arrived(self) -> None:
        if self._arriving is not None and not self._arriving and self.terms.requests == PROMPT:
            self._arriving = None

    def _put(self, data: bytes, after_ms: float) -> None:
        pace = self.terms.answers
        rate = pace.bytes_per_second
        size = _AT_ONCE if rate is None else max(1, rate // _SLOW_PIECES_A_SECOND)
        view = memoryview(data)
        self._queued += len(data)
        late_ms = pace.delay_ms + (self._draw.uniform(0, pace.jitter_ms) if pace.jitter_ms else 0)
        for at in range(0, len(data), size) if rate is not None else (0,):
            piece = view[at : at + size] if rate is not None else view
            if rate is not None:
                self._busy_until_ms = max(self._busy_until_ms, self._clock.now_ms()) + len(piece) * 1000 / rate
            self._queue.append(_Piece(max(self._due(after_ms + late_ms), self._busy_until_ms + late_ms), piece))
            self._last_due_ms = self._queue[-1].due_ms
        self._tell()

    def _due(self, after_ms: float) -> float:
        return max(self._last_due_ms, self._clock.now_ms() + after_ms)

    def _tell(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    async def run(self) -> None:
        """Let leave what is due, until the wire is closed or no longer needed."""
        try:
            with self._scope:
                while not self._closed and (self._queue or not self._closing):
                    if self.plain:
                        self._unplug()
                        self._release()
                        return
                    await self._next()
        except (OSError, trio.ClosedResourceError):
            self._abort()  # the client has gone
        except BaseException:
            self._close()
            raise
        self._close()

    async def _next(self) -> None:
        changed = self._changed
        if self.terms.held:
            await changed.wait()
            return
        now_ms, arriving = self._clock.now_ms(), self._arriving
        next_ms = None if arriving is None else arriving.next_ms
        if arriving is not None and next_ms is not None and next_ms <= now_ms:
            arriving.next_ms = None
            self._wake()
        if not self._queue or self._queue[0].due_ms > now_ms:
            due = [piece.due_ms for piece in itertools.islice(self._queue, 1)]
            due += [] if next_ms is None else [next_ms]
            with self._clock.move_on_after((min(due) - now_ms) / 1000) if due else nullcontext():
                await changed.wait()
            return
        piece = self._queue[0]
        if piece.end:
            self._queue.popleft()
            self._end(piece.end)
            return
        try:
            sent = self.inner.send(piece.data)
        except BlockingIOError:
            await trio.lowlevel.wait_writable(self.inner.fileno())
            return
        piece.data = piece.data[sent:]
        self._queued -= sent
        if not piece.data:
            self._queue.popleft()
        if self._queued <= _ROOM_BYTES:
            room, self._room = self._room, trio.Event()
            room.set()
        await trio.lowlevel.checkpoint()

    def _end(self, how: str) -> None:
        if how == "reset":
            self.reset()
            return
        with suppress(OSError):  # the client may have gone
            raw_socket(self.inner).shutdown(socket.SHUT_WR if how == "half-close" else socket.SHUT_RDWR)

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self._queue.clear()
            self._queued = 0
            self._scope.cancel()
            raw = raw_socket(self.inner)
            if raw.fileno() >= 0:
                trio.lowlevel.notify_closing(raw)
            if self._resets:
                with suppress(OSError):
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                raw.close()
            else:
                self.inner.close()
        self._release()

    def _release(self) -> None:
        """Nobody waits here any more."""
        for event in (self._changed, self._room, self._free):
            event.set()


def raw_socket(transport: Transport) -> socket.socket:
    """The socket below a transport. A TLS client sees the changes made to it as they are."""
    found = transport if isinstance(transport, socket.socket) else getattr(transport, "raw", None)
    assert isinstance(found, socket.socket)
    return found
