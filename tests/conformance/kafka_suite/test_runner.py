"""What the runner of Kafka's tests does when it is stopped, and after one that was killed."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from pathlib import Path

import pytest

from tests.conformance.kafka_suite import runner

NO_PROCESS = 1 << 22
"""Above the ids that Linux gives."""


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
            runner.run(["org.example.SomeTest"], lambda name, results, seconds: told.append(name))
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
