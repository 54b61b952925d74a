"""The server of the control API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.thread_bridge import HandOver
from odradek.control.calls import Calls
from odradek.control.forks import Forks
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
