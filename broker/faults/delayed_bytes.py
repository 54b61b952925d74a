"""Bytes delayed by a slow link."""

from __future__ import annotations

import random
from collections import deque
from typing import NamedTuple, Protocol

_ROOM_BYTES = 1024 * 1024  # more than that waits in the socket
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


class Source(Protocol):
    """The transport that is read; see `odradek.broker.net.connection.Transport`."""

    def recv_into(self, space: memoryview, /) -> int: ...


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

    def take_in(self, inner: Source, pace: Pace, now_ms: int) -> None:
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
