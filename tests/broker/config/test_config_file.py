"""Kafka's properties file: what it says, and what goes before it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.config_file import broker_config, read_config_file
from odradek.broker.config.definition import ConfigError


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
