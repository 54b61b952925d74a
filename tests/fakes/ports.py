"""Ports in a row that nobody has; single ones are those of `tests.conformance.real_kafka`."""

from __future__ import annotations

import socket
from contextlib import ExitStack


def ports_in_a_row(count: int) -> int:
    """The first of so many."""
    while True:
        with ExitStack() as taken:
            try:
                first = taken.enter_context(socket.socket())
                first.bind(("127.0.0.1", 0))
                base = int(first.getsockname()[1])
                for port in range(base + 1, base + count):
                    taken.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except (OSError, OverflowError):
                continue
            return base
