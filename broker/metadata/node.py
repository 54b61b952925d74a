"""A node of the cluster: a broker, as Metadata shows it, a controller, or both."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.broker.config.listeners import LOOPBACK, Listener, SecurityProtocol
from odradek.broker.releases.release import Release, release_of
from odradek.protocol.message import ZERO_UUID

if TYPE_CHECKING:
    from odradek.broker.config.listener_layout import NodeListeners

PLAINTEXT = "PLAINTEXT"


def reachable_host(host: str) -> str:
    """A host that others can dial: this machine's name for one that means every address."""
    return socket.gethostname() if host in LOOPBACK else host


class Endpoint:
    """Where a node is reached through one of its listeners.

    `host` and `port`: where it listens (`port` is 0 until it does). `advertised`: the address to tell clients; port 0
    there means the node's own port. `None` means "the host that the client dialled, with this node's port", which needs
    no set-up. `told`: whether anybody is told of it; `advertised.listeners` may leave a listener out. `live`: it was
    added while the broker ran. `of_controller`: who comes here asks the node as a controller.
    """

    def __init__(
        self,
        listener: Listener,
        host: str = "127.0.0.1",
        port: int = 0,
        advertised: tuple[str, int] | None = None,
        told: bool = True,
        live: bool = False,
        of_controller: bool = False,
    ) -> None:
        self.listener = listener
        self.host = host
        self.port = port
        self.advertised = advertised
        self.told = told
        self.live = live
        self.of_controller = of_controller

    def address_for(self, dialled_host: str | None) -> tuple[str, int]:
        """The (host, port) to tell a client that reached the cluster at `dialled_host`."""
        if self.advertised is not None:
            return self.advertised[0], self.advertised[1] or self.port
        return dialled_host or self.host, self.port

    def registered(self) -> tuple[str, int]:
        """The (host, port) for the metadata log: the one that others can connect to, if it is known."""
        host, port = self.address_for(None)
        return reachable_host(host), port


IN_MEMORY = "memory"
"""The name of the log directory of a node in memory."""


class Node:
    """One node of the cluster. `log_dirs` is empty for a node that keeps its logs in memory.

    `endpoints`: the broker's, by listener name; the first one is what brokers use among themselves. A controller that
    is no broker has none. `controllers`: the controller's, where some are configured. `is_controller`: whether it is
    one. `votes`: whether it is a voter of the metadata log, which only a controller is. `controls_alone`: its broker is
    down, and its controller is not. `metadata_directory`: the id of the directory with its metadata log. `release`: the
    Kafka that it runs; `unstable`: whether it serves versions of APIs that are still in development. `route_base` is a
    number of these two above all that an API key and a version make.
    """

    def __init__(
        self,
        id: int,
        endpoints: dict[str, Endpoint] | None = None,
        release: Release | None = None,
        *,
        unstable: bool = False,
    ) -> None:
        self.id = id
        self.unstable = unstable
        self.run(release or release_of())
        self.rack: str | None = None
        self.up = True
        self.log_dirs: tuple[Path, ...] = ()
        self.metadata_directory = ZERO_UUID
        self.endpoints = endpoints or {PLAINTEXT: Endpoint(Listener(PLAINTEXT, SecurityProtocol.PLAINTEXT))}
        self.controllers: dict[str, Endpoint] = {}
        self.is_controller = True
        self.votes = True
        self.controls_alone = False

    @property
    def controls(self) -> bool:
        """Whether it is a voter that runs."""
        return self.votes and self.runs

    @property
    def runs(self) -> bool:
        """Whether its controller runs, if it has one."""
        return self.up or self.controls_alone

    def run(self, release: Release) -> None:
        """Be a node of this release from now on."""
        self.release = release
        self.route_base = (release.code << 1 | self.unstable) << 32

    @property
    def directory_paths(self) -> list[str]:
        """The node's log directories as clients know them."""
        return [str(path.absolute()) for path in self.log_dirs] or [IN_MEMORY]

    @property
    def is_broker(self) -> bool:
        """Whether it has partitions and serves clients."""
        return bool(self.endpoints)

    @property
    def all_endpoints(self) -> list[Endpoint]:
        """The broker's, then the controller's."""
        return [*self.endpoints.values(), *self.controllers.values()]

    @property
    def first(self) -> Endpoint:
        """The endpoint of the inter-broker listener."""
        return next(iter(self.endpoints.values()))

    @property
    def host(self) -> str:
        """The address of the inter-broker listener."""
        return self.first.host

    @property
    def port(self) -> int:
        """The port of the inter-broker listener, 0 until it listens."""
        return self.first.port

    def address_for(self, listener: str, dialled_host: str | None = None) -> tuple[str, int] | None:
        """The (host, port) to tell a client that came through `listener` to `dialled_host`.

        None if the node has no such listener or does not advertise it: the client cannot reach it there.
        """
        endpoint = self.endpoints.get(listener)
        return endpoint.address_for(dialled_host) if endpoint is not None and endpoint.told else None

    def take(self, layout: NodeListeners) -> None:
        """Have the listeners of a layout; where they listen comes later."""
        self.endpoints = {each.name: _endpoint(each, layout) for each in layout.listeners}
        told = {each.name: each for each in layout.told_controllers}
        self.controllers = {each.name: _controller_endpoint(each, told[each.name]) for each in layout.controllers}


def _endpoint(listener: Listener, layout: NodeListeners) -> Endpoint:
    host, port = (listener.host, listener.port) if layout.given else ("127.0.0.1", 0)
    if layout.advertised is None:
        return Endpoint(listener, host, port)
    told = layout.advertised.get(listener.name)
    if told is None:
        return Endpoint(listener, host, port, told=False)
    return Endpoint(listener, host, port, advertised=(reachable_host(told.host), told.port))


def _controller_endpoint(listener: Listener, told: Listener) -> Endpoint:
    address = (reachable_host(told.host), told.port)
    return Endpoint(listener, listener.host, listener.port, advertised=address, of_controller=True)
