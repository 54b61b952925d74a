"""`odradek decode` and `odradek encode` on recorded frames and on bad lines."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from odradek.__main__ import main
from odradek.commands.codec import run_decode, run_encode
from tests.protocol.recordings import recorded


def run(command: Any, kind: str, *lines: Any) -> tuple[int, list[Any]]:
    out = io.StringIO()
    text = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    status = command(kind, text, out)
    return status, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["request", "response"])
def test_recorded_frames_there_and_back(kind: str) -> None:
    exchanges = [exchange for exchange in recorded("corpus") if exchange[f"{kind}_hex"]]
    frames = [
        {
            "key": exchange["key"],
            "version": exchange.get(f"{kind}_version", exchange["version"]),
            "hex": exchange[f"{kind}_hex"],
        }
        for exchange in exchanges
    ]
    status, decoded = run(run_decode, kind, *frames)
    assert status == 0
    for exchange, answer in zip(exchanges, decoded, strict=True):
        assert with_record_sizes(answer["body"]) == exchange[f"{kind}_json"]
    assert run(run_encode, kind, *decoded) == (0, frames)


def with_record_sizes(form: Any) -> Any:
    """The form of the recordings, which show how many bytes of records there are."""
    if isinstance(form, list):
        return [with_record_sizes(element) for element in form]
    if not isinstance(form, dict):
        return form
    if isinstance(form.get("records"), str):
        form = {("recordsSizeInBytes" if name == "records" else name): value for name, value in form.items()}
        form["recordsSizeInBytes"] = len(bytes.fromhex(form["recordsSizeInBytes"]))
    return {name: with_record_sizes(value) for name, value in form.items()}


REQUEST = "0003 0001 00000005 0002 6964 00000001 0001 74"
DECODED = {
    "key": 3,
    "version": 1,
    "header": {"requestApiKey": 3, "requestApiVersion": 1, "correlationId": 5, "clientId": "id"},
    "body": {"topics": [{"name": "t"}]},
}


def test_codec_prints_messages_and_encodes_them_again() -> None:
    hex_ = REQUEST.replace(" ", "")
    assert run(run_decode, "request", {"key": 3, "version": 1, "hex": hex_}) == (0, [DECODED])
    assert run(run_decode, "request", {"hex": hex_}) == (0, [DECODED])
    assert run(run_encode, "request", {"header": DECODED["header"], "body": DECODED["body"]}) == (
        0,
        [{"key": 3, "version": 1, "hex": hex_}],
    )


def test_unknown_tags_and_trailing_bytes_survive() -> None:
    frame = "0003 000c 00000005 ffff 010701aa 02 00000000000000000000000000000000 02 74 00 00 00 0108 02bbcc eeff"
    line = {"key": 3, "version": 12, "hex": frame.replace(" ", "")}
    status, [decoded] = run(run_decode, "request", line)
    assert status == 0
    assert decoded["header"]["unknownTaggedFields"] == [{"tag": 7, "data": "qg=="}]
    assert decoded["body"]["unknownTaggedFields"] == [{"tag": 8, "data": "u8w="}]
    assert decoded["trailing"] == "eeff"
    assert run(run_encode, "request", decoded) == (0, [line])


def test_api_versions_of_a_version_to_come() -> None:
    request = {"key": 18, "version": 9, "hex": "0012000900000005ffff00" + "0261" + "0262" + "00" + "ffffffff" + "00"}
    status, [decoded] = run(run_decode, "request", request)
    software = {"clientSoftwareName": "a", "clientSoftwareVersion": "b"}
    assert (status, decoded["body"]) == (0, {**software, "clusterId": None, "nodeId": -1})
    assert run(run_encode, "request", decoded) == (0, [request])
    response = {"key": 18, "version": 9, "hex": "00000005" + "0023" + "00000001" + "001200000004"}
    status, [decoded] = run(run_decode, "response", response)
    assert decoded["body"] == {"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]}
    assert run(run_encode, "response", decoded) == (0, [response])


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "a JSON object is needed"),
        ({}, '"hex" is missing'),
        ({"hex": "0g"}, '"hex" is not hex'),
        ({"hex": "00"}, "truncated"),
        ({"hex": "03e7000000000000ffff"}, "unknown API key 999"),
        ({"hex": "0003006300000000ffff00"}, "versions 0 to 13, not 99"),
        ({"hex": REQUEST, "version": 2}, "the line says version 2, the frame's header 1"),
        ({"hex": REQUEST[:-3]}, "MetadataRequestTopic.name"),
    ],
)
def test_decode_command_complains_of_bad_lines(line: Any, complaint: str) -> None:
    status, answers = run(run_decode, "request", {"hex": REQUEST}, line, "", {"hex": REQUEST})
    assert status == 1
    assert [set(answer) for answer in answers] == [set(DECODED), {"error"}, set(DECODED)]
    assert answers[1]["error"].startswith("line 2: ")
    assert complaint in answers[1]["error"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"hex": "00000000"}, '"key" is missing'),
        ({"key": 999, "version": 0, "hex": ""}, "unknown API key 999"),
        ({"key": 3, "version": True, "hex": ""}, '"version" is missing or not a whole number'),
        ({"key": 3, "version": 0, "hex": "000000"}, "truncated"),
        ({"key": 3, "version": 0, "hex": "00000000"}, "cut off"),
    ],
)
def test_bad_lines_of_decode_response(line: Any, complaint: str) -> None:
    status, [answer] = run(run_decode, "response", line)
    assert (status, complaint in answer["error"]) == (1, True)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"header": None}, '"header" is missing'),
        ({"header": {}}, '"correlationId" is missing'),
        ({"header": {"correlationId": 2**40}}, "header"),
        ({"header": {"correlationId": 1, "clientId": 7}}, "client id"),
        ({"version": 2}, "the line says version 2, its header requestApiVersion 1"),
        ({"key": 999, "header": {"correlationId": 1}}, "unknown API key 999"),
        ({"body": {}}, "the field topics is missing"),
        ({"body": {"topics": [{"name": None}]}}, "null"),
        ({"body": {"topics": [{"name": "x" * 40_000}]}}, "40000 bytes"),
        ({"trailing": "x"}, '"trailing" is not hex'),
    ],
)
def test_encode_command_complains_of_bad_lines(change: dict[str, Any], complaint: str) -> None:
    status, [answer] = run(run_encode, "request", {**DECODED, **change})
    assert status == 1
    assert complaint in answer["error"]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "odradek", *words]


def test_decode_and_encode_are_reverses() -> None:
    line = {"key": 18, "version": 3, "hex": "00120003000000010006676f6c64656e0007676f6c64656e04312e3000"}
    decoded = subprocess.run(
        command("decode", "request"), input=json.dumps(line) + "\nnonsense\n", capture_output=True, text=True
    )
    first, second = map(json.loads, decoded.stdout.splitlines())
    assert decoded.returncode == 1
    assert set(second) == {"error"}
    assert first["body"] == {"clientSoftwareName": "golden", "clientSoftwareVersion": "1.0"}
    back = {"key": 18, "version": 3, **first}
    encoded = subprocess.run(
        command("encode", "request"), input=json.dumps(back) + "\n", capture_output=True, text=True
    )
    assert encoded.returncode == 0
    assert json.loads(encoded.stdout)["hex"] == line["hex"]


def test_a_bad_line_is_answered_in_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"key": 18, "version": 0, "header": {"correlationId": 1}, "body": {"errorCode": 0, "apiKeys": []}}
    unknown = {"key": 9999, "version": 0, "header": {}, "body": {}}
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{json.dumps(good)}\n\n{json.dumps(unknown)}\n[]\n"))
    assert main(["encode", "response"]) == 1
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["hex"] == "00000001000000000000"
    assert second["error"].startswith("line 3:")
    assert third["error"].startswith("line 4:")


def test_without_a_bad_line_the_status_is_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["encode", "request"]) == 0
    assert capsys.readouterr().out == ""
