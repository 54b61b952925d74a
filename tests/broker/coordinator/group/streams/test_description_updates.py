"""Topology descriptions, word for word as a real Kafka 4.4.0 with its plugin for them takes and shows them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.facade.threaded import KafkaBroker
from tests.broker.coordinator.group.test_conversations import PatientClock
from tests.fakes.vectors import recorded
from tests.scenarios.topology_descriptions import (
    CONFIG,
    CONVERSATIONS,
    PLUGIN,
    DescribingConversation,
    config_of,
    transcribe,
)


@pytest.mark.long("expired")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_as_kafka_says_it(name: str) -> None:
    with KafkaBroker(config=config_of(name), clock=PatientClock(), kafka_version="4.4") as broker:
        host, port = broker.bootstrap_servers.split(":")
        told, expected = transcribe(name, host, int(port)), recorded("topology_descriptions")[name]
        if name == "given_up":  # Kafka stores in a batch of its own that the description is being deleted
            told, expected = without_batches(told), without_batches(expected)
        assert told == expected
        assert broker.bugs == []


def without_batches(transcript: list[Any]) -> list[Any]:
    """The transcript, with only what the records say."""
    return [[what, [row[1:] for row in said] if what.startswith("log of ") else said] for what, said in transcript]


def talk_to(broker: KafkaBroker) -> DescribingConversation:
    host, port = broker.bootstrap_servers.split(":")
    return DescribingConversation(host, int(port))


def wanted(conversation: DescribingConversation) -> bool:
    """Whether the newest heartbeat was answered with the wish for a description."""
    answer: dict[str, bool] = conversation.transcript[-1][1]
    return answer["topologyDescriptionRequired"]


def test_asked_again_after_pauses_that_double() -> None:
    configs = {**CONFIG, "group.streams.max.session.timeout.ms": "90000000", "connections.max.idle.ms": "-1"}
    with KafkaBroker(config=configs) as broker, closing(talk_to(broker)) as c:
        c.configure(streams_session_timeout_ms="80000000")
        broker.clock.freeze()
        c.describing_start("m-a")
        assert wanted(c)
        for pause_s in (30, 60, 120, 240, 480, 960, 1920, 3600, 3600):
            broker.clock.advance(pause_s - 1)
            c.describing_beat("m-a", 2)
            assert not wanted(c)
            broker.clock.advance(1)
            c.describing_beat("m-a", 2)
            assert wanted(c)
        c.update()
        broker.clock.advance(7200)
        c.describing_beat("m-a", 2)
        assert not wanted(c)


def test_a_restart_loses_the_description_and_asks_nobody(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        group = c.group
    with KafkaBroker(data_dir=tmp_path, config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.group = group
        c.describing_beat("m-a", 2)
        assert not wanted(c)
        c.show_description()
        described = c.transcript[-1][1]["groups"][0]
        assert (described["topologyDescriptionStatus"], described["topologyDescription"]) == (1, None)


def test_a_member_with_an_older_topology_is_not_asked() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.start("m-a", c.plain(epoch=3))
        c.describing_start("m-b", topology=c.plain(epoch=2))
        assert [status["statusCode"] for status in c.transcript[-1][1]["status"]] == [0]
        assert not wanted(c)
        c.describing_start("m-c", topology=c.plain(epoch=3))
        assert wanted(c)


def test_a_copy_has_the_description() -> None:
    with KafkaBroker(config=CONFIG) as broker, closing(talk_to(broker)) as c:
        c.describing_start("m-a")
        c.update()
        with broker.fork() as fork, closing(talk_to(fork)) as other:
            other.group = c.group
            other.show_description()
            assert other.transcript[-1][1]["groups"][0]["topologyDescriptionStatus"] == 3


def test_other_plugins_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^plugin 'com\.example\.Mine' is not supported by odradek: .* or nothing$"):
        BrokerConfig({"group.streams.topology.description.plugin.class": "com.example.Mine"})


def test_older_releases_have_no_plugin() -> None:
    with pytest.raises(ConfigError, match=r"topology\.description\.plugin\.class"):
        BrokerConfig({"odradek.kafka.version": "4.3", "group.streams.topology.description.plugin.class": PLUGIN})
    with KafkaBroker(kafka_version="4.3") as broker, closing(talk_to(broker)) as c:
        c.start("m-a")
        assert c.transcript[-1][1]["errorCode"] == 0
