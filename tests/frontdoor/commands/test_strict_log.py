"""`odradek serve --strict`."""

from __future__ import annotations

import re
import signal

import pytest

from odradek.__main__ import main
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.facade.report.test_strictness import read, write
from tests.fakes.wire_client import WireClient
from tests.frontdoor.commands.test_serve import serving


def create(line: str, topic: str) -> None:
    found = re.search(r"127\.0\.0\.1:(\d+)", line)
    assert found, line
    with WireClient("127.0.0.1", int(found[1]), client_id="app") as client:
        client.request(MetadataRequest([MetadataRequestTopic(name=topic)], True), 12)


@pytest.mark.long
def test_strictness_is_logged_while_the_broker_runs() -> None:
    with serving("--strict") as (process, line):
        create(line, "order")
        assert process.stderr is not None
        assert "WARNING odradek.strict: topic 'order' was created automatically" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""  # told once


@pytest.mark.long
def test_what_came_last_is_logged_at_the_end_and_a_rule_can_be_off() -> None:
    with serving("--strict", "warn -transcript") as (process, line):
        create(line, "order")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert told.count("topic 'order' was created automatically") == 1
    with serving("--strict", "warn -auto-created") as (process, line):
        create(line, "order")
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")


def test_a_rule_that_is_asked_for() -> None:
    with serving("--topic", "orders:2", "--strict", "warn +partitioner-order") as (process, line):
        found = re.search(r"127\.0\.0\.1:(\d+)", line)
        assert found, line
        with WireClient("127.0.0.1", int(found[1]), client_id="app") as client:
            write(client, 0)
            write(client, 1)
            read(client, 0, 1)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert told.count("app wrote records without keys to several partitions of 'orders'") == 1


def test_strict_log_with_an_unknown_rule_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--strict", "warn -order"]) != 0
    assert "--strict: " in capsys.readouterr().err
    assert main(["serve", "--strict", "warn +partitioner-orders"]) != 0
    assert "did you mean '+partitioner-order'?" in capsys.readouterr().err
