"""Client metrics from Python. What is asked and pushed over the wire is in tests/broker/api/test_telemetry.py."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.facade.client_metrics import pushes, subscribe
from odradek.protocol.errors import ErrorCode, KafkaError

METRICS = 16


def test_a_subscription_is_replaced_and_ended() -> None:
    cluster = Cluster()
    subscribe(cluster, "s", {"metrics": ["org.a", "org.b"], "interval.ms": 500})
    assert cluster.image.configs_of(METRICS, "s") == {"metrics": "org.a,org.b", "interval.ms": "500"}
    subscribe(cluster, "s", {"metrics": "*"})
    assert cluster.image.configs_of(METRICS, "s") == {"metrics": "*"}
    subscribe(cluster, "s", {})
    assert cluster.image.names_with_configs(METRICS) == []


def test_what_kafka_refuses() -> None:
    with pytest.raises(KafkaError, match="Illegal client matching pattern") as refused:
        subscribe(Cluster(), "s", {"match": "host=a"})
    assert refused.value.code == ErrorCode.INVALID_CONFIG


def test_no_push_and_no_service() -> None:
    cluster = Cluster()
    assert pushes(cluster) == []
    assert cluster.services.telemetry.made is None
