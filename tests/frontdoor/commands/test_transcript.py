"""`odradek transcript`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from odradek.__main__ import main
from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.fakes.wire_client import WireClient


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("transcript") / "t.jsonl"
    with KafkaBroker(topics={"orders": 1}) as broker:
        with WireClient.at(broker.bootstrap_servers, client_id="cli") as client:
            client.request(MetadataRequest([MetadataRequestTopic(name="orders")]), 12)
            client.request(HeartbeatRequest("g", 1, "m"), 4)
        broker.requests.save(path)
    return path


def test_transcript_prints_a_line_for_each_request(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transcript", str(saved)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert "Metadata v12 cli orders -> 1 node, orders" in first
    assert "Heartbeat v4 cli group g generation 1 -> " in second


@pytest.mark.parametrize(
    ("words", "apis"),
    [
        (["--api", "Heartbeat"], ["Heartbeat"]),
        (["--group", "g", "--error", "any"], ["Heartbeat"]),
        (["--error", "none"], ["Metadata"]),
        (["--error", "NOT_COORDINATOR"], ["Heartbeat"]),
        (["--error", "UNKNOWN_MEMBER_ID"], []),
        (["--topic", "orders", "--client-id", "cli", "--node", "1", "--state", "answered"], ["Metadata"]),
    ],
)
def test_transcript_selects_requests(
    saved: Path, capsys: pytest.CaptureFixture[str], words: list[str], apis: list[str]
) -> None:
    assert main(["transcript", str(saved), "--json", *words]) == 0
    assert [json.loads(line)["api"] for line in capsys.readouterr().out.splitlines()] == apis


def test_transcript_shows_messages(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transcript", str(saved), "--messages", "--api", "Heartbeat"]) == 0
    _, request, response = capsys.readouterr().out.splitlines()
    assert json.loads(request.partition("request ")[2])["groupId"] == "g"
    assert json.loads(response.partition("response ")[2])["errorCode"] == 16


def test_transcript_reads_standard_input_and_writes_a_capture(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(saved.read_text()))
    target = tmp_path / "t.pcap"
    assert main(["transcript", "-", "--capture", str(target)]) == 0
    assert capsys.readouterr().out == f"2 requests in {target}\n"
    assert target.read_bytes()[:4] == b"\xd4\xc3\xb2\xa1"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["no-such-file"], "no-such-file: No such file or directory"),
        ([__file__], "line 1 is not a line of a transcript"),
        (["SAVED", "--api", "Fecth"], "did you mean 'Fetch'?"),
        (["SAVED", "--capture", "/no/such/folder/t.pcap"], "No such file or directory"),
    ],
)
def test_transcript_with_a_wrong_option_is_refused(
    saved: Path, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    assert main(["transcript", *[str(saved) if word == "SAVED" else word for word in words]]) == 2
    assert text in capsys.readouterr().err


def test_a_file_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "binary"
    path.write_bytes(b"\xff\xfe")
    assert main(["transcript", str(path)]) == 2
    assert "no text" in capsys.readouterr().err
