"""The forks of a broker that were asked for over HTTP."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from odradek.broker.facade.remote.operations import ForkInfo, ForkOperations
from odradek.broker.facade.threaded import KafkaBroker, fork_of

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.broker import BlockingBroker

_MOST = 100


class Served(Protocol):
    """The control server of a fork."""

    url: str

    def start(self) -> Served:
        """Listen."""
        ...

    def close(self) -> None:
        """End."""
        ...


class _Running(NamedTuple):
    info: ForkInfo
    broker: KafkaBroker
    server: Served

    def end(self) -> None:
        self.server.close()
        self.broker.close()


class Forks(ForkOperations):
    """Each with a control server, which ``serve`` makes. Usable from any thread; `close` ends them all."""

    def __init__(self, broker: BlockingBroker, serve: Callable[[BlockingBroker], Served]) -> None:
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
