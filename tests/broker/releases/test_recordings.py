"""Each release as clients see it: the answers of a real broker, word for word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import odradek
from odradek.broker.config.broker_config import DEFAULTS_OF_ODRADEK
from odradek.broker.config.definition import keys_of
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.wire_client import WireConnection
from tests.broker.releases.generate import DEFINITION, RELEASES, ZOOKEEPER, recording

DAILY = ("3.6.2", "4.4.0")
RECORDED = [DEFINITION, *RELEASES, *(f"{name}-zookeeper" for name in ZOOKEEPER)]
TOPIC = "topic"
_VALUE, _SOURCE = 0, 2
_STATIC = 4
BETWEEN_BROKERS = {4, 5, 6, 7, 56, 58, 67}
"""What brokers of ZooKeeper mode ask each other: odradek's nodes do not speak over the network."""


class Asked:
    """A broker of one release, and what a real one of that release answered."""

    def __init__(self, name: str, broker: odradek.KafkaBroker, connection: WireConnection) -> None:
        self.broker = broker
        self.recorded = recording(name)
        self._connection = connection

    def request(self, request: Any, version: int) -> Any:
        return self._connection.receive(request, version, self._connection.send(request, version))


def recorded_releases() -> list[Any]:
    """The names of the recordings, as parameters: a daily round takes a few of them."""
    return [pytest.param(name, marks=() if name in DAILY else pytest.mark.long) for name in RECORDED]


@pytest.fixture(scope="module", params=recorded_releases())
def asked(request: pytest.FixtureRequest) -> Iterator[Asked]:
    version, _, mode = request.param.partition("-")
    config = {"odradek.kafka.version": version, "odradek.zookeeper": bool(mode)}
    with odradek.KafkaBroker(config=config, topics={TOPIC: 1}) as broker:
        host, port = broker.bootstrap_servers.split(":")
        with WireConnection(host, int(port)) as connection:
            yield Asked(request.param, broker, connection)


def test_api_versions_are_those_of_the_release(asked: Asked) -> None:
    told = {
        each.api_key: [each.min_version, each.max_version] for each in asked.request(ApiVersionsRequest(), 0).api_keys
    }
    recorded = {int(key): versions for key, versions in asked.recorded["api_versions"].items()}
    expected = {key: versions for key, versions in recorded.items() if key not in BETWEEN_BROKERS}
    assert told == expected


@pytest.mark.parametrize("version", [3, 4])
def test_features_are_those_of_the_release(asked: Asked, version: int) -> None:
    recorded = asked.recorded["api_versions_answers"][f"v{version}"]
    if recorded["error"]:
        old = asked.request(ApiVersionsRequest("me", "1"), 3)
        assert [each.max_version for each in old.api_keys if each.api_key == 18] == [version - 1]
        return
    response: ApiVersionsResponse = asked.request(ApiVersionsRequest("me", "1"), version)
    supported = {each.name: [each.min_version, each.max_version] for each in response.supported_features}
    levels = [(each.name, each.min_version_level, each.max_version_level) for each in response.finalized_features]
    assert supported == recorded["supported_features"]
    assert {name: [low, high] for name, low, high in levels} == recorded["finalized_features"]
    assert (response.finalized_features_epoch == 0) is (recorded["finalized_features_epoch"] == 0)


@pytest.mark.parametrize(("kind", "name", "scope"), [(4, "1", "broker"), (2, TOPIC, "topic")])
def test_configs_are_those_of_the_release(asked: Asked, kind: int, name: str, scope: str) -> None:
    version = asked.recorded["api_versions"]["32"][1]
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name)], include_synonyms=True)
    (result,) = asked.request(request, version).results
    told = {
        each.name: [
            each.value,
            int(each.read_only),
            each.config_source,
            int(each.is_sensitive),
            each.config_type,
            [synonym.name for synonym in each.synonyms],
        ]
        for each in result.configs
        if each.name not in keys_of("odradek")
    }
    recorded = asked.recorded["configs"][scope]
    assert set(told) == set(recorded)
    for config, row in recorded.items():
        if _STATIC not in (row[_SOURCE], told[config][_SOURCE]) and config not in DEFAULTS_OF_ODRADEK:
            assert told[config] == row, config


@pytest.mark.parametrize(("kind", "name", "scope"), [(32, "group", "group"), (16, "metrics", "client_metrics")])
def test_configs_of_newer_kinds_of_resources(asked: Asked, kind: int, name: str, scope: str) -> None:
    version = asked.recorded["api_versions"]["32"][1]
    recorded = asked.recorded["configs"][scope]
    (result,) = asked.request(DescribeConfigsRequest([DescribeConfigsResource(kind, name)]), version).results
    if "error" in recorded:
        assert (result.error_code, result.error_message) == (recorded["error"], recorded["message"])
    else:
        assert result.error_code == 0
        told = {each.name: each.value for each in result.configs if each.name not in _DEFAULTS_OF_GROUPS}
        if scope == "group":
            assert told == {config: row[_VALUE] for config, row in recorded.items() if config in told}
            assert {each.name for each in result.configs} == set(recorded)


_DEFAULTS_OF_GROUPS = {name.removeprefix("group.") for name in DEFAULTS_OF_ODRADEK}
