"""ApiVersions: what is served, the features, and the client's software."""

from __future__ import annotations

import pytest

from odradek.broker.api.served import SERVED
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.metadata.image import METADATA_VERSION
from odradek.broker.requests.context import ConnectionInfo
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.generated.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from odradek.protocol.generated.messages.push_telemetry import PushTelemetryRequest
from tests.broker.conftest import Install, request_frame, response_of
from tests.broker.requests.test_dispatch import exchange
from tests.fakes.ask import ask
from tests.fakes.cluster import FakeCluster

ONLY_WITH_A_SUBSCRIPTION = {GetTelemetrySubscriptionsRequest.API_KEY, PushTelemetryRequest.API_KEY}
"""Told while somebody wants clients' metrics: see the tests of telemetry."""


def test_tells_what_is_registered_and_nothing_else(install: Install) -> None:
    answer = exchange(FakeCluster(), request_frame(ApiVersionsRequest(), 0))
    assert answer is not None
    _, response = response_of(ApiVersionsRequest(), 0, answer)
    told = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
    advertised = {key: (each.min_version, each.max_version) for key, each in SERVED.all().items()}
    advertised[0] = (0, advertised[0][1])  # of Produce Kafka tells versions that librdkafka asks for (KAFKA-18659)
    assert set(advertised) >= ONLY_WITH_A_SUBSCRIPTION
    assert told == {key: version for key, version in advertised.items() if key not in ONLY_WITH_A_SUBSCRIPTION}


@pytest.mark.parametrize(("version", "lowest"), [(3, 1), (4, 0)])
def test_api_versions_tells_features(version: int, lowest: int) -> None:
    request = ApiVersionsRequest(client_software_name="me", client_software_version="1.0")
    info = ConnectionInfo()
    answer = exchange(FakeCluster(), request_frame(request, version), info)
    assert answer is not None
    _, response = response_of(request, version, answer)
    assert response.error_code == 0
    supported = {each.name: each.min_version for each in response.supported_features}
    assert supported["metadata.version"] == 7
    assert ("kraft.version" in supported) is (lowest == 0)
    assert min(supported.values()) >= lowest
    finalized = {each.name: each.max_version_level for each in response.finalized_features}
    assert finalized["metadata.version"] == 33
    assert all(each.min_version_level == each.max_version_level for each in response.finalized_features)
    assert response.finalized_features_epoch > 0
    assert (info.client_software_name, info.client_software_version) == ("me", "1.0")


@pytest.mark.parametrize(
    ("name", "software_version"),
    [*((name, "1.0") for name in ("bad name!", "", "-x", "x-", "é")), ("me", "1.0!"), ("me", "")],
)
def test_software_names_are_checked(name: str, software_version: str) -> None:
    request = ApiVersionsRequest(client_software_name=name, client_software_version=software_version)
    info = ConnectionInfo()
    answer = exchange(FakeCluster(), request_frame(request, 3), info)
    assert answer is not None
    _, response = response_of(request, 3, answer)
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert response.api_keys == []
    assert info.client_software_name == ""


def test_the_response_class_is_what_the_registry_says() -> None:
    assert SERVED.all()[18].spec.response is ApiVersionsResponse


def test_each_node_lists_what_it_serves_itself() -> None:
    own = {2: {"unstable.api.versions.enable": "true", "unstable.feature.versions.enable": "true"}}
    cluster = Cluster(nodes=2, config=BrokerConfig(nodes=own))
    stable, unstable = (ask(cluster, ApiVersionsRequest("x", "1"), node_id=node_id) for node_id in (1, 2))
    versions = [{api.api_key: api.max_version for api in told.api_keys} for told in (stable, unstable)]
    levels = [{each.name: each.max_version for each in told.supported_features} for told in (stable, unstable)]

    assert versions[0] != versions[1]
    assert all(versions[1][key] >= newest for key, newest in versions[0].items())
    assert levels[0][METADATA_VERSION] < levels[1][METADATA_VERSION]


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "code"),
    [
        (None, -1, ErrorCode.NONE),
        ("its own", 1, ErrorCode.NONE),
        ("its own", 2, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("another", 1, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("its own", -1, ErrorCode.INVALID_REQUEST),
        (None, 1, ErrorCode.INVALID_REQUEST),
    ],
)
def test_api_versions_5_checks_the_cluster_and_the_node_that_a_client_expects(
    cluster_id: str | None, node_id: int, code: ErrorCode
) -> None:
    """Both or neither are named (KIP-1242)."""
    cluster = Cluster(nodes=2)
    expected = cluster.services.cluster_id if cluster_id == "its own" else cluster_id
    answer = ask(cluster, ApiVersionsRequest("x", "1", expected, node_id), 5)
    assert answer.error_code == code
