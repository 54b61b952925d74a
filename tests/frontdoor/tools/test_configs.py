"""What `kafka-configs` does beyond the recorded conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

import odradek
from odradek.container.storage import formatted
from tests.frontdoor.tools.running import run


def test_users_in_zookeeper_are_kept_for_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_FORMAT_FILE", str(tmp_path / "kept"))
    words = "kafka-configs --zookeeper localhost:2181 --alter --entity-type users --entity-name alice --add-config"
    for _ in range(2):
        assert run(f"{words} SCRAM-SHA-256=[iterations=8192,password=a],SCRAM-SHA-512=[password=b]") == 0
    assert formatted()["scram"] == [
        "SCRAM-SHA-256=[name=alice,iterations=8192,password=a]",
        "SCRAM-SHA-512=[name=alice,password=b]",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--describe --entity-type clients", "entity-type clients: this kafka-configs is odradek's and knows topics"),
        ("--alter --describe --topic a", "Command must include exactly one action"),
        ("--alter --entity-type topics --add-config a=1", "An entity name must be specified"),
        ("--alter --topic a", "At least one of --add-config or --delete-config"),
        ("--alter --topic a --add-config x", "Invalid entity config"),
        ("--alter --user a --add-config producer_byte_rate=1", "producer_byte_rate: of users this kafka-configs"),
        ("--alter --user a --add-config SCRAM-SHA-256=[salt=x]", "SCRAM-SHA-256: expected [iterations=N,password="),
        ("--describe --topic a --zookeeper z:2181", "zookeeper is not a recognized option: give --bootstrap-server"),
    ],
)
def test_configs_tool_refuses_what_cannot_be_by_name(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        assert run(f"kafka-configs --bootstrap-server {broker.bootstrap_servers} {words}") == 1
    assert capsys.readouterr().err.startswith(said)


def test_configs_tool_tells_what_the_broker_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders")
        words = f"kafka-configs --bootstrap-server {broker.bootstrap_servers} --alter --topic orders"
        assert run(f"{words} --add-config nope=1") == 1
    assert capsys.readouterr().err == "Error while executing config command: Unknown topic config name: nope\n"


def test_all_configs_of_all_topics(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders")
        broker.create_topic("state")
        words = f"kafka-configs --bootstrap-server {broker.bootstrap_servers} --describe --entity-type"
        assert run(f"{words} topics --all") == 0
        said = capsys.readouterr().out
        assert run(f"{words} brokers --entity-default --all") == 0
        assert capsys.readouterr().out.startswith("All configs for brokers in the cluster are:\n")
    assert (
        "All configs for topic orders are:\n  cleanup.policy=delete sensitive=false synonyms={DEFAULT_CONFIG:" in said
    )
    assert "All configs for topic state are:\n" in said
