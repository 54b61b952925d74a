"""Names of versions are taken as Kafka takes them, and stand for message formats."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.protocol_versions import message_format, protocol_version


def test_versions_are_ordered_and_patch_releases_are_their_minor_release() -> None:
    names = ["0.8.2.1", "0.9.0", "0.10.0-IV0", "0.10.0", "0.10.2.2", "0.11.0", "1.1", "2.8-IV0", "2.8", "3.0", "3.9"]
    places = [protocol_version(name) for name in names]
    assert None not in places
    assert sorted(map(int, filter(None, places))) == [int(place or 0) for place in places]
    assert protocol_version("2.8.2") == protocol_version("2.8-IV1") == protocol_version("2.8")


@pytest.mark.parametrize("text", ["", "9.9", "0.10", "0.11", "1", "2.8-IV2", "x.2.8", "-1"])
def test_there_is_no_such_version(text: str) -> None:
    assert protocol_version(text) is None


@pytest.mark.parametrize(
    ("version", "kept"), [("0.8.0", 0), ("0.9.0.1", 0), ("0.10.0-IV0", 1), ("0.10.2", 1), ("0.11.0-IV0", 2), ("2.8", 2)]
)
def test_a_version_stands_for_a_message_format(version: str, kept: int) -> None:
    assert message_format(version) == kept


def formats(release: str, **configs: str) -> int:
    values = {name.replace("_", "."): value for name, value in configs.items()}
    config = BrokerConfig({"odradek.kafka.version": release, "odradek.zookeeper": "true", **values})
    return config.log_config({}).message_format


def test_the_format_counts_below_version_3_of_the_protocol() -> None:
    assert formats("2.8", log_message_format_version="0.10.2") == 1
    assert formats("3.6", log_message_format_version="0.10.2") == 2
    assert formats("3.6", log_message_format_version="0.9.0", inter_broker_protocol_version="2.8") == 0
    assert formats("3.6", inter_broker_protocol_version="2.8") == 2


def test_a_version_that_the_release_does_not_know_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Version `3\.0` is not a valid version"):
        formats("2.8", log_message_format_version="3.0")
    with pytest.raises(ConfigError, match=r"Version 3\.7 is not a valid version"):
        formats("3.6", inter_broker_protocol_version="3.7")
