"""Standard output and error that never block: if their reader is stuck or gone, lines are lost."""

from __future__ import annotations

import io
import os
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Any, TextIO

_MOST_BYTES = 1024 * 1024
_LAST_WAIT_S = 1.0


class LooseStream(io.TextIOBase):
    """A text stream whose descriptor is written by a thread of its own. Writing never blocks; any thread may write.

    It keeps 1 MiB that is not written yet. What comes beyond that is lost, and a line says so when there is room. If
    the descriptor takes nothing any more (a closed pipe, a full disk), all is lost.
    """

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._changed = Condition()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._lost = 0
        self._is_gone = False
        self._thread: Thread | None = None

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        """Let the thread write the text; see `io.TextIOBase`."""
        data = text.encode(errors="backslashreplace")
        with self._changed:
            if self._is_gone or self._size + len(data) > _MOST_BYTES:
                self._lost += text.count("\n")
                return len(text)
            if self._lost:
                self._put(f"odradek: {self._lost} lines are lost, nobody has read them\n".encode())
                self._lost = 0
            self._put(data)
            if self._thread is None:
                # A daemon: a reader that is stuck must not keep the process from ending.
                self._thread = Thread(target=self._run, name="odradek output", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return len(text)

    def _put(self, data: bytes) -> None:
        self._waiting.append(data)
        self._size += len(data)

    def drain(self, timeout_s: float) -> None:
        """Wait until all is written, or so long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._size, timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                data = self._waiting.popleft()
            written = self._written(data)
            with self._changed:
                self._size -= len(data)
                if not written:
                    self._is_gone = True
                    self._waiting.clear()
                    self._size = 0
                self._changed.notify_all()

    def _written(self, data: bytes) -> bool:
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            return False
        return True


@contextmanager
def loose_output() -> Iterator[None]:
    """Make `sys.stdout` and `sys.stderr` non-blocking. The end waits a second for what is left to be written."""
    before = sys.stdout, sys.stderr
    loose = [_loose(stream) for stream in before]
    sys.stdout, sys.stderr = loose
    try:
        yield
    finally:
        for stream in loose:
            if isinstance(stream, LooseStream):
                stream.drain(_LAST_WAIT_S)
        sys.stdout, sys.stderr = before


def _loose(stream: TextIO) -> Any:
    """The stream itself where it is none of a descriptor: nothing at all, or what a test looks at."""
    try:
        stream.flush()
        return LooseStream(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return stream
