"""What is generated is current, and nothing else stands in its folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from generators import __main__ as command

ROOT = Path(__file__).parents[2]


def test_generated_code_is_current() -> None:
    check = subprocess.run([sys.executable, "-m", "generators", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr


def test_every_generated_folder_belongs_to_the_command() -> None:
    folders = {
        path for top in ("broker", "protocol", "storage", "pipeline") for path in (ROOT / top).rglob("generated")
    }
    assert folders == {ROOT / folder for folder in command.GENERATORS}
