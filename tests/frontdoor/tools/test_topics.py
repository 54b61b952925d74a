"""What `kafka-topics` and `kafka-broker-api-versions` do beyond the recorded conversation."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import odradek
from odradek.tools import topics
from tests.frontdoor.tools.running import run


@pytest.mark.long
def test_partitions_without_leader_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker(nodes=2) as broker:
        broker.create_topic("both", partitions=1, replication_factor=2)
        broker.create_topic("one", partitions=2, replication_factor=1)
        [lost] = [each.index for each in broker.topics["one"].partitions if each.leader == 2]
        first = broker.bootstrap_servers.split(",")[0]
        broker.kill_node(2)
        words = f"kafka-topics --bootstrap-server {first} --describe"
        assert run(f"{words} --unavailable-partitions") == 0
        [line] = capsys.readouterr().out.splitlines()
        assert line.startswith(f"\tTopic: one\tPartition: {lost}\tLeader: none\tReplicas: 2\tIsr: \tElr: 2\t")
        assert run(f"{words} --topic both --under-replicated-partitions") == 0
        [line] = capsys.readouterr().out.splitlines()
        assert line.startswith("\tTopic: both\tPartition: 0\tLeader: 1\t")
        assert line.endswith("\tIsr: 1\tElr: \tLastKnownElr: ")


def test_an_older_broker_tells_no_eligible_leaders(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker(config={"odradek.kafka.version": "3.7"}) as broker:
        broker.create_topic("orders")
        assert run(f"kafka-topics --bootstrap-server {broker.bootstrap_servers} --describe --topic orders") == 0
    assert capsys.readouterr().out.endswith("Isr: 1\tElr: N/A\tLastKnownElr: N/A\n")


def test_internal_topics_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        at = f"--bootstrap-server {broker.bootstrap_servers}"
        assert run(f"kafka-topics {at} --create --topic __consumer_offsets") == 0
        capsys.readouterr()
        assert run(f"kafka-topics {at} --list --exclude-internal") == 0
        assert capsys.readouterr().out == "\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [("--create", "[topic]"), ("--delete", "[topic]"), ("--alter --topic orders", "[partitions]")],
)
def test_topics_tool_names_what_an_action_needs(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders")
        assert run(f"kafka-topics --bootstrap-server {broker.bootstrap_servers} {words}") == 1
        assert capsys.readouterr().err == f'Missing required argument "{said}"\n'
        assert list(broker.topics) == ["orders"]


@pytest.mark.parametrize(
    ("key", "lowest", "highest", "line"),
    [
        (3, 0, 99, "Metadata(3): 0 to 99 [usable: 13]"),
        (3, 99, 99, "Metadata(3): 99 [unusable: node too new]"),
        (1, 0, 3, "Fetch(1): 0 to 3 [unusable: node too old]"),
        (999, 0, 1, "UNKNOWN(999): 0 to 1 [unusable: unknown]"),
    ],
)
def test_versions_that_are_not_known_here(key: int, lowest: int, highest: int, line: str) -> None:
    assert topics._api_line(SimpleNamespace(api_key=key, min_version=lowest, max_version=highest)) == line
