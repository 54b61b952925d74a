"""The configuration APIs against what a real broker describes, and what the recordings do not cover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek.broker.api.configs import own_configs
from odradek.broker.cluster import Cluster
from odradek.broker.config.broker_config import DEFAULTS_OF_ODRADEK, BrokerConfig
from odradek.broker.config.definition import keys_of
from odradek.broker.releases.release import DEFAULT as NEWEST
from odradek.broker.security.principal import Principal
from odradek.protocol.generated.messages import alter_configs as alter
from odradek.protocol.generated.messages import incremental_alter_configs as incremental
from odradek.protocol.generated.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.generated.messages.list_config_resources import ListConfigResourcesRequest
from odradek.protocol.json_form import to_json
from tests.fakes.acls import SECURED
from tests.fakes.ask import ask
from tests.fakes.configs import set_configs
from tests.fakes.vectors import OTHER, recorded

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
DEFAULT = 5


def real(release: str) -> dict[int, list[dict[str, Any]]]:
    """Everything that a real node describes of itself, a plain topic, a group and a client-metrics subscription."""
    return {result["resourceType"]: result["configs"] for result in recorded("describe_configs", release)["results"]}


@pytest.fixture(params=[NEWEST, OTHER])
def release(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def described(cluster: Cluster, kind: int, name: str, keys: list[str] | None = None, **options: Any) -> Any:
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, keys)], **options)
    [result] = ask(cluster, request).results
    return result


@pytest.mark.parametrize(("kind", "name"), [(TOPIC, "a"), (BROKER, "1"), (GROUP, "g"), (METRICS, "m")])
def test_every_default_is_described_as_by_kafka(kind: int, name: str, release: str) -> None:
    cluster = Cluster(config={"odradek.kafka.version": release})
    cluster.create_topic("a")
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, None)], include_synonyms=True)
    ours = {config["name"]: config for config in to_json(ask(cluster, request), 4)["results"][0]["configs"]}
    expected = {config["name"]: config for config in real(release)[kind]}
    assert set(ours) == set(expected)
    for key, config in expected.items():
        is_default = config["configSource"] == DEFAULT and ours[key]["configSource"] == DEFAULT
        behind = f"group.{key}" if kind == GROUP else key
        if is_default and behind not in DEFAULTS_OF_ODRADEK:
            assert ours[key] == config
        else:
            shape = ("readOnly", "isSensitive", "configType")
            assert [ours[key][field] for field in shape] == [config[field] for field in shape]


@pytest.mark.parametrize(("kind", "name"), [(TOPIC, "a"), (BROKER, "1"), (GROUP, "g"), (METRICS, "m")])
def test_configs_come_in_kafkas_order(kind: int, name: str, release: str) -> None:
    cluster = Cluster(config={"odradek.kafka.version": release})
    cluster.create_topic("a")
    names = [config.name for config in described(cluster, kind, name).configs]
    assert names == [config["name"] for config in real(release)[kind]]


def test_documentation_is_ours_and_only_on_request() -> None:
    cluster = Cluster()
    [quiet] = described(cluster, BROKER, "1", ["num.partitions"]).configs
    [told] = described(cluster, BROKER, "1", ["num.partitions"], include_documentation=True).configs
    assert quiet.documentation is None
    assert told.documentation == keys_of("broker")["num.partitions"].documentation


@pytest.mark.parametrize(
    ("kind", "name", "code", "message"),
    [
        (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
        (TOPIC, "x", 3, ""),
        (GROUP, "", 42, "Group name must not be empty"),
        (METRICS, "", 42, "Client metrics subscription name must not be empty"),
        (LOGGER, "99", 42, "Unexpected broker id, expected 1 but received 99"),
        (LOGGER, "", 42, "Broker id must not be empty"),
        (LOGGER, "abc", 42, "Broker id must be an integer, but it is: abc"),
        (BROKER, "2", 42, "Unexpected broker id, expected 1 or empty string, but received 2"),
    ],
)
def test_resources_that_cannot_be_described(kind: int, name: str, code: int, message: str) -> None:
    result = described(Cluster(nodes=2), kind, name)
    assert (result.error_code, result.error_message, result.configs) == (code, message, [])


def test_each_node_describes_itself() -> None:
    cluster = Cluster(nodes=2)
    cluster.nodes[2].first.port = 9093
    request = DescribeConfigsRequest([DescribeConfigsResource(BROKER, "2", ["node.id", "listeners"])])
    [result] = ask(cluster, request, node_id=2).results
    assert {config.name: (config.value, config.config_source) for config in result.configs} == {
        "node.id": ("2", 4),
        "listeners": ("PLAINTEXT://127.0.0.1:9093", 4),
    }


def test_no_key_means_every_key() -> None:
    cluster = Cluster()
    cluster.create_topic("a")
    assert len(described(cluster, TOPIC, "a", []).configs) == 37


def test_loggers_show_their_level() -> None:
    configs = {config.name: config for config in described(Cluster(), LOGGER, "1").configs}
    assert "root" in configs
    assert {config.config_source for config in configs.values()} == {6}
    assert described(Cluster(), LOGGER, "1", ["no.such"]).configs == []


def test_the_cluster_wide_default_lists_what_is_set() -> None:
    cluster = Cluster()
    [config] = described(cluster, BROKER, "", include_synonyms=True).configs
    assert (config.name, config.value, config.config_source) == ("min.insync.replicas", "1", 3)
    assert [(s.name, s.value, s.source) for s in config.synonyms] == [("min.insync.replicas", "1", 3)]


def test_static_settings_show_their_source() -> None:
    cluster = Cluster(config={"num.partitions": "7"})
    [config] = described(cluster, BROKER, "1", ["num.partitions"], include_synonyms=True).configs
    assert (config.value, config.config_source, config.read_only) == ("7", 4, True)
    assert [(s.value, s.source) for s in config.synonyms] == [("7", 4), ("1", 5)]


# -- changes


def test_a_resource_named_twice_is_refused_in_both_apis() -> None:
    cluster = Cluster()
    cluster.create_topic("a")
    twice = "Each resource must appear at most once."
    old = [alter.AlterConfigsResource(TOPIC, "a", [alter.AlterableConfig("retention.ms", "1")])] * 2
    response = ask(cluster, alter.AlterConfigsRequest(old))
    assert [(each.error_code, each.error_message) for each in response.responses] == [(42, twice)] * 2
    new = [incremental.AlterConfigsResource(TOPIC, "a", [incremental.AlterableConfig("retention.ms", 0, "1")])] * 2
    response = ask(cluster, incremental.IncrementalAlterConfigsRequest(new))
    assert [(each.error_code, each.error_message) for each in response.responses] == [(42, twice)] * 2
    assert described(cluster, TOPIC, "a", ["retention.ms"]).configs[0].value == "604800000"


def test_alter_configs_refuses_one_resource_and_changes_the_others() -> None:
    cluster = Cluster()
    cluster.create_topic("a")
    resources = [
        incremental.AlterConfigsResource(TOPIC, name, [incremental.AlterableConfig("retention.ms", 0, "5")])
        for name in ("x", "a")
    ]
    response = ask(cluster, incremental.IncrementalAlterConfigsRequest(resources))
    assert [(each.resource_name, each.error_code) for each in response.responses] == [("x", 3), ("a", 0)]
    [config] = described(cluster, TOPIC, "a", ["retention.ms"], include_synonyms=True).configs
    assert (config.value, config.config_source) == ("5", 1)


@pytest.mark.parametrize(
    ("kind", "name", "key", "text"),
    [
        (METRICS, "m", "interval.ms", "Cluster authorization failed."),
        (BROKER, "1", "num.io.threads", None),
        (BROKER, "1", "min.insync.replicas", None),
    ],
)
def test_alter_configs_without_the_right_is_refused_before_the_values_are_checked(
    kind: int, name: str, key: str, text: str | None
) -> None:
    resource = incremental.AlterConfigsResource(kind, name, [incremental.AlterableConfig(key, 0, "8")])
    request = incremental.IncrementalAlterConfigsRequest([resource])
    cluster = Cluster(config=SECURED)
    [told] = ask(cluster, request, principal=Principal("User", "alice")).responses
    assert (told.error_code, told.error_message) == (31, text)
    assert cluster.image.configs_of(kind, name) == {}


# -- ListConfigResources


def test_resources_are_listed_by_kind() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("a")
    set_configs(cluster, GROUP, "g", {"consumer.session.timeout.ms": "50000"})
    set_configs(cluster, METRICS, "m", {"interval.ms": "5000"})

    def listed(version: int, *kinds: int) -> set[tuple[int, str]]:
        response = ask(cluster, ListConfigResourcesRequest(list(kinds)), version)
        return {(each.resource_type, each.resource_name) for each in response.config_resources}

    assert listed(0) == {(METRICS, "m")}
    nodes = {(kind, name) for kind in (BROKER, LOGGER) for name in ("1", "2")}
    assert listed(1) == {(TOPIC, "a"), (GROUP, "g"), (METRICS, "m")} | nodes
    assert listed(1, TOPIC, GROUP) == {(TOPIC, "a"), (GROUP, "g")}
    assert ask(cluster, ListConfigResourcesRequest([TOPIC, 99])).error_code == 35


def test_each_node_describes_its_own_values() -> None:
    own = {1: {"num.io.threads": "3"}, 2: {"num.io.threads": "4", "broker.rack": "b"}}
    cluster = Cluster(nodes=2, config=BrokerConfig({"num.io.threads": "5"}, nodes=own))
    shown = []
    for node_id in (1, 2):
        request = DescribeConfigsRequest(
            [DescribeConfigsResource(BROKER, str(node_id), ["num.io.threads", "broker.rack"])]
        )
        [result] = ask(cluster, request, node_id=node_id).results
        shown.append({config.name: (config.value, config.config_source) for config in result.configs})

    assert shown == [
        {"broker.rack": (None, 5), "num.io.threads": ("3", 4)},
        {"broker.rack": ("b", 4), "num.io.threads": ("4", 4)},
    ]


# -- What a node's place in the cluster says of its configs.


def test_own_configs_of_a_node_without_configs_name_its_id_listeners_and_roles() -> None:
    cluster = Cluster(nodes=2)
    cluster.nodes[2].first.port = 9093
    assert own_configs(cluster.nodes[2]) == {
        "broker.id": "2",
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:9093",
        "node.id": "2",
        "process.roles": "broker,controller",
    }


def test_rack_address_and_directory_show(tmp_path: Path) -> None:
    cluster = Cluster(data_dir=tmp_path)
    cluster.nodes[1].rack = "r1"
    cluster.nodes[1].first.advertised = ("kafka.test", 7)
    own = own_configs(cluster.nodes[1])
    assert own["broker.rack"] == "r1"
    assert own["advertised.listeners"] == "PLAINTEXT://kafka.test:7"
    assert own["log.dirs"] == str(tmp_path)


def test_node_id_numbers_the_first_node(tmp_path: Path) -> None:
    cluster = Cluster(nodes=3, config={"node.id": "0"}, data_dir=tmp_path)
    assert list(cluster.nodes) == [0, 1, 2]
    assert cluster.controller_id == 0
    assert own_configs(cluster.nodes[2])["node.id"] == "2"
    cluster.open_directory()
    cluster.close_logs()
    assert "node.id=0" in (tmp_path / "node-0" / "meta.properties").read_text().splitlines()
