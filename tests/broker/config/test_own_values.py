"""Which configs a node may have of its own."""

import pytest

from odradek.broker.config import own_values
from odradek.broker.config.broker_config import BrokerConfig, ConfigError, ConfigSource, Synonym
from odradek.broker.config.definition import Update
from odradek.broker.config.keys import broker_keys
from odradek.broker.config.own_values import check_own_values
from odradek.broker.config.quorum_config import Quorum


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


def test_what_clients_change_goes_before_a_nodes_own_value() -> None:
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


def test_what_controllers_alone_act_on_is_theirs() -> None:
    name = "unclean.leader.election.interval.ms"
    check({3000: {name: "7"}}, separate=(3000,))
    check({1: {name: "7"}}, separate=(3000,))
    with pytest.raises(ConfigError, match=rf"^{name} has one value for all nodes"):
        check({1: {name: "7"}})


def test_a_node_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^node 3 has a configuration, but the nodes are 1, 2$"):
        check({3: {"num.partitions": "7"}})


@pytest.mark.parametrize("name", ["node.id", "odradek.release.version"])
def test_what_makes_the_process_is_for_no_node_alone(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} is not for node 2 alone: set it for the whole cluster$"):
        check({2: {name: "1"}})


def test_a_bad_value_of_a_node_is_refused_as_any_other() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value x for configuration num.partitions"):
        BrokerConfig(nodes={2: {"num.partitions": "x"}})


def test_what_is_read_again_is_a_config_that_only_a_start_can_change() -> None:
    for name in own_values._READ_AGAIN:
        assert broker_keys()[name].update is Update.READ_ONLY, name
        assert name not in own_values._OF_EACH_NODE, name
