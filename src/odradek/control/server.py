"""The server of the control API, and the forks of a broker that were asked for over HTTP."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.remote.operations import ForkInfo, ForkOperations
from odradek.broker.facade.thread_bridge import HandOver
from odradek.broker.facade.threaded import KafkaBroker, fork_of
from odradek.control.calls import Calls
from odradek.http_access import checked
from odradek.http_thread import HttpThread

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


class ControlServer(HttpThread):
    """Serves the control API of a broker: ``with ControlServer(broker, port=0) as server: print(server.url)``.

    ``token``: requests must send it as a bearer token. ValueError for an address that others reach without a token.
    ImportError, with what to install, without the extra ``control``; OSError for an address that is taken.
    """

    def __init__(
        self, broker: BlockingBroker, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        self._hosts = _checked(host, token)
        self._broker = broker
        self._token = token
        self._forks = Forks(broker, lambda other: ControlServer(other, host, 0, token))
        super().__init__("odradek.control", (host, port), self._make)

    def close(self) -> None:
        """End the server, and the forks that were asked of it; requests that wait are cut."""
        super().close()
        self._forks.close()

    def _make(self) -> Any:
        from odradek.control.application import Application

        return Application(Calls(self._broker, self._forks), self._hosts, self._token)


def serving(host: str, port: int, token: str | None) -> Callable[[Cluster], AbstractContextManager[str]]:
    """A function that serves the API of a cluster of the caller's trio run, and yields its URL.

    Errors of `ControlServer` are raised by this call.
    """
    _checked(host, token)

    @contextmanager
    def serve(cluster: Cluster) -> Iterator[str]:
        with ControlServer(BlockingBroker(cluster, HandOver()), host, port, token) as server:
            yield server.url

    return serve


def _checked(host: str, token: str | None) -> frozenset[str] | None:
    return checked("a control API", ("h11",), "control", host, token)


_MOST = 100


class _Running(NamedTuple):
    info: ForkInfo
    broker: KafkaBroker
    server: ControlServer

    def end(self) -> None:
        self.server.close()
        self.broker.close()


class Forks(ForkOperations):
    """Each with a control server, which ``serve`` makes. Usable from any thread; `close` ends them all."""

    def __init__(self, broker: BlockingBroker, serve: Callable[[BlockingBroker], ControlServer]) -> None:
        self._broker = broker
        self._serve = serve
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<Forks: {len(self._running)}>"

    @property
    def forks(self) -> list[ForkInfo]:
        """The running forks, oldest first."""
        return [each.info for each in list(self._running.values())]

    def fork(self, data_dir: str | None = None) -> ForkInfo:
        """Start one; RuntimeError when there are too many, or the server is closed."""
        if data_dir is not None:
            _check_empty(Path(data_dir))
        if len(self._running) >= _MOST:
            raise RuntimeError(f"{_MOST} forks run already: close_fork ends one")
        running = self._started(data_dir)
        with self._lock:
            if not self._closed:
                self._running[running.info.id] = running
                return running.info
        running.end()
        raise RuntimeError("the control API is closed")

    def close_fork(self, fork: str) -> None:
        """End one; ValueError if none of this id runs."""
        with self._lock:
            running = self._running.pop(fork, None)
        if running is None:
            raise ValueError(f"no fork {fork!r} runs")
        running.end()

    def close(self) -> None:
        """End all, and start no more."""
        with self._lock:
            self._closed = True
            running, self._running = self._running, {}
        for each in running.values():
            each.end()

    def _started(self, data_dir: str | None) -> _Running:
        broker = fork_of(self._broker, data_dir)
        try:
            server = self._serve(broker).start()
        except BaseException:
            broker.close()
            raise
        return _Running(ForkInfo(secrets.token_hex(4), server.url, broker.bootstrap_servers), broker, server)


def _check_empty(path: Path) -> None:
    """ValueError unless this may become the directory of a fork."""
    if not path.is_absolute():
        raise ValueError(f"data_dir: {str(path)!r} is not an absolute path on the server's system")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(f"data_dir: {path} is not an empty directory")
