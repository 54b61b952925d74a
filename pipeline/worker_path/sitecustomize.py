"""For Spark's Python workers: they import the installed pyspark, and not Spark's copy of it in a zip file.

Spark puts that file, and a jar, in front of all folders. A zip file keeps no compiled modules, so each worker would
compile pyspark anew (half a second), and Python before 3.12 reads the directories of both again for every task (a fifth
of a second). A worker with another pyspark, or none, is left as it is.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path


def without_archives(path: list[str]) -> list[str]:
    """A search path without the archives of the Spark that is found behind them."""
    files = [entry for entry in path if entry.endswith((".zip", ".jar"))]
    folders = [entry for entry in path if entry not in files]
    found = PathFinder.find_spec("pyspark", folders)
    homes = [Path(place).resolve() for place in (found and found.submodule_search_locations) or ()]
    return [entry for entry in path if entry not in files or not _within(entry, homes)]


def _within(entry: str, homes: list[Path]) -> bool:
    return any(home in Path(entry).resolve().parents for home in homes)


def run_next(path: list[str]) -> None:
    """Run the `sitecustomize` that this one hides, if there is one."""
    here = Path(__file__).parent.resolve()
    found = PathFinder.find_spec("sitecustomize", [entry for entry in path if Path(entry).resolve() != here])
    if found is not None and found.loader is not None:
        found.loader.exec_module(module_from_spec(found))


if __name__ == "sitecustomize":
    sys.path[:] = without_archives(sys.path)
    run_next(sys.path)
