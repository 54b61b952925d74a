"""The registry as an HTTP server beside a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Self

from odradek.broker.facade.call import HandOver
from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.http_thread import HttpThread, checked
from odradek.registry.record_decoding import RecordDecoding
from odradek.registry.recording import Recording
from odradek.registry.registry import Registry

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster

_PACKAGES = ("hypercorn.trio", "starlette.requests")


class RegistryServer(HttpThread):
    """A schema registry on a broker's topic ``_schemas``: ``with RegistryServer(broker) as server: print(server.url)``.

    ``token``: what requests have to show, as a bearer token or as a password. ValueError for an address that others
    reach and no token. ImportError, with what to install, without the extra ``registry``; OSError for an address that
    is taken.
    """

    def __init__(
        self, broker: BlockingBroker, host: str = "127.0.0.1", port: int = 0, token: str | None = None
    ) -> None:
        self._hosts = _checked(host, token)
        self._token = token
        self._broker = broker
        self._cluster = broker.cluster
        self._registry = Registry(broker)
        super().__init__("odradek.registry", (host, port), self._make)

    def start(self) -> Self:
        """Listen; requests are answered when the call returns."""
        super().start()
        self._cluster.schema_registry_url = self.url
        self._cluster.record_schemas.registered = RecordDecoding(self._registry, self._broker)
        return self

    def close(self) -> None:
        """End the server; requests that wait are cut."""
        if self._cluster.schema_registry_url == self.url:
            self._cluster.schema_registry_url = self._cluster.record_schemas.registered = None
        super().close()

    def _make(self) -> Any:
        from odradek.registry.application import Application

        recording = Recording(self._cluster, self._broker._look)
        return Application(self._registry, recording, self._hosts, self._token)


def serving(host: str, port: int, token: str | None) -> Callable[[Cluster], AbstractContextManager[str]]:
    """What serves a registry for a cluster whose run the caller is in, and gives its URL. What cannot be is raised
    now."""
    _checked(host, token)

    @contextmanager
    def serve(cluster: Cluster) -> Iterator[str]:
        with RegistryServer(BlockingBroker(cluster, HandOver()), host, port, token) as server:
            yield server.url

    return serve


def _checked(host: str, token: str | None) -> frozenset[str] | None:
    return checked("a schema registry", _PACKAGES, "registry", host, token)
