"""Progress of a Spark job: one line that is rewritten on a terminal, else a line every few seconds."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK_S = 0.5
_SPEAK_S = 5.0
_CLEAR = "\r\x1b[K"


@contextmanager
def shown_progress(spark: SparkSession, job: str, stream: TextIO) -> Iterator[None]:
    """Show the progress of the running stages while the block runs."""
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
    known: list[Stage] = []
    began_s: dict[int, float] = {}
    while not done.wait(_LOOK_S):
        silent_s += _LOOK_S
        try:
            stages, now_s = running_stages(spark), time.monotonic()
        except Exception:  # a stage or the session has ended meanwhile
            continue
        for stage in stages:
            began_s.setdefault(stage.number, now_s)
        text = describe(stages, {number: now_s - at_s for number, at_s in began_s.items()})
        due = text != shown if on_terminal else stages != known and silent_s >= _SPEAK_S
        if not text or not due:
            continue
        line = f"{job}: {text}"
        # A terminal clears only the last part of a wrapped line.
        stream.write(_CLEAR + line[: shutil.get_terminal_size().columns - 1] if on_terminal else f"{line}\n")
        stream.flush()
        shown, known, silent_s = text, stages, 0.0
    if shown:
        clear_line(stream)


def clear_line(stream: TextIO) -> None:
    """Clear the line of progress on a terminal."""
    if stream.isatty():
        stream.write(_CLEAR)
        stream.flush()


class Stage(NamedTuple):
    """A running stage of Spark."""

    number: int
    done: int
    """Finished tasks."""
    tasks: int
    records: int
    """The number of records that the tasks have read, as far as Spark reports it."""


def running_stages(spark: SparkSession) -> list[Stage]:
    """The running stages, in their order."""
    numbers = sorted(spark.sparkContext.statusTracker().getActiveStageIds())
    store = spark.sparkContext._jsc.sc().statusStore()  # the tracker has no record counts
    found = [(number, store.lastStageAttempt(number)) for number in numbers]
    return [Stage(number, stage.numCompleteTasks(), stage.numTasks(), stage.inputRecords()) for number, stage in found]


def describe(stages: Sequence[Stage], seconds: Mapping[int, float]) -> str:
    """The stages as text. ``seconds``: their running times. Empty without stages."""
    return ", ".join(_described(stage, seconds[stage.number]) for stage in stages)


def _described(stage: Stage, seconds: float) -> str:
    text = f"stage {stage.number}: {stage.done} of {stage.tasks} tasks"
    if stage.records and seconds:
        text += f", {stage.records:,} records ({stage.records / seconds:,.0f}/s)"
    if stage.done and seconds:
        text += f", about {seconds * (stage.tasks - stage.done) / stage.done:.0f} s left"
    return text
