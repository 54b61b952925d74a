"""An HTTP server in a thread with a trio run of its own, whose clock no test moves."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Self

import trio

from odradek.broker.config.listeners import address_text
from odradek.broker.facade.thread_bridge import only_cause

if TYPE_CHECKING:
    from odradek.http_server import Application

_CLOSE_TIMEOUT_S = 5.0


class HttpThread:
    """Serves an application on an address from `start` to `close`; ``name`` is of its thread and logger.

    ``application`` makes it, in the server's thread. OSError for an address that is taken.
    """

    def __init__(self, name: str, address: tuple[str, int], application: Callable[[], Application]) -> None:
        self._name = name
        self._address = address
        self._application = application
        self._thread = threading.Thread(target=self._run, name=name.replace(".", " "), daemon=True)
        self._started: Future[str] = Future()
        self._trio_stop: tuple[trio.lowlevel.TrioToken, trio.Event] | None = None
        self.url = ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.url or 'no address yet'}>"

    def start(self) -> Self:
        """Listen; requests are answered when the call returns."""
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        try:
            self._socket = socket.create_server(self._address, family=family)
        except OSError as error:
            where = f"{self._name.replace('.', ' ')}: cannot listen on {address_text(*self._address)}"
            raise OSError(error.errno, os.strerror(error.errno or 0), where) from None
        self._thread.start()
        self.url = self._started.result()
        return self

    def close(self) -> None:
        """End the server; requests that wait are cut."""
        if self._trio_stop is not None:
            token, event = self._trio_stop
            try:
                token.run_sync_soon(event.set)
            except trio.RunFinishedError:
                pass
            self._thread.join(_CLOSE_TIMEOUT_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            trio.run(self._main)
        except BaseException as error:
            self._socket.close()
            cause = only_cause(error)
            if self._started.done():
                logging.getLogger(self._name).error("%s has ended", self, exc_info=cause)
            else:
                self._started.set_exception(cause)

    async def _main(self) -> None:
        from odradek.http_server import HttpConnection

        stop = trio.Event()
        self._trio_stop = trio.lowlevel.current_trio_token(), stop
        application = self._application()
        log = logging.getLogger(self._name)
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(self._socket))

        async def serve(stream: trio.SocketStream) -> None:
            await HttpConnection(stream, application, log).serve()

        async with trio.open_nursery() as nursery:
            await nursery.start(trio.serve_listeners, serve, [listener])
            host, port = self._socket.getsockname()[:2]
            self._started.set_result(f"http://{address_text(host, port)}")
            await stop.wait()
            nursery.cancel_scope.cancel()
