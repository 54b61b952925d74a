"""Projects for declarative pipelines: what is written, and that it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from odradek.__main__ import main
from odradek.pipeline.declarative import check_pipelines, write_project
from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable
from tests.pipeline import quick_spark
from tests.pipeline.test_session import PATIENCE_S


def test_a_project_is_written_into_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "orders here"
    files = write_project(folder)
    assert [file.relative_to(folder).as_posix() for file in files] == [
        "spark-pipeline.yml",
        "transformations/kafka.py",
        "try_it.py",
    ]
    spec = (folder / "spark-pipeline.yml").read_text()
    assert f"name: orders here\nstorage: file://{tmp_path}/orders%20here/storage\n" in spec
    with pytest.raises(ValueError, match="orders here is there already, and not empty"):
        write_project(folder)
    with pytest.raises(ValueError, match="is there already"):
        write_project(files[0])


def test_what_is_lacking_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(PipelineUnavailable, match=r"need Spark 4\.1 or later, this is 4\.0\.2"):
        check_pipelines(InstalledSpark("4.0.2", "2.13", tmp_path))
    monkeypatch.setitem(sys.modules, "grpc_status", None)
    pytest.importorskip("grpc")
    with pytest.raises(PipelineUnavailable, match=r"pip install 'pyspark\[pipelines\]==4\.2\.0'"):
        check_pipelines(InstalledSpark("4.2.0", "2.13", tmp_path))


@pytest.mark.slow
def test_a_project_runs_at_once(spark: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One of ten orders fails, twice: it goes through the retry topic to the failed topic."""
    pytest.importorskip("grpc_status")
    if spark.version < "4.1":
        pytest.skip("declarative pipelines need Spark 4.1 or later")
    assert main(["pipeline", "init", str(tmp_path / "orders")]) == 0
    command = capsys.readouterr().out.splitlines()[-1].rpartition(": ")[2].split()
    assert command == ["python", str(tmp_path / "orders" / "try_it.py")]
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, *command[1:]],
        env=surroundings | {"JAVA_TOOL_OPTIONS": quick_spark.JAVA_OPTIONS},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.splitlines()[-5:] == [
        "retry_1s_topic: 10 messages",
        "orders_failed: 10 messages",
        "archive: 100 records",
        "orders_audit: 0 rows",
        "group_lag: 2 rows",
    ]
    again = main(["pipeline", "init", str(tmp_path / "orders")])
    assert (again, capsys.readouterr().err.count("\n")) == (2, 1)
