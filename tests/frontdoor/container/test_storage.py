"""`kafka-storage` in the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.container.storage import formatted, main

USER = "SCRAM-SHA-256=[name=alice,password=secret]"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ODRADEK_FORMAT_FILE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_storage_command_prints_a_random_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["random-uuid"]) == 0
    assert len(capsys.readouterr().out.strip()) == 22


def test_what_format_is_told_is_kept_for_the_start(kept: Path) -> None:
    assert formatted() == {}
    assert main(["format", "--ignore-formatted", "-t", "abc", "-c", "/x", "--add-scram", USER]) == 0
    assert formatted() == {"cluster_id": "abc", "scram": [USER]}
    assert kept.stat().st_mode & 0o077 == 0, "it holds passwords"


def test_a_user_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["format", "-t", "abc", "--add-scram", "SCRAM-SHA-1=[name=a,password=b]"]) == 2
    assert capsys.readouterr().err == "kafka-storage: --add-scram: the SCRAM mechanism SCRAM-SHA-1 is not supported\n"
    assert formatted() == {}
