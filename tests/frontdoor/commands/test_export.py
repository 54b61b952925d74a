"""``odradek export``: what the user can put right is one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.__main__ import main


def test_errors_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "copy"), "--from", "127.0.0.1:1"]) == 2
    assert "127.0.0.1:1: Connection refused" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(["export", str(tmp_path / "full"), "--from", "127.0.0.1:1"]) == 2
    assert "is not empty" in capsys.readouterr().err
