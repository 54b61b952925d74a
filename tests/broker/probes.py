"""The recorded raw-wire probes of bad input, and how to send one to a broker."""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors" / "behaviour.jsonl.gz"
OLDER = VECTORS.with_name("behaviour-4.3.jsonl.gz")
"""What Kafka 4.3.1 did."""
WITH_A_SHUTDOWN = frozenset({"frame-truncated-then-close", "empty-then-shutdown"})
"""The probes after which the client says that nothing more comes."""
CLOSED_WITHIN_S = 30.0
SILENT_FOR_S = 0.25


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe. ``answers``: the recorded response frames (without size); ``outcome``: response, closed, no_reply."""

    case: str
    listener: str
    sent: bytes
    outcome: str
    answers: tuple[bytes, ...]
    usable_after: bool
    closed_after: bool

    @property
    def requests(self) -> list[bytes]:
        """The frames in ``sent``, as far as they are whole."""
        return frames(self.sent)


@cache
def probes(file: Path = VECTORS) -> tuple[Probe, ...]:
    """All recorded probes, in the order in which they were sent to the real broker."""
    return tuple(_probe(json.loads(line)) for line in gzip.decompress(file.read_bytes()).splitlines())


def _probe(row: dict[str, Any]) -> Probe:
    answers = row.get("response_hex") or []
    return Probe(
        case=row["case"],
        listener=row["listener"],
        sent=bytes.fromhex(row["sent_hex"]),
        outcome=row["outcome"],
        answers=tuple(bytes.fromhex(each) for each in ([answers] if isinstance(answers, str) else answers)),
        usable_after=row.get("connection_after") == "usable",
        closed_after=row.get("after") == "closed" or row.get("connection_after") == "closed",
    )


def frames(data: bytes) -> list[bytes]:
    """Cut a byte string into its whole frames."""
    found = []
    while len(data) >= 4:
        (size,) = struct.unpack_from(">i", data)
        if size < 0 or len(data) < 4 + size:
            break
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return found


class Wire:
    """A blocking connection that speaks frames."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=CLOSED_WITHIN_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._held = b""

    def wrap(self, context: ssl.SSLContext) -> None:
        """Speak TLS from now on."""
        self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are; a connection that the broker has cut is found out on reading."""
        self.socket.settimeout(CLOSED_WITHIN_S)
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            pass

    def finish(self) -> None:
        """Say that nothing more will be sent."""
        self.socket.shutdown(socket.SHUT_WR)

    def frame(self, timeout_s: float = CLOSED_WITHIN_S) -> bytes | None:
        """The next frame; None when the broker closed the connection; TimeoutError when it stays silent."""
        self.socket.settimeout(timeout_s)
        while True:
            whole = frames(self._held)
            if whole:
                self._held = self._held[4 + len(whole[0]) :]
                return whole[0]
            try:
                data = self.socket.recv(65536)
            except (ConnectionResetError, ssl.SSLError):
                return None
            if not data:
                return None
            self._held += data
