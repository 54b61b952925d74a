"""Lets Spark's Python workers import the installed pyspark instead of Spark's copy in a zip file.

Spark puts this zip file and a jar first on the path. A zip file has no compiled modules, so each worker would compile
pyspark again (half a second). Python before 3.12 also reads the directories of both files for each task (a fifth of a
second). A worker with another pyspark, or without one, keeps its path.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


def without_archives(path: list[str]) -> list[str]:
    """The search path without the archives of the installed Spark."""
    files = [entry for entry in path if entry.endswith((".zip", ".jar"))]
    folders = [entry for entry in path if entry not in files]
    found = PathFinder.find_spec("pyspark", folders)
    homes = [Path(place).resolve() for place in (found and found.submodule_search_locations) or ()]
    archives = [entry for entry in files if any(home in Path(entry).resolve().parents for home in homes)]
    return [entry for entry in path if entry not in archives]


def run_next(path: list[str]) -> None:
    """Run another `sitecustomize` that this one hides, if there is one."""
    here = Path(__file__).parent.resolve()
    found = PathFinder.find_spec("sitecustomize", [entry for entry in path if Path(entry).resolve() != here])
    if found is not None and found.loader is not None:
        found.loader.exec_module(module_from_spec(found))


if __name__ == "sitecustomize":
    sys.path[:] = without_archives(sys.path)
    run_next(sys.path)
