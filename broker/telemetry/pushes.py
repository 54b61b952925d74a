"""The payloads that clients pushed: the newest ones within a limit of bytes, and their metrics as values.

The metrics are OpenTelemetry's ``MetricsData``, decoded with the package of its messages: the extra ``telemetry``. It
is imported when somebody looks at a metric, or logs one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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


_NS_PER_MS = 1_000_000
_SINGLE_VALUES = ("gauge", "sum")


@dataclass(frozen=True, slots=True)
class ClientMetric:
    """One value that a client reported.

    ``name``: the metric's, such as ``org.apache.kafka.producer.connection.creation.total``. ``attributes``: the
    value's own, such as a node id or a topic. ``labels``: what the client says of itself, such as ``group_id`` or
    ``client_rack``. ``kind``: ``sum``, ``gauge``, ``histogram``, ``exponential_histogram`` or ``summary``; for the last
    three ``value`` is the sum of what was observed, and ``count`` how often (else None). ``delta``: the value counts
    from the push before; otherwise from the client's start. ``time_ms``: the client's clock. ``pushed_ms``: the
    broker's, when the push came.
    """

    client_instance_id: str
    client_id: str | None
    name: str
    kind: str
    value: int | float
    attributes: Mapping[str, Any]
    labels: Mapping[str, Any]
    time_ms: int
    pushed_ms: int
    node_id: int
    delta: bool = False
    count: int | None = None


class TelemetryDecodingError(ValueError):
    """A payload that is no ``MetricsData``: a broker takes what it is given."""


def metrics_of(pushes: Iterable[TelemetryPush]) -> Iterator[ClientMetric]:
    """The values of all pushes, in their order. ImportError, with what to install, without OpenTelemetry's messages;
    TelemetryDecodingError for a payload that cannot be decoded."""
    for push in pushes:
        for resource in _decoded(push).resource_metrics:
            labels = _attributes(resource.resource.attributes)
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    yield from _values(push, labels, metric)


def described(push: TelemetryPush) -> Iterator[str]:
    """Lines of text for the log: one for each value, or one that says why there are none."""
    who = f"{push.client_id!r} ({push.client_instance_id})"
    try:
        for value in metrics_of([push]):
            yield f"{who} reports {value.name} {dict(value.attributes)} = {value.value}"
    except (ImportError, TelemetryDecodingError) as error:
        yield f"{who} pushed {len(push.payload)} bytes: {error}"


def _decoded(push: TelemetryPush) -> Any:
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
    except ImportError:
        raise ImportError(
            "client metrics are decoded with the package opentelemetry-proto: install odradek[telemetry]. Without it, "
            "broker.telemetry_pushes gives the payloads, each a MetricsData message of OpenTelemetry's protocol."
        ) from None
    try:
        return MetricsData.FromString(push.payload)
    except DecodeError as error:
        who = f"{push.client_id!r} ({push.client_instance_id})"
        raise TelemetryDecodingError(f"the push of {who} is not MetricsData: {error}") from None


def _values(push: TelemetryPush, labels: Mapping[str, Any], metric: Any) -> Iterator[ClientMetric]:
    kind = metric.WhichOneof("data")
    if kind is None:
        return
    data = getattr(metric, kind)
    for point in data.data_points:
        single = kind in _SINGLE_VALUES
        yield ClientMetric(
            client_instance_id=push.client_instance_id,
            client_id=push.client_id,
            name=metric.name,
            kind=kind,
            value=_number(point) if single else point.sum,
            attributes=_attributes(point.attributes),
            labels=labels,
            time_ms=point.time_unix_nano // _NS_PER_MS,
            pushed_ms=push.time_ms,
            node_id=push.node_id,
            delta=_is_delta(kind, data),
            count=None if single else point.count,
        )


def _number(point: Any) -> int | float:
    number: int | float = point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
    return number


def _is_delta(kind: str, data: Any) -> bool:
    """``AGGREGATION_TEMPORALITY_DELTA``, which is 1; gauges and summaries have no temporality."""
    return kind not in ("gauge", "summary") and data.aggregation_temporality == 1


def _attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _any_value(pair.value) for pair in pairs}


def _any_value(value: Any) -> Any:
    """An ``AnyValue`` as Python's: text, bool, int, float, bytes, a list or a dict; None for an empty one."""
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    inner = getattr(value, kind)
    if kind == "array_value":
        return [_any_value(item) for item in inner.values]
    if kind == "kvlist_value":
        return _attributes(inner.values)
    return inner
