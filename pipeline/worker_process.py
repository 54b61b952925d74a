"""The preparation of a Python worker of Spark that runs many tasks, one after the other."""

from __future__ import annotations

import gc
from functools import cache


@cache
def spare_imports() -> None:
    """Take what the worker has imported out of its garbage collections. Outside of a task it does nothing.

    Spark collects garbage behind each task. Over pandas, pyarrow and numpy that takes 35 ms, longer than many a task.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        gc.freeze()
