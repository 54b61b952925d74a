from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig, ConfigError
from odradek.broker.config.listener_changes import check_listeners, layout_with

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


def test_what_cannot_be_read_is_no_requirement() -> None:
    with pytest.raises(ConfigError, match=r"^Error creating broker listeners from '\[x\]': Unable to parse x"):
        check_listeners(BrokerConfig(node_ids=[1]), 1, {"listeners": "x"})


def test_a_protocol_stays() -> None:
    config = BrokerConfig(INSIDE_OUTSIDE, node_ids=[1])
    check_listeners(config, 1, {MAP: "INSIDE:PLAINTEXT,OUTSIDE:SSL,NEW:PLAINTEXT"})
    with pytest.raises(ConfigError, match=r"cannot be updated for existing listener ListenerName\(OUTSIDE\)"):
        check_listeners(config, 1, {MAP: "INSIDE:PLAINTEXT,OUTSIDE:SASL_SSL"})


def test_other_configs_do_not_matter() -> None:
    config = BrokerConfig(node_ids=[1])
    config.static["listeners"] = "nonsense"
    check_listeners(config, 1, {"max.connections": "5"})
