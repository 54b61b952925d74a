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


@pytest.mark.slow
def test_the_wheel_works_elsewhere(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        assert done.returncode == 0, done.stderr[-3000:]
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
