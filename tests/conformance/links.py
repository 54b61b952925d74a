"""The links between the brokers of a real cluster, which a test can cut.

Brokers advertise to each other the address of a proxy. It reads who calls from the client id of the first request
(``broker-2-fetcher-0``), so a link is a pair of nodes and not only an address.
"""

from __future__ import annotations

import re
import selectors
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress

_FROM_BROKER = re.compile(rb"broker-(\d+)-fetcher")
_CHUNK = 1 << 16


class _Call:
    """One connection from a broker to another, through here."""

    def __init__(self, near: socket.socket, callee: int, far: socket.socket) -> None:
        self.near, self.far, self.callee = near, far, callee
        self.caller: int | None = None
        self.first = b""

    def hear(self, data: bytes) -> None:
        """Learn from the beginning of the first request who calls."""
        if self.caller is None and len(self.first) < 14:
            self.first += data
            if len(self.first) >= 14:
                size = max(0, struct.unpack(">h", self.first[12:14])[0])
                found = _FROM_BROKER.match(self.first[14 : 14 + size])
                self.caller = int(found[1]) if found else 0

    def close(self) -> None:
        self.near.close()
        self.far.close()


class Links:
    """A proxy before each broker, all served by one thread; ``cut`` stops what followers fetch between two nodes."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._wake_near, self._wake_far = socket.socketpair()
        self._calls: set[_Call] = set()
        self._cut: set[frozenset[int]] = set()
        self._listeners: list[socket.socket] = []
        self._asked: list[tuple[Callable[[], None], threading.Event]] = []
        self._lock = threading.Lock()
        self._over = False
        self._selector.register(self._wake_far, selectors.EVENT_READ, self._on_wake)
        self._thread = threading.Thread(target=self._run, name="links", daemon=True)
        self._thread.start()

    def add(self, node: int, port: int) -> int:
        """Listen for calls to a broker that is, or will be, at a port of this machine; returns the port to call."""
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self._do(lambda: self._listen(listener, node, port))
        return int(listener.getsockname()[1])

    def cut(self, a: int, b: int) -> None:
        """No byte of the fetches of two nodes from each other goes on, and their connections stay open."""
        self._do(lambda: self._cut.add(frozenset((a, b))))

    def mend(self, a: int, b: int) -> None:
        """Two nodes reach each other again. What was stuck is lost: their connections are cut, and made anew."""

        def change() -> None:
            self._cut.discard(frozenset((a, b)))
            for call in [call for call in self._calls if {call.caller, call.callee} == {a, b}]:
                self._end(call)

        self._do(change)

    def close(self) -> None:
        """Cut all connections and listen no longer."""
        self._over = True
        with suppress(OSError):
            self._wake_near.send(b"x")
        self._thread.join()
        for call in self._calls:
            call.close()
        for each in (*self._listeners, self._wake_near, self._wake_far):
            each.close()
        self._selector.close()

    # -- the thread

    def _do(self, change: Callable[[], None]) -> None:
        done = threading.Event()
        with self._lock:
            self._asked.append((change, done))
        self._wake_near.send(b"x")
        if not done.wait(60):
            raise RuntimeError("the links between the brokers do not answer")

    def _run(self) -> None:
        while not self._over:
            for key, _ in self._selector.select():
                if key.fileobj.fileno() >= 0:  # type: ignore[union-attr]  # closed by one before it
                    key.data()

    def _on_wake(self) -> None:
        self._wake_far.recv(_CHUNK)
        with self._lock:
            asked, self._asked = self._asked, []
        for change, done in asked:
            change()
            done.set()

    def _listen(self, listener: socket.socket, node: int, port: int) -> None:
        self._listeners.append(listener)
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener, node, port))

    def _accept(self, listener: socket.socket, node: int, port: int) -> None:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", port), 5)
        except OSError:
            near.close()
            return
        call = _Call(near, node, far)
        self._calls.add(call)
        for source, to in ((near, far), (far, near)):
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(source, selectors.EVENT_READ, self._copier(call, source, to))

    def _copier(self, call: _Call, source: socket.socket, to: socket.socket) -> Callable[[], None]:
        def copy() -> None:
            try:
                data = source.recv(_CHUNK)
                if data and source is call.near:
                    call.hear(data)
                if data and not self._stuck(call):
                    to.sendall(data)
            except OSError:
                data = b""
            if not data:
                self._end(call)

        return copy

    def _stuck(self, call: _Call) -> bool:
        """Whether the call goes over a link that is cut; its bytes are lost, as its connection will be."""
        return call.caller is not None and frozenset((call.caller, call.callee)) in self._cut

    def _end(self, call: _Call) -> None:
        self._calls.discard(call)
        for each in (call.near, call.far):
            with suppress(KeyError, ValueError):
                self._selector.unregister(each)
        call.close()
