"""What is generated is current, and nothing else stands in its folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from generators import __main__ as command

ROOT = Path(__file__).parents[2]


def test_generated_code_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 0, capsys.readouterr().out


def test_every_generated_folder_belongs_to_the_command() -> None:
    folders = {
        path for top in ("broker", "protocol", "storage", "pipeline") for path in (ROOT / top).rglob("generated")
    }
    assert folders == {ROOT / folder for folder in command.FOLDERS}
