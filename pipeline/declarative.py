"""Writes a project for Spark's declarative pipelines: the files of the folder `project`, with a name and a place."""

from __future__ import annotations

import importlib
from pathlib import Path

from odradek.pipeline.installed_spark import InstalledSpark, PipelineUnavailable

TEMPLATE = Path(__file__).with_name("project")
_SPEC = "spark-pipeline.yml"


def check_pipelines(spark: InstalledSpark) -> None:
    """PipelineUnavailable if this Spark has no declarative pipelines, or if a package for them is missing."""
    if spark.minor < (4, 1):
        raise PipelineUnavailable(f"declarative pipelines need Spark 4.1 or later, this is {spark.version}")
    for name in ("grpc", "grpc_status", "yaml", "zstandard"):
        try:
            importlib.import_module(name)
        except ImportError:
            wanted = f"pip install 'pyspark[pipelines]=={spark.version}'"
            raise PipelineUnavailable(f"declarative pipelines need the package {name}: {wanted}") from None


def write_project(folder: Path) -> list[Path]:
    """Write a project into a new or empty folder; return its files. ValueError if something is in it."""
    folder = folder.absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already, and not empty")
    written = []
    for source in sorted(TEMPLATE.rglob("*")):
        if source.suffix not in (".py", ".yml"):
            continue
        target = folder / source.relative_to(TEMPLATE)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text()
        if source.name == _SPEC:
            text = text.format(name=folder.name, storage=(folder / "storage").as_uri())
        target.write_text(text)
        written.append(target)
    return written
