"""The listeners of a node, and which changes of them a running broker accepts: as Kafka decides."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listener_layout import (
    NodeListeners,
    check_connections,
    check_listeners,
    layout_with,
    listeners_of,
    overrides_of,
)
from odradek.broker.config.listeners import Listener
from odradek.storage.java_properties import parse_properties
from tests.scenarios.listener_rules import recorded


def test_connection_overrides_by_address_are_read() -> None:
    assert overrides_of("") == {}
    assert overrides_of("127.0.0.1:5 , ::1:7,localhost: 3") == {"127.0.0.1": 5, "::1": 7, "localhost": 3}


@pytest.mark.parametrize("text", ["nonsense", "1.2.3.4:x", "1.2.3.4:", "1.2.3.4:5,"])
def test_connection_overrides_that_are_malformed_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"max\.connections\.per\.ip\.overrides"):
        overrides_of(text)


def test_connection_limit_0_needs_overrides() -> None:
    check_connections(0, "127.0.0.1:1")
    check_connections(1, "")
    with pytest.raises(ConfigError, match="can be set to zero only if"):
        check_connections(0, "")


RULES = recorded()

TAKEN_HERE = {
    "controller names missing no listener": "there is one controller, which needs no name",
    "listeners wildcard only": "clients are told the host that they dialled",
    "node none": "the first node is 1",
    "roles none": "every node is broker and controller",
    "voters none": "the controller is in the process",
    "broker only wildcard": "clients are told the host that they dialled",
}
REFUSED_HERE = {
    "bad port": "Kafka fails when it listens",
    "listener max conn bad type": "Kafka fails when it listens",
    "negative port": "Kafka fails when it listens",
    "roles controller": "every node is broker and controller",
    "voters more": "all nodes are in this process",
}
OTHER_WORDS = {
    "controller names missing": "No security protocol defined for listener CONTROLLER",
    "dup in map case": "stands twice",
    "map no colon": "Error parsing configuration property 'listener.security.protocol.map'",
    "override bad": "Error parsing configuration property 'max.connections.per.ip.overrides'",
    "override bad number": "Error parsing configuration property 'max.connections.per.ip.overrides'",
    "roles broker": "just the 'broker' role",
}


def _layout(text: str) -> NodeListeners:
    values = {name: value for name, value in parse_properties(text.encode()).items() if value != "<none>"}
    number = int(values.get("node.id", "1"))
    return listeners_of(BrokerConfig(values, node_ids=[number]))[number]


def _shown(listeners: list[Listener]) -> list[str]:
    return [f"{each.name} {each.protocol} {each.host} {each.port}" for each in listeners]


@pytest.mark.parametrize("case", [name for name, (_, answer) in RULES.items() if answer[0] == "taken"])
def test_listener_configs_that_kafka_takes_are_taken(case: str) -> None:
    properties, (_, listeners, advertised, controllers, inter_broker) = RULES[case]
    if case in REFUSED_HERE:
        with pytest.raises(ConfigError):
            _layout(properties)
        return
    layout = _layout(properties)
    assert layout.listeners[0].name == inter_broker
    names = {each.name for each in layout.controllers}
    own = [each for each in listeners.split(",") if each.split()[0] not in names]
    assert sorted(_shown(list(layout.listeners))) == sorted(own)
    told = layout.listeners if layout.advertised is None else list(layout.advertised.values())
    assert sorted(_shown(list(told))) == sorted(advertised.split(","))
    if "process.roles=broker\n" in properties:
        assert layout.controllers == layout.told_controllers == ()
    else:
        assert _shown(list(layout.told_controllers)) == controllers.split(",")


@pytest.mark.parametrize("case", [name for name, (_, answer) in RULES.items() if answer[0] == "refused"])
def test_listener_configs_that_kafka_refuses_are_refused_with_its_texts(case: str) -> None:
    properties, (_, message) = RULES[case]
    if case in TAKEN_HERE:
        assert _layout(properties).listeners
        return
    with pytest.raises(ConfigError) as refused:
        _layout(properties)
    if case in OTHER_WORDS:
        assert OTHER_WORDS[case] in str(refused.value)
    else:
        assert str(refused.value) == message.removeprefix("requirement failed: ")


def test_the_lists_of_differences_are_current() -> None:
    assert {name for name in TAKEN_HERE if RULES[name][1][0] != "refused"} == set()
    assert {name for name in REFUSED_HERE if RULES[name][1][0] != "taken"} == set()


def _of_nodes(count: int, values: Mapping[str, str]) -> dict[int, NodeListeners]:
    return listeners_of(BrokerConfig(values, node_ids=range(1, count + 1)))


_TWO = {"listener.security.protocol.map": "IN:PLAINTEXT,OUT:PLAINTEXT", "inter.broker.listener.name": "IN"}


def test_listener_config_with_one_value_serves_all_nodes() -> None:
    layouts = _of_nodes(3, {"listeners": "OUT://:19092,IN://127.0.0.1:0", **_TWO})
    found = [[(each.name, each.host, each.port) for each in layout.listeners] for layout in layouts.values()]
    assert found == [
        [("IN", "127.0.0.1", 0), ("OUT", "", 19092)],
        [("IN", "127.0.0.1", 0), ("OUT", "", 19093)],
        [("IN", "127.0.0.1", 0), ("OUT", "", 19094)],
    ]
    assert [layout.advertised for layout in layouts.values()] == [None] * 3


def test_each_node_may_have_its_own() -> None:
    layouts = _of_nodes(
        2,
        {
            "listeners": "IN://:9092,OUT://:19092,IN://:9192",
            "advertised.listeners": "IN://kafka-1:9092,IN://kafka-2:9092,OUT://localhost:5000",
            **_TWO,
        },
    )
    assert [[each.port for each in layout.listeners] for layout in layouts.values()] == [[9092, 19092], [9192, 19093]]
    told = [layout.advertised for layout in layouts.values()]
    assert [str(each["IN"]) for each in told if each] == ["IN://kafka-1:9092", "IN://kafka-2:9092"]
    assert [str(each["OUT"]) for each in told if each] == ["OUT://localhost:5000", "OUT://localhost:5001"]


@pytest.mark.parametrize(
    ("listeners", "why"),
    [
        ("IN://:9092,IN://:9093,OUT://:1", "IN 2 times"),
        ("IN://:9092,OUT://:9093", "OUT of node 1 and IN of node 2 would both listen on :9093"),
        ("IN://:65535,OUT://:1", "there is no port 65536"),
    ],
)
def test_listener_config_that_nodes_cannot_share_is_refused(listeners: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        _of_nodes(3, {"listeners": listeners, **_TWO})


def test_a_controller_of_its_own() -> None:
    voters = {"controller.quorum.voters": "3000@[::1]:9093", "controller.listener.names": "CTRL,OTHER"}
    layouts = _of_nodes(
        2, {"process.roles": "broker", "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CTRL:SSL", **voters}
    )
    assert list(layouts) == [1, 2, 3000]
    assert _shown(list(layouts[3000].controllers)) == ["CTRL SSL ::1 9093"]
    assert layouts[3000].told_controllers == layouts[3000].controllers
    assert layouts[3000].listeners == layouts[1].controllers == ()


def test_the_names_of_controllers_belong_to_those_that_vote() -> None:
    values = {
        "controller.quorum.voters": "1@a:1,3@c:3",
        "controller.listener.names": "C",
        "listeners": "IN://:1,C://:9",
    }
    protocols = "IN:PLAINTEXT,C:PLAINTEXT"
    named = {"listener.security.protocol.map": protocols, "inter.broker.listener.name": "IN"}
    layouts = _of_nodes(3, {**values, **named})
    assert [[each.port for each in layout.controllers] for layout in layouts.values()] == [[9], [], [10]]
    assert [[str(each) for each in layout.told_controllers] for layout in layouts.values()] == [
        ["C://a:1"],
        [],
        ["C://c:3"],
    ]
    with pytest.raises(ConfigError, match="of 2 controllers: a name stands there once, or for each; C 3 times"):
        _of_nodes(3, {**values, **named, "listeners": "IN://:1,C://:9,C://:19,C://:29"})


def test_listeners_that_are_not_advertised_stand_last() -> None:
    layout = _of_nodes(1, {"listeners": "OUT://:1,IN://:2", "advertised.listeners": "IN://a:2", **_TWO})[1]
    assert [each.name for each in layout.listeners] == ["IN", "OUT"]
    assert list(layout.advertised or ()) == ["IN"]


def test_listener_layout_without_configs_is_one_plain_listener() -> None:
    layout = _of_nodes(1, {})[1]
    assert not layout.given
    assert layout.advertised is None
    assert [each.name for each in layout.listeners] == ["PLAINTEXT"]
    assert layout.controllers == ()


def test_an_advertised_address_without_listeners() -> None:
    layout = _of_nodes(1, {"advertised.listeners": "PLAINTEXT://kafka:0"})[1]
    assert not layout.given
    assert [str(each) for each in (layout.advertised or {}).values()] == ["PLAINTEXT://kafka:0"]


MAP = "listener.security.protocol.map"
INSIDE_OUTSIDE = {
    "listeners": "INSIDE://:9092,OUTSIDE://:9192",
    MAP: "INSIDE:PLAINTEXT,OUTSIDE:SSL",
    "inter.broker.listener.name": "INSIDE",
}


def names(config: BrokerConfig, node_id: int, **values: str) -> list[str]:
    return [str(each) for each in layout_with(config, node_id, values).listeners]


def test_the_listeners_of_a_broker_with_dynamic_configs() -> None:
    config = BrokerConfig(INSIDE_OUTSIDE, node_ids=[1])
    assert names(config, 1) == ["INSIDE://:9092", "OUTSIDE://:9192"]
    assert names(config, 1, listeners="INSIDE://:9092") == ["INSIDE://:9092"]
    assert names(BrokerConfig(node_ids=[1]), 1, listeners="SSL://:1,PLAINTEXT://:2") == ["PLAINTEXT://:2", "SSL://:1"]


def test_each_of_several_nodes_has_its_own() -> None:
    config = BrokerConfig(INSIDE_OUTSIDE | {"advertised.listeners": "INSIDE://a:1"}, node_ids=[1, 2])
    assert names(config, 2) == ["INSIDE://:9093", "OUTSIDE://:9193"]
    advertised = layout_with(config, 2, {"listeners": "INSIDE://:7"}).advertised
    assert advertised is not None
    assert [str(each) for each in advertised.values()] == ["INSIDE://a:2"]


def test_an_advertised_listener_cannot_go() -> None:
    told = {"advertised.listeners": "OUTSIDE://a:1,INSIDE://a:2"}
    config = BrokerConfig(INSIDE_OUTSIDE | told, node_ids=[1])
    with pytest.raises(ConfigError, match=r"requirement failed: advertised.listeners listener names must be equal to"):
        check_listeners(config, 1, {"listeners": "INSIDE://:9092"})


def test_listener_config_that_cannot_be_parsed_is_refused_with_kafkas_text() -> None:
    with pytest.raises(ConfigError, match=r"^Error creating broker listeners from '\[x\]': Unable to parse x"):
        check_listeners(BrokerConfig(node_ids=[1]), 1, {"listeners": "x"})


def test_protocol_of_a_listener_cannot_change_while_a_broker_runs() -> None:
    config = BrokerConfig(INSIDE_OUTSIDE, node_ids=[1])
    check_listeners(config, 1, {MAP: "INSIDE:PLAINTEXT,OUTSIDE:SSL,NEW:PLAINTEXT"})
    with pytest.raises(ConfigError, match=r"cannot be updated for existing listener ListenerName\(OUTSIDE\)"):
        check_listeners(config, 1, {MAP: "INSIDE:PLAINTEXT,OUTSIDE:SASL_SSL"})


def test_listener_check_ignores_other_configs() -> None:
    config = BrokerConfig(node_ids=[1])
    config.static["listeners"] = "nonsense"
    check_listeners(config, 1, {"max.connections": "5"})
