"""Listeners, advertised listeners and their rules: as Kafka's own configuration takes or refuses them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listener_layout import NodeListeners, listeners_of
from odradek.broker.config.listeners import Listener
from odradek.storage.java_properties import parse_properties
from tests.scenarios.listener_rules import recorded

RULES = recorded()

TAKEN_HERE = {
    "controller names missing no listener": "there is one controller, which needs no name",
    "listeners wildcard only": "clients are told the host that they dialled",
    "node none": "the first node is 1",
    "roles none": "every node is broker and controller",
    "voters none": "the controller is in the process",
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
    "roles broker": "every node is broker and controller",
}


def _layout(text: str) -> NodeListeners:
    values = {name: value for name, value in parse_properties(text.encode()).items() if value != "<none>"}
    number = int(values.get("node.id", "1"))
    return listeners_of(BrokerConfig(values, node_ids=[number]))[number]


def _shown(listeners: list[Listener]) -> list[str]:
    return [f"{each.name} {each.protocol} {each.host} {each.port}" for each in listeners]


@pytest.mark.parametrize("case", [name for name, (_, answer) in RULES.items() if answer[0] == "taken"])
def test_what_kafka_takes(case: str) -> None:
    properties, (_, listeners, advertised, controllers, inter_broker) = RULES[case]
    if case in REFUSED_HERE:
        with pytest.raises(ConfigError):
            _layout(properties)
        return
    layout = _layout(properties)
    assert layout.inter_broker.name == inter_broker
    names = {each.name for each in layout.controllers}
    own = [each for each in listeners.split(",") if each.split()[0] not in names]
    assert sorted(_shown(list(layout.listeners))) == sorted(own)
    told = layout.listeners if layout.advertised is None else list(layout.advertised.values())
    assert sorted(_shown(list(told))) == sorted(advertised.split(","))
    assert _shown(list(layout.controllers)) == controllers.split(",")


@pytest.mark.parametrize("case", [name for name, (_, answer) in RULES.items() if answer[0] == "refused"])
def test_what_kafka_refuses(case: str) -> None:
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


def test_one_value_serves_all_nodes() -> None:
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
def test_what_several_nodes_cannot_share(listeners: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        _of_nodes(3, {"listeners": listeners, **_TWO})


def test_what_is_not_advertised_stands_last() -> None:
    layout = _of_nodes(1, {"listeners": "OUT://:1,IN://:2", "advertised.listeners": "IN://a:2", **_TWO})[1]
    assert [each.name for each in layout.listeners] == ["IN", "OUT"]
    assert list(layout.advertised or ()) == ["IN"]


def test_nothing_said_is_one_plain_listener() -> None:
    layout = _of_nodes(1, {})[1]
    assert not layout.given
    assert layout.advertised is None
    assert [each.name for each in layout.listeners] == ["PLAINTEXT"]
    assert layout.controllers == ()


def test_an_advertised_address_without_listeners() -> None:
    layout = _of_nodes(1, {"advertised.listeners": "PLAINTEXT://kafka:0"})[1]
    assert not layout.given
    assert [str(each) for each in (layout.advertised or {}).values()] == ["PLAINTEXT://kafka:0"]
