"""Kafka's `server.properties`, node ids and log directories."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.node_config import (
    broker_config,
    check_directories,
    given_node_id,
    log_directories,
    metadata_directory,
    own_log_directories,
    racks,
    read_config_file,
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
def test_racks(text: str | None, nodes: int, expected: list[str | None]) -> None:
    config = BrokerConfig({} if text is None else {"broker.rack": text}, node_ids=range(1, nodes + 1))
    assert list(racks(config).values()) == expected


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "server.properties"
    path.write_text(
        "# a broker\nnum.partitions = 3\nlog.retention.ms:5\nnum.partitions=4\nauto.create.topic.enable=true\n"
    )
    return path


def test_the_later_line_counts(file: Path) -> None:
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
