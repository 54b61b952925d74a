"""Kafka's `server.properties`, node ids and log directories."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from odradek.broker.config import node_config
from odradek.broker.config.broker_config import BrokerConfig, ConfigSource, Synonym
from odradek.broker.config.definition import ConfigError, Update
from odradek.broker.config.keys import broker_keys
from odradek.broker.config.node_config import (
    Quorum,
    broker_config,
    check_directories,
    check_own_values,
    check_roles,
    given_node_id,
    log_directories,
    metadata_directory,
    own_log_directories,
    quorum_of,
    racks,
    read_config_file,
    voters_of,
)
from tests.scenarios.listener_rules import recorded


@pytest.mark.parametrize(
    ("values", "number"),
    [({}, None), ({"node.id": "0"}, 0), ({"broker.id": "7"}, 7), ({"broker.id": "3", "node.id": "3"}, 3)],
)
def test_node_id_is_that_of_the_config(values: dict[str, str], number: int | None) -> None:
    assert given_node_id(BrokerConfig(values)) == number


def test_log_directories_are_those_of_the_config() -> None:
    assert log_directories(BrokerConfig()) == []
    assert log_directories(BrokerConfig({"log.dir": "/a"})) == [Path("/a")]
    assert log_directories(BrokerConfig({"log.dir": "/a", "log.dirs": "/b, /c"})) == [Path("/b"), Path("/c")]
    with pytest.raises(ConfigError, match=r"log\.dirs=/a,b,/a/ names a directory twice"):
        log_directories(BrokerConfig({"log.dirs": "/a,b,/a/"}))
    assert metadata_directory(BrokerConfig()) is None
    assert metadata_directory(BrokerConfig({"metadata.log.dir": "/m"})) == Path("/m")


def test_several_nodes_keep_the_metadata_in_their_log_directories() -> None:
    config = BrokerConfig({"metadata.log.dir": "/m"})
    check_directories(BrokerConfig(), [Path("/a"), Path("/b")], 3)
    check_directories(config, [Path("/a")], 1)
    check_directories(config, [], 2)
    with pytest.raises(ConfigError, match=r"metadata\.log\.dir: 2 nodes keep the metadata log in"):
        check_directories(config, [Path("/a")], 2)


def test_nodes_have_log_directories_of_their_own() -> None:
    def own(**dirs: str) -> dict[int, list[Path]]:
        nodes = {int(number[1:]): {"log.dirs": text} for number, text in dirs.items()}
        return own_log_directories(BrokerConfig({"log.dirs": "/x"}, nodes=nodes, node_ids=(1, 2)))

    assert own() == {}
    assert own(n1="/a,/b", n2="/c") == {1: [Path("/a"), Path("/b")], 2: [Path("/c")]}
    with pytest.raises(ConfigError, match=r"log\.dirs is set for node 1, so set it for every node"):
        own(n1="/a")
    with pytest.raises(ConfigError, match="name a directory twice"):
        own(n1="/a", n2="/a/")


@pytest.mark.parametrize(
    ("text", "nodes", "expected"),
    [
        (None, 2, [None, None]),
        ("eu-1", 2, ["eu-1", "eu-1"]),
        ("a, b,c", 3, ["a", "b", "c"]),
        ("a,b", 1, ["a,b"]),
        ("a,b", 3, ["a,b", "a,b", "a,b"]),
    ],
)
def test_each_node_has_its_rack(text: str | None, nodes: int, expected: list[str | None]) -> None:
    config = BrokerConfig({} if text is None else {"broker.rack": text}, node_ids=range(1, nodes + 1))
    assert list(racks(config).values()) == expected


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(
        "# a broker\nnum.partitions = 3\nlog.retention.ms:5\nnum.partitions=4\nauto.create.topic.enable=true\n"
    )
    return path


def test_config_file_with_a_key_twice_has_the_later_value(file: Path) -> None:
    assert read_config_file(file) == {
        "num.partitions": "4",
        "log.retention.ms": "5",
        "auto.create.topic.enable": "true",
    }


def test_values_go_before_the_file(file: Path) -> None:
    config = broker_config({"log.retention.ms": "7"}, file)
    assert (config.get("num.partitions"), config.get("log.retention.ms")) == (4, 7)
    assert broker_config({}, None).static == {}


def test_an_unknown_name_is_kept_with_a_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "odradek.broker.config"):
        config = broker_config({}, file)
    assert config.static["auto.create.topic.enable"] == "true"
    assert [record.getMessage() for record in caplog.records] == [
        "config 'auto.create.topic.enable' is unknown and has no effect (did you mean 'auto.create.topics.enable'?)"
    ]
    with pytest.raises(ConfigError, match="unknown config 'auto"):
        broker_config({"auto.create.topic.enable": "true"}, None)


def test_a_value_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="Not a number of type INT"):
        BrokerConfig(file={"num.partitions": "x"})
    assert BrokerConfig({"num.partitions": "1"}, file={"num.partitions": "x"}).get("num.partitions") == 1


def test_a_file_that_java_cannot_read_is_refused(file: Path) -> None:
    file.write_text("listeners=\\u12\n")
    with pytest.raises(ConfigError, match="Malformed"):
        read_config_file(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        broker_config({}, tmp_path / "none")


# -- Which configs a node may have of its own.


def check(nodes: dict[int, dict[str, str]], separate: tuple[int, ...] = (), **shared: str) -> None:
    given = {name.replace("_", "."): text for name, text in shared.items()}
    config = BrokerConfig(given, nodes=nodes, node_ids=(1, 2))
    check_own_values(config, Quorum(() if separate else (1, 2), dict.fromkeys(separate, ("a", 0)), True))


def test_a_nodes_own_value_goes_before_the_shared_one() -> None:
    config = BrokerConfig({"num.partitions": "3"}, nodes={2: {"num.partitions": "5"}}, node_ids=(1, 2))

    assert [config.get_int("num.partitions", node_id) for node_id in (1, 2)] == [3, 5]
    assert config.synonyms("num.partitions", 2) == [
        Synonym("num.partitions", "5", ConfigSource.STATIC_BROKER),
        Synonym("num.partitions", "1", ConfigSource.DEFAULT),
    ]


def test_node_config_takes_what_clients_changed_before_its_own() -> None:
    config = BrokerConfig(nodes={2: {"max.connections": "5"}}, node_ids=(1, 2))
    config.set_dynamic(None, {"max.connections": "7"})

    assert [config.get_int("max.connections", node_id) for node_id in (1, 2)] == [7, 7]


def test_the_cluster_has_what_all_brokers_say() -> None:
    nodes = {number: {"log.retention.ms": "5"} for number in (1, 2)}
    config = BrokerConfig({"log.retention.ms": "7"}, nodes=nodes, node_ids=(1, 2))
    check_own_values(config, Quorum((1, 2), {}, True))

    assert config.get_int("log.retention.ms") == 5
    assert config.log_config({}).retention_ms == 5


def test_a_listener_sees_the_values_of_its_node() -> None:
    config = BrokerConfig({"ssl.protocol": "TLSv1.2"}, nodes={2: {"ssl.protocol": "TLSv1.3"}}, node_ids=(1, 2))

    assert [config.for_listener("SSL", node_id).get("ssl.protocol") for node_id in (1, 2)] == ["TLSv1.2", "TLSv1.3"]
    assert config.for_listener("SSL", 2, {}).get("ssl.protocol") == "TLSv1.3"


@pytest.mark.parametrize("name", ["num.partitions", "broker.rack", "ssl.keystore.location", "num.io.threads"])
def test_a_broker_may_differ_in_what_is_its_own(name: str) -> None:
    check({2: {name: "7"}})


def test_a_listeners_config_counts_as_what_it_is_for_all() -> None:
    check({2: {"listener.name.ssl.ssl.keystore.location": "/b"}})
    with pytest.raises(ConfigError, match=r"^listener.name.a.connections.max.reauth.ms has one value for all nodes"):
        check({2: {"listener.name.a.connections.max.reauth.ms": "7"}})


def test_brokers_may_not_differ_in_what_the_cluster_has() -> None:
    with pytest.raises(ConfigError, match=r"^group.max.size has one value for all nodes, but it is 9 for node 1 and 7"):
        check({2: {"group.max.size": "7"}}, group_max_size="9")


def test_a_separate_controller_may_differ_in_what_brokers_alone_act_on() -> None:
    check({3000: {"group.max.size": "7", "log.retention.ms": "5"}}, separate=(3000,))


def test_separate_controllers_agree_among_themselves() -> None:
    with pytest.raises(ConfigError, match=r"^super.users has one value for all nodes"):
        check({3000: {"super.users": "User:a"}}, separate=(3000, 3001))


def test_a_separate_controller_may_not_differ_in_what_controllers_and_brokers_share() -> None:
    with pytest.raises(ConfigError, match=r"^delegation.token.max.lifetime.ms has one value for all nodes"):
        check({3000: {"delegation.token.max.lifetime.ms": "7"}}, separate=(3000,))


def test_configs_that_controllers_act_on_are_for_separate_controllers_alone() -> None:
    name = "unclean.leader.election.interval.ms"
    check({3000: {name: "7"}}, separate=(3000,))
    check({1: {name: "7"}}, separate=(3000,))
    with pytest.raises(ConfigError, match=rf"^{name} has one value for all nodes"):
        check({1: {name: "7"}})


def test_a_node_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^node 3 has a configuration, but the nodes are 1, 2$"):
        check({3: {"num.partitions": "7"}})


@pytest.mark.parametrize("name", ["node.id", "odradek.release.version"])
def test_node_config_refuses_process_configs_for_one_node(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} is not for node 2 alone: set it for the whole cluster$"):
        check({2: {name: "1"}})


def test_a_bad_value_of_a_node_is_refused_as_any_other() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value x for configuration num.partitions"):
        BrokerConfig(nodes={2: {"num.partitions": "x"}})


def test_what_is_read_again_is_a_config_that_only_a_start_can_change() -> None:
    for name in node_config._READ_AGAIN:
        assert broker_keys()[name].update is Update.READ_ONLY, name
        assert name not in node_config._OF_EACH_NODE, name


# -- roles and quorum


VOTERS = "controller.quorum.voters"
SERVERS = "controller.quorum.bootstrap.servers"
BROKERS_ONLY = {"process.roles": "broker", "controller.listener.names": "CONTROLLER"}


def quorum(values: Mapping[str, str], node_ids: Sequence[int] = (1,)) -> Quorum:
    return quorum_of(BrokerConfig(values, node_ids=node_ids))


def test_quorum_voters_are_read_from_their_text() -> None:
    assert voters_of(("1@kafka-1:9093", "2@[::1]:9093")) == {1: ("kafka-1", 9093), 2: ("::1", 9093)}
    assert voters_of(()) == {}


def test_every_node_votes_unless_voters_are_named() -> None:
    assert quorum({}, (1, 2, 3)) == Quorum((1, 2, 3), {}, static=True)
    assert quorum({VOTERS: "1@a:1,2@b:2"}, (1, 2)) == Quorum((1, 2), {}, static=True)
    assert quorum({VOTERS: "2@b:2"}, (1, 2, 3)) == Quorum((2,), {}, static=True)
    assert quorum({SERVERS: "a:1"}, (1, 2)) == Quorum((1, 2), {}, static=False)


def test_quorum_voters_that_no_node_runs_are_refused() -> None:
    with pytest.raises(ConfigError, match="names node 2, which this process does not run"):
        quorum({VOTERS: "1@a:1,2@b:2"})
    with pytest.raises(ConfigError, match="the node id 3 must be included"):
        quorum({VOTERS: "1@a:1,2@b:2"}, (3, 4))


def test_quorum_of_separate_controllers_has_no_broker() -> None:
    named = quorum({**BROKERS_ONLY, VOTERS: "3000@a:1,3001@[::1]:2"}, (1, 2))
    assert named == Quorum((), {3000: ("a", 1), 3001: ("::1", 2)}, static=True)
    addressed = quorum({**BROKERS_ONLY, SERVERS: "a:1,b:2"}, (1, 2))
    assert addressed == Quorum((), {3000: ("a", 1), 3001: ("b", 2)}, static=False)
    with pytest.raises(ConfigError, match="node 3000 is a broker"):
        quorum({**BROKERS_ONLY, SERVERS: "a:1"}, (3000,))


def test_controllers_of_their_own_beside_nodes_that_are_both() -> None:
    config = BrokerConfig({VOTERS: "1@a:1,3@b:2"}, nodes={3: {"process.roles": "controller"}}, node_ids=(1, 2))
    assert quorum_of(config) == Quorum((1,), {3: ("b", 2)}, static=True)


def test_process_roles_without_a_broker_are_refused() -> None:
    with pytest.raises(ConfigError, match="roles=controller is not supported"):
        check_roles(BrokerConfig({"process.roles": "controller"}))


@pytest.mark.parametrize("release", ["4.3", "4.4"])
def test_node_id_and_broker_id_that_differ_are_refused(release: str) -> None:
    _, (refused, why) = recorded(release)["node id differs"]
    assert refused == "refused"
    with pytest.raises(ConfigError) as raised:
        check_roles(BrokerConfig({"odradek.kafka.version": release, "node.id": "1", "broker.id": "2"}))
    assert str(raised.value) == why
