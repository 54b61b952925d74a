"""Connections within this machine are not paced."""

from __future__ import annotations

import socket

import pytest
import trio

from odradek.broker.fast.pacing import do_not_pace
from tests.broker.net.test_connection import beat, dial, read_frame, serving
from tests.broker.net.test_server import open_sockets
from tests.fakes.cluster import FakeCluster

pytestmark = pytest.mark.skipif(not hasattr(socket, "TCP_CONGESTION"), reason="another system")


def control_of(sock: socket.socket) -> bytes:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0")


def test_the_broker_asks_for_that_in_the_fast_lane(poller: type | None) -> None:
    cluster = FakeCluster()
    with socket.socket() as new:
        usual = control_of(new)

    async def main() -> None:
        async with serving(cluster), await dial(cluster) as client:
            await client.send_all(beat())
            await read_frame(client)
            (sock,) = [each for each in open_sockets() if each.getpeername() == client.socket.getsockname()]
            assert control_of(sock) == (usual if poller is None else b"reno")

    trio.run(main, clock=cluster.clock)


def test_a_socket_that_refuses_it_stays_as_it_is() -> None:
    near, far = socket.socketpair()
    with near, far:
        do_not_pace(near)
