"""What a job says while it runs."""

from __future__ import annotations

import io
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest


class Tracker:
    """A session whose stages are given."""

    def __init__(self, *stages: tuple[int, int, int]) -> None:
        self.sparkContext = self
        self._stages = {number: (number, done, tasks) for number, done, tasks in stages}

    def statusTracker(self) -> Tracker:  # noqa: N802 (Spark's name)
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        return list(self._stages)

    def getStageInfo(self, number: int) -> Any:  # noqa: N802
        stage, done, tasks = self._stages[number]
        return SimpleNamespace(stageId=stage, numCompletedTasks=done, numTasks=tasks)


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
def test_progress_is_shown(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from odradek.pipeline import progress

    monkeypatch.setattr(progress, "_LOOK_S", 0.001)
    monkeypatch.setattr(progress, "_SPEAK_S", 0.002)
    screen = Screen(terminal)
    with progress.shown_progress(cast("Any", Tracker((3, 1, 8), (2, 0, 1))), "audit", screen):
        assert screen.written.wait(10)
    text = "audit: stage 2: 0 of 1 tasks, stage 3: 1 of 8 tasks"
    assert screen.getvalue() == (f"\r\x1b[K{text}\r\x1b[K" if terminal else f"{text}\n")
