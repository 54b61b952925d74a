"""What the runner of Kafka's tests does when it is stopped, and after one that was killed."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from pathlib import Path

import pytest

from tests.conformance.kafka_suite import runner
from tests.conformance.kafka_suite.runner import Result

CLASS = "org.example.SomeTest"
NO_PROCESS = 1 << 22
"""Above the ids that Linux gives."""


def explained_by_name(name: str, result: Result) -> bool:
    return name == CLASS and result.test.startswith("explained")


class SecondTries(runner.Worker):
    """A worker without a JVM: each class fails in the tests that it is told, and `passes` pass when tried again."""

    def __init__(self, fail: list[str], passes: set[str]) -> None:
        super().__init__()
        self._fail = fail
        self._passes = passes
        self.tried: list[str] = []

    def run(self, what: str, timeout: float) -> list[Result]:
        if what == CLASS:
            return [result(test, "failed") for test in self._fail]
        test = what.removeprefix(f"{CLASS}/")
        self.tried.append(test)
        return [result(test, "passed" if test in self._passes else "failed")]


def result(test: str, outcome: str) -> Result:
    return Result(test, outcome, "", "", 0.0, f"{CLASS}/{test}")


def second_tries(
    monkeypatch: pytest.MonkeyPatch, fail: list[str], passes: set[str]
) -> tuple[list[str], dict[str, str]]:
    """Run a class: which tests are tried again, and the outcome of each."""
    worker = SecondTries(fail, passes)
    monkeypatch.setattr(runner, "Worker", lambda: worker)
    found = runner.run([CLASS], explained_by_name)[CLASS]
    return worker.tried, {result.test: result.outcome for result in found}


def test_all_that_fail_are_tried_again_while_they_pass_then(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"test{number}" for number in range(20)]
    assert second_tries(monkeypatch, tests, set(tests)) == (tests, dict.fromkeys(tests, "passed"))


def test_no_test_is_tried_again_after_three_that_failed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, outcomes = second_tries(monkeypatch, list("abcdef"), {"b", "f"})
    assert tried == list("abcd")
    assert outcomes == {**dict.fromkeys("acdef", "failed"), "b": "passed"}


def test_a_test_that_cannot_pass_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = [f"explained{number}" for number in range(9)]
    tried, outcomes = second_tries(monkeypatch, [*explained, "other"], {"other"})
    assert tried == ["other"]
    assert outcomes == {**dict.fromkeys(explained, "failed"), "other": "passed"}


def test_a_runner_that_is_stopped_tells_of_no_class(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()

    def start(worker: runner.Worker) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        lines: queue.Queue[None] = queue.Queue()

        def read() -> None:
            assert process.stdout is not None
            with process.stdout as echo:
                while echo.readline():
                    asked.set()
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        monkeypatch.setattr(worker, "_lines", lines)
        monkeypatch.setattr(worker, "_process", process)
        return process

    monkeypatch.setattr(runner.Worker, "_start", start)
    told: list[str] = []
    ended: list[BaseException] = []

    def run() -> None:
        try:
            runner.run([CLASS], explained_by_name, lambda name, results, seconds: told.append(name))
        except runner.Stopped as stopped:
            ended.append(stopped)

    running = threading.Thread(target=run)
    running.start()
    asked.wait()
    runner.stop_all()
    running.join()
    assert (told, len(ended)) == ([], 1)


def test_folders_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    names = [f"{runner.FOLDER}{NO_PROCESS}-a", f"{runner.FOLDER}{os.getpid()}-b", f"{runner.FOLDER}c", "another"]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / names[0] / "said.txt").touch()
    runner.remove_left_folders(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])
