"""The registry as an HTTP server beside a broker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.thread_bridge import HandOver
from odradek.http_access import checked
from odradek.http_thread import HttpThread
from odradek.registry.registry import RecordDecoding, Registry

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_PACKAGES = ("h11",)


class RegistryServer:
    """A schema registry on a broker's topic ``_schemas``: ``with RegistryServer(broker) as server: print(server.url)``.

    ``token``: requests must send it as a bearer token or as a password. ValueError for an address that others reach
    without a token. ImportError, with what to install, without the extra ``registry``; OSError for an address that
    is taken.
    """

    def __init__(
        self, broker: BlockingBroker, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        self._hosts = checked("a schema registry", _PACKAGES, "registry", host, token)
        self._token = token
        self._broker = broker
        self._cluster = broker.cluster
        self._registry = Registry(broker)
        self._address = host, port
        self._http: HttpThread | None = None
        self._lock = threading.Lock()
        self.url = ""

    def __repr__(self) -> str:
        return f"<RegistryServer at {self.url or 'no address yet'}>"

    def start(self) -> Self:
        """Listen; requests are answered when the call returns."""
        self.resume()
        self._cluster.schema_registry = self
        self._cluster.record_schemas.registered = RecordDecoding(self._registry, self._broker)
        return self

    def close(self) -> None:
        """End the server; requests that wait are cut."""
        if self._cluster.schema_registry is self:
            self._cluster.schema_registry = self._cluster.record_schemas.registered = None
        with self._lock:
            self._end()

    def stop(self) -> Callable[[], None]:
        """Refuse connections until `resume`, which is returned, and cut those that there are.

        RuntimeError if it is down already.
        """
        with self._lock:
            if self._http is None:
                raise RuntimeError("the schema registry is down already")
            self._end()
        return self.resume

    def resume(self) -> None:
        """Listen at the same address, if it does not. OSError for an address that is taken."""
        with self._lock:
            if self._http is None:
                http = HttpThread("odradek.registry", self._address, self._make).start()
                self._http, self.url = http, http.url
                self._address = self._address[0], urlsplit(http.url).port or 0

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """What the REST API answers, as JSON, also while the server is stopped. No fault acts, no transcript has it.

        RuntimeError with what it refuses. Not in the broker's thread.
        """
        from odradek.registry.application import asked

        return asked(self._registry, method, path, body)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _end(self) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def _make(self) -> Any:
        from odradek.registry.application import Application, Recording

        recording = Recording(self._cluster, self._broker._look)
        return Application(self._registry, recording, self._hosts, self._token)


def serving(host: str, port: int, token: str | None) -> Callable[[Cluster], AbstractContextManager[str]]:
    """A function that serves a registry for a cluster of the caller's trio run, and yields its URL.

    Errors of `RegistryServer` are raised by this call.
    """
    checked("a schema registry", _PACKAGES, "registry", host, token)

    @contextmanager
    def serve(cluster: Cluster) -> Iterator[str]:
        with RegistryServer(BlockingBroker(cluster, HandOver()), host, port, token) as server:
            yield server.url

    return serve
