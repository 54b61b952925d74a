"""The ``odradek`` command, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek import __version__, compiled
from odradek.__main__ import main


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "odradek", *words]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    kind = "compiled" if compiled else "pure"
    assert capsys.readouterr().out == f"odradek {__version__} ({kind})\n"


def test_the_command_line_is_quick_to_say_no() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "odradek", "--version"], capture_output=True, text=True, timeout=120
    )
    assert "trio" not in done.stderr
    assert "construct" not in done.stderr
