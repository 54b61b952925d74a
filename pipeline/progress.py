"""Progress of a Spark job on a stream: one line that is written anew on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_S = 0.5
_SPEAK_S = 5.0
_CLEAR = "\r\x1b[K"


@contextmanager
def shown_progress(spark: SparkSession, job: str, stream: TextIO) -> Iterator[None]:
    """While the block runs, tell how many tasks of the running stages are done."""
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(spark, job, stream, done), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _watch(spark: SparkSession, job: str, stream: TextIO, done: threading.Event) -> None:
    on_terminal = stream.isatty()
    shown, silent_s = "", 0.0
    while not done.wait(_LOOK_S):
        silent_s += _LOOK_S
        try:
            text = describe(running_stages(spark))
        except Exception:  # the session ends while it is asked
            return
        if not text or text == shown or (not on_terminal and silent_s < _SPEAK_S):
            continue
        stream.write(f"{_CLEAR}{job}: {text}" if on_terminal else f"{job}: {text}\n")
        stream.flush()
        shown, silent_s = text, 0.0
    if shown and on_terminal:
        stream.write(_CLEAR)
        stream.flush()


def running_stages(spark: SparkSession) -> list[tuple[int, int, int]]:
    """(stage, tasks done, tasks) of each stage that runs."""
    tracker = spark.sparkContext.statusTracker()
    infos = [tracker.getStageInfo(number) for number in sorted(tracker.getActiveStageIds())]
    return [(info.stageId, info.numCompletedTasks, info.numTasks) for info in infos if info is not None]


def describe(stages: list[tuple[int, int, int]]) -> str:
    """The stages in words; empty when none runs."""
    return ", ".join(f"stage {number}: {completed} of {tasks} tasks" for number, completed, tasks in stages)
