"""Turns off pacing for connections within this machine.

Some systems pace all connections (BBR), with a timer and a model of the path for each answer. `sendfile` hands over 64
KiB at once, and each piece waits for its time: 190 MB/s instead of 7,350.

Gains a third of the CPU of a large fetch there.
"""

from __future__ import annotations

import socket
from contextlib import suppress

_CONGESTION: int | None = getattr(socket, "TCP_CONGESTION", None)  # Linux and FreeBSD


def do_not_pace(sock: socket.socket) -> None:
    """Have the congestion control of a socket that is not paced, if the system allows it."""
    if _CONGESTION is not None:
        with suppress(OSError):  # a system may allow what is its default only
            sock.setsockopt(socket.IPPROTO_TCP, _CONGESTION, b"reno")
