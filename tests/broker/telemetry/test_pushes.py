"""Kept pushes are bounded by their bytes."""

from __future__ import annotations

import sys

import pytest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, MetricsData

from odradek.broker.telemetry.pushes import KeptPushes, TelemetryDecodingError, TelemetryPush, described, metrics_of


def push(payload: bytes) -> TelemetryPush:
    return TelemetryPush(5000, 2, "aZsgEsmLT4GL7Oe6T1LDtQ", "me", "java", "4", False, payload)


def test_telemetry_pushes_make_room_by_dropping_the_oldest() -> None:
    kept = KeptPushes(limit=5000)
    for number in range(10):
        kept.add(push(bytes([number]) * 1000))
    assert [each.payload[0] for each in kept] == [7, 8, 9]


def test_many_small_pushes_are_bounded_too() -> None:
    kept = KeptPushes(limit=5000)
    for _ in range(1000):
        kept.add(push(b"x"))
    assert len(list(kept)) < 10


def test_the_newest_is_kept_however_large() -> None:
    kept = KeptPushes(limit=10)
    kept.add(push(b"small"))
    kept.add(push(b"large" * 100))
    assert [each.payload for each in kept] == [b"large" * 100]


CONNECTIONS = "org.apache.kafka.producer.connection.creation.total"
NS = 1_000_000


def metrics_data(name: str) -> bytes:
    """One sum with a node's id, of a client in a rack."""
    data = MetricsData()
    resource = data.resource_metrics.add()
    label = resource.resource.attributes.add()
    label.key, label.value.string_value = "client_rack", "r1"
    metric = resource.scope_metrics.add().metrics.add()
    metric.name = name
    metric.sum.aggregation_temporality = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
    point = metric.sum.data_points.add()
    point.as_int, point.time_unix_nano = 3, 4000 * NS
    attribute = point.attributes.add()
    attribute.key, attribute.value.int_value = "node.id", 1
    return bytes(data.SerializeToString())


def test_telemetry_push_of_a_sum_is_read() -> None:
    [metric] = metrics_of([push(metrics_data(CONNECTIONS))])
    assert (metric.name, metric.kind, metric.value, metric.delta) == (CONNECTIONS, "sum", 3, True)
    assert (metric.attributes, metric.labels) == ({"node.id": 1}, {"client_rack": "r1"})
    assert (metric.time_ms, metric.pushed_ms, metric.node_id) == (4000, 5000, 2)
    assert (metric.client_id, metric.client_instance_id) == ("me", "aZsgEsmLT4GL7Oe6T1LDtQ")


def test_every_kind_of_metric_and_attribute() -> None:
    data = MetricsData()
    metrics = data.resource_metrics.add().scope_metrics.add().metrics
    gauge = metrics.add(name="gauge").gauge.data_points.add(as_double=1.5)
    values = {
        "text": {"string_value": "a"},
        "truth": {"bool_value": True},
        "real": {"double_value": 0.5},
        "bytes": {"bytes_value": b"b"},
        "list": {"array_value": {"values": [{"int_value": 1}, {"string_value": "x"}]}},
        "map": {"kvlist_value": {"values": [{"key": "k", "value": {"int_value": 2}}]}},
        "nothing": {},
    }
    for key, value in values.items():
        gauge.attributes.add(key=key, value=value)
    metrics.add(name="histogram").histogram.data_points.add(sum=7.0, count=2)
    metrics.add(name="exponential").exponential_histogram.data_points.add(sum=8.0, count=3)
    metrics.add(name="summary").summary.data_points.add(sum=9.0, count=4)
    metrics.add(name="without data")
    found = list(metrics_of([push(data.SerializeToString())]))
    assert [(metric.name, metric.kind, metric.value, metric.count) for metric in found] == [
        ("gauge", "gauge", 1.5, None),
        ("histogram", "histogram", 7.0, 2),
        ("exponential", "exponential_histogram", 8.0, 3),
        ("summary", "summary", 9.0, 4),
    ]
    assert found[0].attributes == {
        "text": "a",
        "truth": True,
        "real": 0.5,
        "bytes": b"b",
        "list": [1, "x"],
        "map": {"k": 2},
        "nothing": None,
    }


def test_garbage_says_whose_it_is() -> None:
    with pytest.raises(TelemetryDecodingError, match=r"the push of 'me' \(aZsgEsmLT4GL7Oe6T1LDtQ\) is not MetricsData"):
        list(metrics_of([push(b"\xff\xff garbage")]))


def test_without_the_package_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.metrics.v1.metrics_pb2", None)
    taken = push(metrics_data(CONNECTIONS))
    with pytest.raises(ImportError, match=r"install odradek\[telemetry\].*broker\.telemetry_pushes gives"):
        list(metrics_of([taken]))
    [line] = described(taken)
    assert line.startswith(
        f"'me' (aZsgEsmLT4GL7Oe6T1LDtQ) pushed {len(taken.payload)} bytes: client metrics are decoded"
    )
