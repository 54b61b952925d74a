"""What `kafka-consumer-groups` does beyond the recorded conversation."""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Consumer

import odradek
from tests.frontdoor.tools.running import run


@pytest.mark.long
def test_groups_tool_refuses_to_delete_a_group_with_members(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders", partitions=2)
        broker.produce("orders", b"a", partition=1)
        consumer = Consumer({**broker.client_config(), "group.id": "readers", "client.id": "me"})
        consumer.subscribe(["orders"])
        while len(consumer.assignment()) != 2:
            consumer.poll(0.05)
        words = f"kafka-consumer-groups --bootstrap-server {broker.bootstrap_servers}"
        assert run(f"{words} --describe --all-groups") == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
        assert [row[:6] for row in rows] == [
            ["readers", "orders", "0", "-", "0", "-"],
            ["readers", "orders", "1", "-", "1", "-"],
        ]
        assert all(re.fullmatch(r"me-[\w-]+", row[6]) and row[7:] == ["/127.0.0.1", "me"] for row in rows)
        assert run(f"{words} --describe --group readers --members") == 0
        assert capsys.readouterr().out.splitlines()[-1].split()[2:] == ["/127.0.0.1", "me", "2"]
        assert run(f"{words} --describe --group readers --state") == 0
        assert capsys.readouterr().out.splitlines()[-1].split()[3:] == ["range", "Stable", "1"]
        assert run(f"{words} --list --state") == 0
        assert capsys.readouterr().out.splitlines()[-1].split() == ["readers", "Stable"]
        assert run(f"{words} --group readers --topic orders --reset-offsets --to-earliest --execute") == 1
        assert "can only be reset if the group 'readers' is inactive, but the current state is Stable" in (
            capsys.readouterr().out
        )
        assert run(f"{words} --delete --group readers") == 0
        assert "GroupNotEmptyException: The group is not empty." in capsys.readouterr().out
        consumer.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--describe", "Option [describe] takes one of these options: [all-groups], [group]"),
        ("--group g --reset-offsets", "Option [reset-offsets] takes one of these options: to-earliest, "),
        ("--group g --reset-offsets --to-latest", "One of the reset scopes should be defined: --all-topics, --topic."),
    ],
)
def test_groups_tool_names_what_is_missing(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        assert run(f"kafka-consumer-groups --bootstrap-server {broker.bootstrap_servers} {words}") == 1
    assert capsys.readouterr().err.startswith(said)
