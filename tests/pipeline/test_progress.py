"""What a job says while it runs."""

from __future__ import annotations

import io
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.pipeline.test_session import PATIENCE_S


class Session:
    """A session whose stages are given."""

    def __init__(self, *stages: tuple[int, int, int, int]) -> None:
        self.sparkContext = self._jsc = self
        self._stages = {number: rest for number, *rest in stages}

    def statusTracker(self) -> Session:  # noqa: N802 (Spark's name)
        return self

    def sc(self) -> Session:
        return self

    def statusStore(self) -> Session:  # noqa: N802
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        return list(self._stages)

    def lastStageAttempt(self, number: int) -> Any:  # noqa: N802
        done, tasks, records = self._stages[number]
        return SimpleNamespace(numCompleteTasks=lambda: done, numTasks=lambda: tasks, inputRecords=lambda: records)


class Screen(io.StringIO):
    """Says when something was written; a terminal if asked so."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.written = terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def flush(self) -> None:
        self.written.set()


@pytest.mark.parametrize("terminal", [True, False])
def test_pipeline_progress_is_shown(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from odradek.pipeline import progress

    monkeypatch.setattr(progress, "_LOOK_S", 0.001)
    monkeypatch.setattr(progress, "_SPEAK_S", 0.002)
    monkeypatch.setenv("COLUMNS", "80")
    screen = Screen(terminal)
    with progress.shown_progress(cast("Any", Session((3, 0, 8, 0), (2, 0, 1, 0))), "audit", screen):
        assert screen.written.wait(10)
    text = "audit: stage 2: 0 of 1 tasks, stage 3: 0 of 8 tasks"
    assert screen.getvalue() == (f"\r\x1b[K{text}\r\x1b[K" if terminal else f"{text}\n")


def test_a_line_is_no_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from odradek.pipeline import progress

    monkeypatch.setattr(progress, "_LOOK_S", 0.001)
    monkeypatch.setenv("COLUMNS", "20")
    screen = Screen(True)
    with progress.shown_progress(cast("Any", Session((3, 0, 8, 0))), "audit", screen):
        assert screen.written.wait(10)
    assert screen.getvalue() == "\r\x1b[Kaudit: stage 3: 0 o\r\x1b[K"


@pytest.mark.parametrize(("terminal", "written"), [(True, "\r\x1b[K"), (False, "")])
def test_only_a_terminal_has_a_line_to_clear(terminal: bool, written: str) -> None:
    from odradek.pipeline.progress import clear_line

    screen = Screen(terminal)
    clear_line(screen)
    assert screen.getvalue() == written


@pytest.mark.parametrize(
    ("stage", "seconds", "text"),
    [
        ((4, 0, 8, 0), 3.0, "stage 4: 0 of 8 tasks"),
        ((4, 2, 8, 1_200_000), 4.0, "stage 4: 2 of 8 tasks, 1,200,000 records (300,000/s), about 12 s left"),
        ((4, 2, 8, 0), 4.0, "stage 4: 2 of 8 tasks, about 12 s left"),
        ((4, 2, 8, 5), 0.0, "stage 4: 2 of 8 tasks"),
    ],
)
def test_how_far_a_stage_is(stage: tuple[int, int, int, int], seconds: float, text: str) -> None:
    from odradek.pipeline.progress import Stage, describe

    assert describe([Stage(*stage)], {4: seconds}) == text


def test_pipeline_progress_counts_the_tasks_of_a_stage(spark: Any, tmp_path: Path) -> None:
    """Its first task is done; the second one waits until the stage has been looked at."""
    from odradek.pipeline.progress import Stage, running_stages

    looked = str(tmp_path / "looked")

    def wait(chunks: Any) -> Any:
        for chunk in chunks:
            while chunk["id"][0].as_py() >= 5 and not os.path.exists(looked):
                time.sleep(0.02)
            yield chunk

    rows = spark.range(0, 10, 1, 2).mapInArrow(wait, "id long")
    with ThreadPoolExecutor(1) as pool:
        counted = pool.submit(rows.count)
        deadline = time.monotonic() + PATIENCE_S
        seen: list[Stage] = []
        try:
            while not any((stage.done, stage.tasks, stage.records) == (1, 2, 5) for stage in seen):
                assert time.monotonic() < deadline, seen
                seen = running_stages(spark)
        finally:
            Path(looked).touch()
        assert counted.result(PATIENCE_S) == 10
