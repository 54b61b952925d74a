"""The documentation builds as a site: no page forgotten, no link into nothing, everything public described."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import odradek

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_documentation_site_builds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    names = (tmp_path / "api" / "index.html").read_text()
    for name in odradek.__all__:
        assert name.startswith("__") or f">{name}<" in names, f"{name} is not on the page of Python's names"
    commands = (tmp_path / "cli" / "index.html").read_text()
    assert "usage: odradek serve" in commands
    pages = re.findall(r"\]\(([^)]*)\)", (tmp_path / "llms.txt").read_text())
    assert {"tutorial/", "api/", "examples/rebalance/"} <= set(pages)
    for page in pages:
        assert (tmp_path / page / "index.html").exists() or (tmp_path / page).is_file(), page
