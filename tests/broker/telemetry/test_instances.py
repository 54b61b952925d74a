"""Client instances: times and room. The rules of errors are in the conversations of test_telemetry."""

from __future__ import annotations

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.telemetry import instances as module
from odradek.broker.telemetry.instances import ClientInstance, ClientInstances
from odradek.broker.telemetry.subscriptions import SubscriptionTable
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from odradek.protocol.message import ZERO_UUID
from tests.fakes.configs import set_configs

INTERVAL_MS = 300_000
NOW = 1_000_000_000_000


def some_instances() -> ClientInstances:
    return ClientInstances(SubscriptionTable(Cluster().image))


def begin(instances: ClientInstances, number: int = 1, now_ms: int = NOW, connection: str = "c") -> ClientInstance:
    return instances.at_work(bytes(12) + number.to_bytes(4, "big"), {}, connection, now_ms)


def push(instance: ClientInstance, now_ms: int, *, terminating: bool = False) -> ErrorCode:
    try:
        number = instance.subscription.subscription_id
        instance.check_push(now_ms, PushTelemetryRequest(ZERO_UUID, number, terminating), max_bytes=1)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def get(instance: ClientInstance, now_ms: int) -> ErrorCode:
    try:
        instance.check_get(now_ms)
    except KafkaError as error:
        return error.code
    return ErrorCode.NONE


def test_the_interval_counts_from_the_last_request_that_was_in_time() -> None:
    instance = begin(some_instances())
    assert get(instance, NOW) == ErrorCode.NONE
    assert push(instance, NOW + 1) == ErrorCode.NONE
    assert push(instance, NOW + INTERVAL_MS) == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert push(instance, NOW + INTERVAL_MS + 1) == ErrorCode.NONE
    assert get(instance, NOW + 2 * INTERVAL_MS) == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert get(instance, NOW + 2 * INTERVAL_MS + 1) == ErrorCode.NONE


def test_a_terminating_push_is_never_too_soon() -> None:
    instance = begin(some_instances())
    assert push(instance, NOW) == ErrorCode.NONE
    assert push(instance, NOW, terminating=True) == ErrorCode.NONE


def test_an_instance_lives_for_three_intervals_after_its_last_request() -> None:
    instances = some_instances()
    first = begin(instances)
    last_ms = NOW + 3 * INTERVAL_MS - 1
    assert begin(instances, now_ms=last_ms) is first
    assert instances.find(first.instance_id, last_ms + 3 * INTERVAL_MS - 1) is first
    assert instances.find(first.instance_id, last_ms + 3 * INTERVAL_MS) is None
    assert len(instances) == 0


def test_an_instance_lives_for_a_minute_at_least() -> None:
    cluster = Cluster()
    set_configs(cluster, 16, "often", {"metrics": "*", "interval.ms": "100"})
    instances = ClientInstances(SubscriptionTable(cluster.image))
    first = begin(instances)
    assert instances.find(first.instance_id, NOW + 59_999) is first
    assert instances.find(first.instance_id, NOW + 60_000) is None


def test_whoever_was_silent_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_INSTANCES", 2)
    instances = some_instances()
    first, second = begin(instances, 1), begin(instances, 2)
    begin(instances, 1)
    begin(instances, 3)
    assert instances.find(first.instance_id, NOW) is first
    assert instances.find(second.instance_id, NOW) is None


def test_a_connection_takes_the_instance_that_it_began_last() -> None:
    instances = some_instances()
    first, second = begin(instances, 1), begin(instances, 2)
    other = begin(instances, 3, connection="other")
    instances.connection_closed("c")
    instances.connection_closed("c")
    instances.connection_closed("never seen")
    found = [instances.find(each.instance_id, NOW) is not None for each in (first, second, other)]
    assert found == [True, False, True]


def test_changed_subscriptions_begin_an_instance_anew_with_what_is_known_of_it() -> None:
    cluster = Cluster()
    table = SubscriptionTable(cluster.image)
    instances = ClientInstances(table)
    first = instances.at_work(bytes(16), {"client_id": "a"}, "c", NOW)
    set_configs(cluster, 16, "m", {"metrics": "org.a", "match": "client_id=a"})
    table.read(cluster.image)
    second = instances.at_work(bytes(16), {"client_id": "b"}, "c", NOW)
    assert second is not first
    assert second.subscription.metrics == ("org.a",)
