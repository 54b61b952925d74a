"""Connections that a fault spoils when they are accepted, seen from their other end."""

from __future__ import annotations

import socket

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.net.spoiled import spoil


def pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection: pairs of sockets know no reset."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = socket.create_connection(server.getsockname())
        return server.accept()[0], far


@pytest.mark.parametrize(("how", "seen"), [("close", "end"), ("reset", "reset"), ("half-close", "end"), ("stall", "")])
def test_what_the_client_sees(how: str, seen: str) -> None:
    near, far = pair()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(spoil, near, how)
            await wait_all_tasks_blocked()
            far.setblocking(False)
            try:
                found = "end" if far.recv(1) == b"" else "data"
            except ConnectionResetError:
                found = "reset"
            except BlockingIOError:
                found = ""
            assert found == seen
            far.close()  # the task ends with its client

    trio.run(main)
    assert near.fileno() < 0
