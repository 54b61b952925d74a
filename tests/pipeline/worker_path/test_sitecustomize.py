"""What Spark's Python workers import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline import session
from odradek.pipeline.worker_path.sitecustomize import run_next, without_archives


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a pyspark and its archives."""
    home = tmp_path / "site" / "pyspark"
    for folder in ("python/lib", "jars"):
        (home / folder).mkdir(parents=True)
    (home / "__init__.py").touch()
    return home.parent


def archives(home: Path) -> list[str]:
    return [str(home / name) for name in ("python/lib/pyspark.zip", "python/lib/py4j-1-src.zip", "jars/core.jar")]


def test_the_archives_of_the_installed_pyspark_go(site: Path, tmp_path: Path) -> None:
    own = str(tmp_path / "mine.zip")
    path = [own, *archives(site / "pyspark"), str(tmp_path), str(site)]
    assert without_archives(path) == [own, str(tmp_path), str(site)]


def test_worker_path_leaves_another_spark_alone(site: Path, tmp_path: Path) -> None:
    path = [*archives(tmp_path / "spark-4"), str(site)]
    assert without_archives(path) == path
    alone = [*archives(site / "pyspark"), str(tmp_path)]
    assert without_archives(alone) == alone, "no folder has a pyspark"


def test_a_hidden_sitecustomize_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()")
    run_next([str(tmp_path)])
    assert (tmp_path / "ran").exists()
    run_next([session.worker_path()])  # it does not run itself


def test_worker_path_is_set_by_sitecustomize(site: Path) -> None:
    """With the search path that Spark gives a worker."""
    program = f"import sys; print([entry for entry in sys.path if {str(site)!r} in entry])"
    path = ":".join([*archives(site / "pyspark"), session.worker_path(), str(site)])
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"[{str(site)!r}]", done.stderr


def test_a_worker_has_no_archives(spark: Any) -> None:
    def seen(_: Any) -> list[str]:
        return [entry for entry in sys.path if entry.endswith((".zip", ".jar")) and "pyspark" in entry]

    assert spark.sparkContext.parallelize([0], 1).flatMap(seen).collect() == []
