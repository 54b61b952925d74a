"""``odradek encode``: lines from standard input, one answer for each."""

from __future__ import annotations

import io
import json

import pytest

from odradek.__main__ import main


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
