"""The service beyond single requests: what reaches the log, and instances after errors."""

from __future__ import annotations

import logging

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.telemetry.service import TelemetryService
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from odradek.protocol.message import ZERO_UUID
from tests.broker.telemetry.test_pushes import CONNECTIONS, metrics_data


def begun(service: TelemetryService) -> tuple[bytes, int]:
    instance_id, subscription = service.subscription(1, "c", ZERO_UUID, {"client_id": "me"})
    return instance_id, subscription.subscription_id


def push(service: TelemetryService, instance_id: bytes, subscription_id: int, metrics: bytes = b"") -> None:
    request = PushTelemetryRequest(instance_id, subscription_id, metrics=metrics)
    service.push(1, "c", {"client_id": "me"}, request)


def test_metrics_are_in_the_log_at_debug(caplog: pytest.LogCaptureFixture) -> None:
    service = Cluster().services.telemetry()
    with caplog.at_level(logging.DEBUG, "odradek.broker.telemetry"):
        push(service, *begun(service), metrics_data(CONNECTIONS))
    assert f"reports {CONNECTIONS} {{'node.id': 1}} = 3" in caplog.text


def test_garbage_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    service = Cluster().services.telemetry()
    with caplog.at_level(logging.DEBUG, "odradek.broker.telemetry"):
        push(service, *begun(service), b"\xff\xff garbage")
    assert "pushed 10 bytes: the push of 'me'" in caplog.text


def test_an_empty_push_is_taken_and_not_kept() -> None:
    service = Cluster().services.telemetry()
    push(service, *begun(service))
    assert list(service.pushes()) == []


def test_an_error_is_forgotten_with_the_next_answer() -> None:
    service = Cluster().services.telemetry()
    instance_id, subscription_id = begun(service)
    with pytest.raises(KafkaError) as refused:
        push(service, instance_id, subscription_id + 1)
    assert refused.value.code == ErrorCode.UNKNOWN_SUBSCRIPTION_ID
    assert service.subscription(1, "c", instance_id, {})[0] == instance_id
    with pytest.raises(KafkaError) as again:
        service.subscription(1, "c", instance_id, {})
    assert again.value.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
