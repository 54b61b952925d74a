"""What the console producer and consumer do beyond the recorded conversation."""

from __future__ import annotations

import io
import sys

import pytest

import odradek
from odradek.pipeline.cluster_client import ClusterClient
from odradek.tools.console import Membership
from tests.frontdoor.tools.running import run


def produce(monkeypatch: pytest.MonkeyPatch, words: str, text: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return run(f"kafka-console-producer {words}")


def test_console_producer_goes_on_after_a_refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("state", config={"cleanup.policy": "compact"})
        words = f"--bootstrap-server {broker.bootstrap_servers} --topic state --property parse.key=true"
        assert produce(monkeypatch, f"{words} --property ignore.error=true", "no key\na\tb\n") == 0
        assert [record.value for record in broker.records("state")] == [b"b"]
    assert "Error when sending message to topic state, value: 6 bytes: INVALID_RECORD" in capsys.readouterr().err


def test_batches_are_compressed_as_the_option_says(monkeypatch: pytest.MonkeyPatch) -> None:
    with odradek.KafkaBroker() as broker:
        words = f"--broker-list {broker.bootstrap_servers} --topic orders --compression-codec gzip"
        assert produce(monkeypatch, words, "a\n") == 0
        assert [record.value for record in broker.records("orders")] == [b"a"]


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        ("--property parse.key=true", "x\n", "No key separator found on line number 1: 'x'"),
        ("--property parse.headers=true", "x\n", "No headers delimiter found on line number 1: 'x'"),
        ("--property schema.registry.url=x", "", "unknown property schema.registry.url; there are parse.key, "),
        ("--compression-codec brotli", "", "compression-codec: brotli is none of none, gzip, snappy, lz4, zstd"),
    ],
)
def test_a_producer_refuses_what_it_cannot_read(
    words: str, given: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with odradek.KafkaBroker() as broker:
        assert produce(monkeypatch, f"--bootstrap-server {broker.bootstrap_servers} --topic a {words}", given) == 1
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--topic a --offset 1", "The partition is required when offset is specified."),
        ("--topic a --partition 7", "topic a has no partition 7"),
        ("--topic a --partition 0 --offset -3", "The provided offset value '-3' is incorrect."),
        ("--topic a --isolation-level x", "isolation-level: x is neither"),
        ("", "Exactly one of the following arguments is required: [topic], [include]"),
    ],
)
def test_a_consumer_refuses_what_it_cannot_do(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("a")
        assert run(f"kafka-console-consumer --bootstrap-server {broker.bootstrap_servers} {words}".strip()) == 1
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.long
def test_aborted_records_are_left_out_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    from confluent_kafka import Producer

    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders")
        producer = Producer({**broker.client_config(), "transactional.id": "t"})
        producer.init_transactions()
        for value, end in ((b"lost", producer.abort_transaction), (b"kept", producer.commit_transaction)):
            producer.begin_transaction()
            producer.produce("orders", value)
            producer.flush()
            end()
        words = f"kafka-console-consumer --bootstrap-server {broker.bootstrap_servers} --topic orders --timeout-ms 1"
        for level, said in (("read_committed", "kept\n"), ("read_uncommitted", "lost\nkept\n")):
            assert run(f"{words} --from-beginning --isolation-level {level}") == 0
            assert capsys.readouterr().out == said


def test_times_that_the_broker_set_are_named_so(capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker() as broker:
        broker.create_topic("orders", config={"message.timestamp.type": "LogAppendTime"})
        broker.produce("orders", b"a")
        words = f"kafka-console-consumer --bootstrap-server {broker.bootstrap_servers} --topic orders --from-beginning"
        assert run(f"{words} --max-messages 1 --property print.timestamp=true") == 0
        assert capsys.readouterr().out.startswith("LogAppendTime:")


@pytest.mark.long
def test_console_consumers_share_partitions_and_inherit_them() -> None:
    often = {f"group.consumer.{name}.interval.ms": "1" for name in ("heartbeat", "min.heartbeat", "assignment")}
    with odradek.KafkaBroker(config=often) as broker, ClusterClient(broker.bootstrap_servers) as client:
        broker.create_topic("orders", partitions=4)
        first, second = (Membership(client, "readers", "orders") for _ in range(2))
        while sorted(first.beat()) != [0, 1, 2, 3]:
            pass
        first.commit({0: 5, 1: -1})
        assert first.committed([0, 1]) == {0: 5, 1: -1}
        while not len(first.beat()) == len(second.beat()) == 2:
            pass
        assert sorted([*first.beat(), *second.beat()]) == [0, 1, 2, 3]
        first.leave()
        while len(second.beat()) != 4:
            pass
        second.leave()
        assert broker.group("readers").members == ()
