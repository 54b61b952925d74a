"""The payloads that clients pushed: the newest ones within a limit of bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

MAX_KEPT_BYTES = 16 * 1024 * 1024
_BYTES_BESIDE = 512
"""The approximate size of a push besides its payload."""


@dataclass(frozen=True, slots=True)
class TelemetryPush:
    """One accepted PushTelemetry with metrics in it. ``client_instance_id`` is text as Kafka's tools show it.

    ``payload``: the metrics, inflated: a ``MetricsData`` of OpenTelemetry's protocol, whatever the client put there.
    ``time_ms``: the broker's clock. ``terminating``: the client's last push.
    """

    time_ms: int
    node_id: int
    client_instance_id: str
    client_id: str | None
    client_software_name: str
    client_software_version: str
    terminating: bool
    payload: bytes


class KeptPushes:
    """The newest pushes, oldest first. Owner: `TelemetryService`."""

    __slots__ = ("_bytes", "_limit", "_pushes")

    def __init__(self, limit: int = MAX_KEPT_BYTES) -> None:
        self._limit = limit
        self._bytes = 0
        self._pushes: deque[TelemetryPush] = deque()

    def __iter__(self) -> Iterator[TelemetryPush]:
        return iter(self._pushes)

    def add(self, push: TelemetryPush) -> None:
        """Keep a push; the oldest make room. The newest is always kept."""
        self._pushes.append(push)
        self._bytes += _size(push)
        while self._bytes > self._limit and len(self._pushes) > 1:
            self._bytes -= _size(self._pushes.popleft())


def _size(push: TelemetryPush) -> int:
    return len(push.payload) + _BYTES_BESIDE
