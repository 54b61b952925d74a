"""GetTelemetrySubscriptions and PushTelemetry: word for word as a real Kafka 4.4.0, and what only a test can see."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.api.served import handlers_of
from odradek.broker.cluster import Cluster
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import DEFAULT, release_of
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest
from odradek.protocol.generated.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs
from tests.fakes.vectors import OTHER, recorded
from tests.fakes.wire_client import WireClient
from tests.scenarios.telemetry_conversations import CONVERSATIONS, transcribe

METRICS = 16
TELEMETRY = {71, 72}


@pytest.mark.parametrize("release", [DEFAULT, OTHER])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_telemetry_is_answered_as_recorded(name: str, release: str) -> None:
    with KafkaBroker(kafka_version=release) as broker:
        assert transcribe(name, broker.bootstrap_servers) == recorded("telemetry_conversations")[name]
        assert broker.bugs == []


def advertised(cluster: Cluster) -> set[int]:
    return {row.api_key for row in ask(cluster, ApiVersionsRequest("client", "1"), 4).api_keys} & TELEMETRY


def test_advertised_while_there_is_a_subscription(tmp_path: Path) -> None:
    cluster = Cluster(data_dir=tmp_path)
    cluster.open_directory()
    assert advertised(cluster) == set()
    set_configs(cluster, METRICS, "m", {"metrics": "org.apache.kafka"})
    assert advertised(cluster) == TELEMETRY
    cluster.close_logs()

    later = Cluster(data_dir=tmp_path)
    later.open_directory()
    assert advertised(later) == TELEMETRY
    set_configs(later, METRICS, "m", {})
    assert advertised(later) == set()
    later.close_logs()


@pytest.mark.parametrize(("release", "keys"), [("3.6", set()), ("3.7", TELEMETRY), ("4.2", TELEMETRY)])
def test_older_releases_have_it_since_3_7(release: str, keys: set[int]) -> None:
    assert set(handlers_of(release_of(release)).advertised()) & TELEMETRY == keys


def test_a_start_and_idle_clients_make_no_telemetry() -> None:
    cluster = Cluster()
    ask(cluster, ApiVersionsRequest("client", "1"), 4)
    assert cluster.services.telemetry.made is None


def test_each_broker_knows_its_own_instances() -> None:
    with KafkaBroker(nodes=2) as broker:
        clients = [WireClient(*address.rsplit(":", 1)) for address in broker.bootstrap_servers.split(",")]  # type: ignore[arg-type]
        first = clients[0].request(GetTelemetrySubscriptionsRequest())
        again = GetTelemetrySubscriptionsRequest(first.client_instance_id)
        assert clients[0].request(again).error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        other = clients[1].request(again)
        assert (other.error_code, other.subscription_id) == (ErrorCode.NONE, first.subscription_id)
        for client in clients:
            client.close()


def test_a_push_that_is_taken_is_kept_and_one_that_is_refused_is_not() -> None:
    with KafkaBroker() as broker:
        broker.clock.freeze()
        with WireClient.at(broker.bootstrap_servers, client_id="pusher") as client:
            told = client.request(GetTelemetrySubscriptionsRequest())
            push = PushTelemetryRequest(told.client_instance_id, told.subscription_id, metrics=b"one")
            assert client.request(push).error_code == ErrorCode.NONE
            push.metrics = b"too soon"
            assert client.request(push).error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
            broker.clock.advance(minutes=5)
            push.metrics = b"two"
            assert client.request(push).error_code == ErrorCode.NONE
        pushes = broker.telemetry_pushes
        assert [(push.client_id, push.payload, push.terminating) for push in pushes] == [
            ("pusher", b"one", False),
            ("pusher", b"two", False),
        ]
        assert pushes[1].time_ms - pushes[0].time_ms == 300_000
        with pytest.raises(ValueError, match=r"the push of 'pusher' .* is not MetricsData"):
            _ = broker.client_metrics


def test_telemetry_max_bytes_is_obeyed() -> None:
    with KafkaBroker(config={"telemetry.max.bytes": 3}) as broker, WireClient.at(broker.bootstrap_servers) as client:
        told = client.request(GetTelemetrySubscriptionsRequest())
        assert told.telemetry_max_bytes == 3
        push = PushTelemetryRequest(told.client_instance_id, told.subscription_id, metrics=b"four")
        assert client.request(push).error_code == ErrorCode.TELEMETRY_TOO_LARGE


def test_subscribe_client_metrics_checks_configs_as_kafka_does() -> None:
    with KafkaBroker() as broker:
        broker.subscribe_client_metrics("all", {"metrics": ["org.a", "org.b"], "interval.ms": 1000})
        with WireClient.at(broker.bootstrap_servers) as client:
            told = client.request(GetTelemetrySubscriptionsRequest())
            assert (sorted(told.requested_metrics), told.push_interval_ms) == (["org.a", "org.b"], 1000)
            broker.subscribe_client_metrics("all", {})
            assert client.request(GetTelemetrySubscriptionsRequest()).requested_metrics == []
        with pytest.raises(KafkaError, match="interval must be between 100 and 3600000"):
            broker.subscribe_client_metrics("all", {"interval.ms": 1})
