"""Configs of which each node has a value of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.node_values import (
    check_directories,
    given_node_id,
    log_directories,
    metadata_directory,
    racks,
)


@pytest.mark.parametrize(
    ("values", "number"),
    [({}, None), ({"node.id": "0"}, 0), ({"broker.id": "7"}, 7), ({"broker.id": "3", "node.id": "3"}, 3)],
)
def test_the_number(values: dict[str, str], number: int | None) -> None:
    assert given_node_id(BrokerConfig(values)) == number


def test_where_logs_lie() -> None:
    assert log_directories(BrokerConfig()) == []
    assert log_directories(BrokerConfig({"log.dir": "/a"})) == [Path("/a")]
    assert log_directories(BrokerConfig({"log.dir": "/a", "log.dirs": "/b, /c"})) == [Path("/b"), Path("/c")]
    with pytest.raises(ConfigError, match=r"log\.dirs=/a,b,/a/ names a directory twice"):
        log_directories(BrokerConfig({"log.dirs": "/a,b,/a/"}))
    assert metadata_directory(BrokerConfig()) is None
    assert metadata_directory(BrokerConfig({"metadata.log.dir": "/m"})) == Path("/m")


def test_several_nodes_have_one_directory() -> None:
    config = BrokerConfig({"metadata.log.dir": "/m"})
    check_directories(BrokerConfig(), [Path("/a"), Path("/b")], 1)
    check_directories(BrokerConfig(), [Path("/a")], 3)
    check_directories(config, [Path("/a")], 1)
    check_directories(config, [], 2)
    with pytest.raises(ConfigError, match=r"log\.dirs=/a,/b: 2 nodes share one directory"):
        check_directories(BrokerConfig(), [Path("/a"), Path("/b")], 2)
    with pytest.raises(ConfigError, match=r"metadata\.log\.dir: 2 nodes keep the metadata log in"):
        check_directories(config, [Path("/a")], 2)


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
def test_racks(text: str | None, nodes: int, expected: list[str | None]) -> None:
    config = BrokerConfig({} if text is None else {"broker.rack": text}, node_ids=range(1, nodes + 1))
    assert racks(config) == expected
