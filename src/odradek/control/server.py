"""The server of the control API: a thread with a trio run of its own, whose clock no test moves."""

from __future__ import annotations

import importlib
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import trio

from odradek.broker.config.listeners import address_text
from odradek.broker.facade.blocking.broker import BlockingBroker
from odradek.broker.facade.call import HandOver
from odradek.control.calls import Calls
from odradek.control.forks import Forks

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_CLOSE_TIMEOUT_S = 5.0
_GRACE_S = 0.2
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class ControlServer:
    """Serves the control API of a broker: ``with ControlServer(broker, port=0) as server: print(server.url)``.

    ``token``: what requests have to show as a bearer token. ValueError for an address that others reach and no token.
    ImportError, with what to install, without the extra ``control``; OSError for an address that is taken.
    """

    def __init__(
        self, broker: BlockingBroker, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        self._hosts = _checked(host, token)
        self._broker = broker
        self._address = host, port
        self._token = token
        self._forks = Forks(broker, lambda other: ControlServer(other, host, 0, token))
        self._thread = threading.Thread(target=self._run, name="odradek control", daemon=True)
        self._started: Future[str] = Future()
        self._trio_stop: tuple[trio.lowlevel.TrioToken, trio.Event] | None = None
        self.url = ""

    def __repr__(self) -> str:
        return f"<ControlServer at {self.url or 'no address yet'}>"

    def start(self) -> Self:
        """Listen; requests are answered when the call returns."""
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        self._socket = socket.create_server(self._address, family=family)
        self._thread.start()
        self.url = self._started.result()
        return self

    def close(self) -> None:
        """End the server, and the forks that were asked of it; requests that wait are cut."""
        if self._trio_stop is not None:
            token, event = self._trio_stop
            try:
                token.run_sync_soon(event.set)
            except trio.RunFinishedError:
                pass
            self._thread.join(_CLOSE_TIMEOUT_S)
        self._forks.close()

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
            while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
                error = error.exceptions[0]
            if self._started.done():
                logging.getLogger("odradek.control").error("the control API has ended", exc_info=error)
            else:
                self._started.set_exception(error)

    async def _main(self) -> None:
        from hypercorn.trio import serve

        from odradek.control.application import Application

        stop = trio.Event()
        self._trio_stop = trio.lowlevel.current_trio_token(), stop
        application: Any = Application(Calls(self._broker, self._forks), self._hosts, self._token)
        host, port = self._socket.getsockname()[:2]
        config = _config(self._socket.detach())
        async with trio.open_nursery() as nursery:
            await nursery.start(partial(serve, application, config, shutdown_trigger=stop.wait, mode="asgi"))
            self._started.set_result(f"http://{address_text(host, port)}")


def serving(host: str, port: int, token: str | None) -> Callable[[Cluster], AbstractContextManager[str]]:
    """What serves the API of a cluster whose run the caller is in, and gives its URL. What cannot be is raised now."""
    _checked(host, token)

    @contextmanager
    def serve(cluster: Cluster) -> Iterator[str]:
        with ControlServer(BlockingBroker(cluster, HandOver()), host, port, token) as server:
            yield server.url

    return serve


def _checked(host: str, token: str | None) -> frozenset[str] | None:
    """Which names the server has; ValueError or ImportError if there cannot be such a server."""
    try:
        for package in ("hypercorn.trio", "starlette.applications"):
            importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f'the control API needs more: pip install "odradek[control]" ({error})') from error
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise ValueError("a token is printable ASCII text, and not empty")
    hosts = _allowed_hosts(host)
    if hosts is None and token is None:
        raise ValueError(f"others can reach {host}: a control API that is not local needs a token")
    return hosts


def _config(listening: int) -> Any:
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listening}"]
    config.errorlog = logging.getLogger("odradek.control.http")
    config.loglevel = "WARNING"
    config.graceful_timeout = _GRACE_S
    config.include_server_header = False
    return config


def _allowed_hosts(host: str) -> frozenset[str] | None:
    """What a Host header may say where only this machine reaches the server; None where others do."""
    if host == "localhost":
        return _LOCAL_NAMES
    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        return None
    return _LOCAL_NAMES | {host} if is_local else None
