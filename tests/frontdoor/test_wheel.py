"""The wheel, installed into a clean environment, starts a broker."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import importlib.resources, odradek, odradek.pytest_plugin, pathlib, sys
assert "site-packages" in odradek.__file__ and sys.argv[1] in odradek.__file__, odradek.__file__
with odradek.KafkaBroker(topics={"orders": 2}) as broker:
    assert set(broker.topics) == {"orders"}
page = importlib.resources.files("odradek.control.page")
assert all(page.joinpath(f"page.{kind}").is_file() for kind in ("html", "css", "js"))
print("works")
"""


OLDER = """
import sys
sys.version_info = (3, 10, 1, "final", 0)
sys.modules["tomllib"] = None
"""


def test_an_older_python_may_read_setup_py() -> None:
    """pip runs it before it compares `requires-python` and says so."""
    code = "import runpy, setuptools; setuptools.setup = lambda **_: None; runpy.run_path('setup.py')"
    subprocess.run([sys.executable, "-c", f"{OLDER}{code}"], cwd=ROOT, check=True, timeout=120)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_says_which_python_it_needs(tmp_path: Path) -> None:
    python = tmp_path / "python3.10"
    (tmp_path / "older.py").write_text(f"{OLDER}exec(sys.argv[2])")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/older.py "$@"\n')
    python.chmod(0o755)
    words = ["make", "run", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert done.stderr.splitlines()[0] == "odradek needs Python 3.11 or newer, not 3.10: make run PYTHON=python3.11"


@pytest.mark.slow
def test_wheel_works_outside_of_the_repository(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
        assert "Warning" not in done.stderr, done.stderr[:3000]
        return done.stdout

    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    # From a copy: setuptools leaves a build folder beside what it builds, and takes along what it finds in one.
    left_out = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "tests")
    shutil.copytree(ROOT, tmp_path / "source", symlinks=True, ignore=left_out)
    run(*pip, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(tmp_path / "source"))
    [wheel] = tmp_path.glob("odradek-*.whl")
    place = tmp_path / "place"
    run(sys.executable, "-m", "venv", "--without-pip", str(place))
    python = str(place / "bin" / "python")
    run(*pip, "--python", python, "install", "--no-deps", str(wheel))
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # The dependencies of this environment will do; the project itself must come from the wheel.
    ours = Path(sysconfig.get_path("purelib"))
    for entry in ours.iterdir():
        if "odradek" not in entry.name and not (site / entry.name).exists():
            (site / entry.name).symlink_to(entry)
    assert run(python, "-I", "-c", PROGRAM, str(place)) == "works\n"
