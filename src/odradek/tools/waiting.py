"""`cub kafka-ready`, `cub zk-ready` and `nc -z`: whether somebody answers."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

from odradek.commands import client_security
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.tools.options import Options, ToolError, connect


def cub(options: Options) -> int:
    """`cub kafka-ready -b HOST:PORT [-c FILE] BROKERS SECONDS`, and `cub zk-ready HOST:PORT SECONDS`."""
    command, *words = options.words or [""]
    if command == "kafka-ready" and len(words) == 2 and all(word.isdecimal() for word in words):
        return _kafka_ready(options, int(words[0]), int(words[1]))
    if command == "zk-ready" and len(words) == 2 and words[1].isdecimal():
        return _port_ready(words[0], int(words[1]))
    raise ToolError(
        "expected cub kafka-ready -b HOST:PORT [-c FILE] BROKERS SECONDS, or cub zk-ready HOST:PORT SECONDS"
    )


def _kafka_ready(options: Options, brokers: int, seconds: int) -> int:
    options.given["bootstrap-server"] = options.all("b")
    file = options.one("c")
    deadline = time.monotonic() + seconds
    found = 0
    with connect(options, client_security(Path(file) if file else None), patience_s=seconds) as client:
        while True:
            found = len(client.ask(MetadataRequest(topics=[])).brokers)
            if found >= brokers:
                return 0
            if time.monotonic() > deadline:
                raise ToolError(f"Expected {brokers} brokers but found only {found}. Timed out.")
            time.sleep(0.1)


def _port_ready(address: str, seconds: int) -> int:
    """There is no ZooKeeper here: somebody listens at the first address, which is all that is asked."""
    host, _, port = address.partition(",")[0].partition("/")[0].rpartition(":")
    deadline = time.monotonic() + seconds
    while (problem := _dial(host, port, 5.0)) is not None:
        if time.monotonic() > deadline:
            raise ToolError(f"{address}: {problem}")
        time.sleep(0.1)
    return 0


def nc(options: Options) -> int:
    """`nc -z [-v] [-w SECONDS] HOST PORT`: 0 if somebody listens there, else 1."""
    if "z" not in options or len(options.words) != 2:
        raise ToolError("this nc is odradek's and knows only nc -z [-v] [-w SECONDS] HOST PORT")
    host, port = options.words
    problem = _dial(host, port, float(options.number("w") or 10))
    if "v" in options:
        print(f"{host} {port}: {problem or 'open'}", file=sys.stderr)
    return 0 if problem is None else 1


def _dial(host: str, port: str, seconds: float) -> str | None:
    """What keeps a connection from being made; None for nothing."""
    if not port.isdecimal():
        raise ToolError(f"{port} is not a port")
    try:
        socket.create_connection((host, int(port)), timeout=seconds).close()
    except OSError as error:
        return error.strerror or str(error)
    return None
