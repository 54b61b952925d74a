"""Runs classes of Kafka's tests: a few JVMs side by side, each with class after class."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.kafka_suite.jars import HERE, classpath

CLASS_TIMEOUT = 1800
"""Seconds for all tests of a class. Those of ShareConsumerTest wait longest: each for two assignments of Kafka's."""
SILENCE = 220
"""Seconds in which a test begins or ends."""
TEST_TIMEOUT = 200
"""Seconds for a test, and for what runs before and after it. A test of Connect asks nine times for ten seconds whether
a worker lives that cannot start."""
SECOND_FAILURES = 3
"""How many tests of a class may fail a second time before no further one is tried again."""
AT_ONCE = 2
FOLDER = "odradek-kafka-suite-"
"""How the name of a worker's temporary folder begins; the id of the process follows."""


class Stopped(Exception):
    """`stop_all` has ended the JVM: what its tests would have said is not known."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a test ended: passed, failed, inside (it needs the inside of a broker), skipped (it says so while it runs),
    disabled (Kafka's authors let nobody run it) or alone.

    A test that is alone passed while no broker ran: it says nothing about one.
    """

    test: str
    outcome: str
    why: str
    trace: str
    seconds: float
    id: str


def odradek_command() -> str:
    """How the stand-ins start a broker: this Python's odradek."""
    return f"{sys.executable} -P {HERE / 'serve.py'}"


class Worker:
    """A JVM that runs what it is told, one class after the other. It is started anew when it hangs or dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._stopped = False
        remove_left_folders(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-", ignore_cleanup_errors=True)
        _WORKERS.add(self)

    def run(self, what: str, timeout: float) -> list[Result]:
        """The results of a class, or of a test by its id. :class:`Stopped` if `stop_all` came first."""
        if self._stopped:
            raise Stopped
        process = self._process or self._start()
        assert process.stdin is not None
        process.stdin.write(what.encode() + b"\n")
        process.stdin.flush()
        found: list[Result] = []
        began, under_way = time.monotonic(), ""
        while True:
            left = timeout - (time.monotonic() - began)
            try:
                line = self._lines.get(timeout=max(0.0, min(left, SILENCE)))
            except queue.Empty:
                line = {"failed": f"not done within {min(timeout, SILENCE):.0f} s"}
            if self._stopped:
                raise Stopped
            if line is None:
                line = {"failed": f"the JVM ended ({process.poll()})"}
            if "end" in line:
                if any(not result.test for result in found):
                    self.stop()  # a class left threads behind, which the next one would be blamed for
                return found
            if "began" in line:
                under_way = line["began"]
            elif "failed" in line:
                self.stop()
                return [*found, Result(under_way, "failed", line["failed"], "", timeout, what)]
            else:
                found.append(Result(**line))

    def _start(self) -> subprocess.Popen[bytes]:
        reads, writes = os.pipe()
        command = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"]
        command += ["-XX:+EnableDynamicAgentLoading"] if _knows_agents() else []
        for kerberos in ("--add-exports", "--add-opens"):  # for the Kerberos server of Kafka's tests
            command += [kerberos, "java.security.jgss/sun.security.krb5=ALL-UNNAMED"]
        command += ["-Djunit.jupiter.extensions.autodetection.enabled=true"]
        command += [
            f"-Djunit.jupiter.execution.timeout.default={TEST_TIMEOUT}s",
            f"-Dodradek.command={odradek_command()}",
        ]
        command += ["-Djava.io.tmpdir=" + self._folder.name, "-cp", classpath(), "odradek.Suite", f"/dev/fd/{writes}"]
        said = Path(self._folder.name) / "said.txt"
        with said.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=[writes],
                start_new_session=True,
                cwd=self._folder.name,
            )
        os.close(writes)
        lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._lines = lines

        def read() -> None:
            with os.fdopen(reads, encoding="utf-8") as results:
                for line in results:
                    lines.put(json.loads(line))
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        self._process = process
        return process

    def stop(self) -> None:
        """End the JVM and the brokers that it started."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()

    def close(self) -> None:
        self._stopped = True
        self.stop()
        self._folder.cleanup()
        _WORKERS.discard(self)


_WORKERS: set[Worker] = set()


def stop_all() -> None:
    """End the JVMs of all workers: each has a process group of its own, which no signal to this process reaches.

    What runs at the time has no result: `run` tells of no further class.
    """
    for worker in list(_WORKERS):
        worker.close()


def remove_left_folders(where: Path) -> None:
    """Remove the folders of workers whose process is gone without having removed them."""
    for folder in where.glob(f"{FOLDER}*"):
        owner = re.match(r"(\d+)-", folder.name.removeprefix(FOLDER))
        if owner and not _lives(int(owner[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


def _knows_agents() -> bool:
    from tests.conformance.real_kafka import java_major

    return java_major() >= 21


Explained = Callable[[str, Result], bool]
Told = Callable[[str, list[Result], float], None]


def run(
    classes: Sequence[str], explained: Explained, told: Told | None = None, at_once: int = AT_ONCE, seconds: float = 0
) -> dict[str, list[Result]]:
    """The results by class. What fails is tried once more, each test alone: Kafka's own tests meet short timeouts.

    ``explained`` says whether a failed test of a class cannot pass: it is not tried again.
    ``told`` hears of each class: name, results, seconds. After ``seconds``, if given, no further class begins.
    """
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in classes:
        waiting.put(name)
    found: dict[str, list[Result]] = {}
    started = time.monotonic()

    def work() -> None:
        worker = Worker()
        try:
            while not seconds or time.monotonic() - started < seconds:
                try:
                    name = waiting.get_nowait()
                except queue.Empty:
                    return
                began = time.monotonic()
                results = worker.run(name, CLASS_TIMEOUT)
                if any(not result.test for result in results):  # in a new JVM, where no other class has left threads
                    results = worker.run(name, CLASS_TIMEOUT)
                found[name] = results = _once_more(worker, name, results, explained)
                if told:
                    told(name, results, time.monotonic() - began)
        finally:
            worker.close()

    with ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(work) for _ in range(min(at_once, len(classes)))]:
            done.result()
    return found


def _once_more(worker: Worker, name: str, results: list[Result], explained: Explained) -> list[Result]:
    """The same results, those of failed tests replaced by a second try's if that passes.

    How many tests fail says nothing of the cause: on a busy machine many of a large class may. A second failure does.
    """
    better: dict[str, Result] = {}
    failed_twice = 0
    for result in results:
        if result.outcome != "failed" or "/" not in result.id or explained(name, result):
            continue
        if failed_twice == SECOND_FAILURES:
            break
        again = [second for second in worker.run(result.id, SILENCE) if second.id == result.id]
        if again and again[0].outcome == "passed":
            better[result.id] = again[0]
        else:
            failed_twice += 1
    return [better.get(result.id, result) for result in results]
