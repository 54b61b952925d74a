"""Data source, sink and retry journey on the oldest Spark that is taken, and on one whose connector is not served.

Each runs in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.pipeline.installed_spark import PipelineUnavailable, installed_spark, java_command

pytestmark = [pytest.mark.slow, pytest.mark.spark]
PY4J = "py4j==0.10.9.9"
OLDEST = "4.0.0"
WITHOUT_CONNECTOR = "4.3.0"
TESTS = ("test_source.py", "test_streaming.py", "test_sink.py", "test_archive_sink.py", "jobs/test_retry.py")
OF_THE_CONNECTOR = "test_session.py"
REPOSITORY = Path(__file__).parents[2]


def installed(version: str, folder: Path) -> Path:
    """A pyspark in a folder of the cache, where later runs find it. Its other needs are the dev install's."""
    if not (folder / "complete").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", str(folder)]
        done = subprocess.run([*command, f"pyspark=={version}", PY4J], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pyspark {version} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
        (folder / "complete").touch()
    return folder


@pytest.mark.parametrize(
    ("version", "tests"),
    [(OLDEST, (*TESTS, OF_THE_CONNECTOR)), (WITHOUT_CONNECTOR, TESTS)],
    ids=["oldest", "without connector"],
)
def test_source_and_retry_job_pass_on_another_spark(version: str, tests: tuple[str, ...]) -> None:
    try:
        java_command(installed_spark())
    except PipelineUnavailable as missing:
        pytest.skip(f"Spark {missing}")
    cache = Path(os.environ.get("ODRADEK_CACHE") or Path.home() / ".cache" / "odradek")
    folder = installed(version, cache / f"pyspark-{version}")
    command = [sys.executable, "-m", "pytest", "-q", "-n0", *(f"tests/pipeline/{name}" for name in tests)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]
    assert "skipped" not in done.stdout.splitlines()[-1], "no test is left out"
