"""Connections that a fault spoils as soon as they are accepted."""

from __future__ import annotations

import socket
import struct

import trio

_RESET = struct.pack("ii", 1, 0)
_READ_AWAY = 64 * 1024


async def spoil(sock: socket.socket, how: str) -> None:
    """Do as a fault says; "half-close" and "stall" read on, and answer nothing, until the client is gone."""
    with sock:
        try:
            if how == "reset":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            elif how in ("half-close", "stall"):
                sock.setblocking(False)
                if how == "half-close":
                    sock.shutdown(socket.SHUT_WR)
                await _read_away(sock)
        except OSError:
            pass  # the client has gone


async def _read_away(sock: socket.socket) -> None:
    while True:
        await trio.lowlevel.wait_readable(sock)
        if not sock.recv(_READ_AWAY):
            return
