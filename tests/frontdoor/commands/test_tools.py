"""`odradek tools` says what Kafka's own tools said (tests/vectors/tools-4.4.0.json)."""

from __future__ import annotations

import io
import json
import sys

import pytest

import odradek
from tests.frontdoor.tools.conversation import CONVERSATION, FILE, Said, plain
from tests.frontdoor.tools.running import run

SAID: list[Said] = json.loads(FILE.read_text())


def test_the_recording_is_of_the_whole_conversation() -> None:
    assert [(each["words"], each["given"]) for each in SAID] == CONVERSATION


@pytest.mark.long
def test_the_commands_print_what_kafkas_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with odradek.KafkaBroker(config={"node.id": "0", "num.partitions": "1"}) as broker:
        port = int(broker.bootstrap_servers.rpartition(":")[2])
        for each in SAID:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(each["given"].encode())))
            words = each["words"].replace("--timeout-ms 3000", "--timeout-ms 1")
            status = run(f"{words} --bootstrap-server {broker.bootstrap_servers}")
            assert plain(capsys.readouterr().out, port) == each["said"], each["words"]
            assert status == each["status"], each["words"]
