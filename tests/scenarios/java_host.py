"""The Java side: one JVM for a test session, which runs scenarios of ``java/`` and Kafka's command-line classes.

The sources are compiled once into the cache folder, under a name that changes with them.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.real_kafka import JAVA_UTILS, KAFKA_VERSION, Unavailable, cache_dir, classpath, java_command

SOURCES = Path(__file__).resolve().parent / "java" / "scenarios"
METHOD = re.compile(r"public static void (\w+)\(Context \w+\)")
AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a command-line class of Kafka did: exit status and what it printed."""

    status: int
    stdout: str
    stderr: str


def scenario_names(source: str) -> list[str]:
    """The scenarios of a source file, as ``Class.method``."""
    return [f"{source}.{name}" for name in METHOD.findall((SOURCES / f"{source}.java").read_text())]


def compiled() -> Path:
    """The folder with the compiled scenarios; raises :class:`Unavailable` without a JDK."""
    texts = {
        source.name: source.read_text().replace("org.apache.kafka.common.utils.Exit", f"{JAVA_UTILS}.Exit")
        for source in sorted(SOURCES.glob("*.java"))
    }
    digest = hashlib.sha256("".join((KAFKA_VERSION, *texts.values())).encode()).hexdigest()[:16]
    folder = cache_dir() / f"scenarios-{digest}"
    if folder.exists():
        return folder
    jars = classpath()
    javac = shutil.which("javac")
    if javac is None:
        raise Unavailable("needs a JDK 17: no `javac` on the PATH")
    cache_dir().mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix="compiling-", dir=cache_dir()))
    with tempfile.TemporaryDirectory() as folder_of_sources:
        for name, text in texts.items():
            (Path(folder_of_sources) / name).write_text(text)
        command = [javac, "-nowarn", "-d", str(fresh), "-cp", jars, *map(str, Path(folder_of_sources).glob("*.java"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(fresh)
        raise RuntimeError(f"the Java scenarios do not compile:\n{done.stderr}")
    try:
        fresh.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(fresh)
    return folder


class JavaHost:
    """Sends jobs to the JVM and hands out their results; jobs may run side by side."""

    def __init__(self) -> None:
        command = java_command("scenarios.Host", str(AT_ONCE), heap="768m", extra=["-Djava.awt.headless=true"])
        place = command.index("-cp") + 1
        command[place] = f"{compiled()}:{command[place]}"
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the JVM
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, encoding="utf-8"
        )
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._scenarios: dict[tuple[str, str], Future[dict[str, Any]]] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).set_result(answer)
        for waiting in self._waiting.values():
            waiting.set_exception(RuntimeError("the JVM ended"))

    def _send(self, job: dict[str, Any]) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = future
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"id": number, **job}) + "\n")
            self._process.stdin.flush()
        return future

    def begin(self, names: Sequence[str], bootstrap: str) -> None:
        """Put scenarios into the JVM's queue ahead of the tests that ask for them."""
        for name in names:
            if (name, bootstrap) not in self._scenarios:
                self._scenarios[name, bootstrap] = self._send({"name": name, "bootstrap": bootstrap})

    def scenario(self, name: str, bootstrap: str) -> dict[str, Any]:
        """The result of a scenario: ``ok``, ``ms`` and, where it failed, ``error``."""
        self.begin([name], bootstrap)
        return self._scenarios.pop((name, bootstrap)).result(600)

    def tool(self, main: str, *args: str, stdin: str = "") -> ToolResult:
        """Run a command-line class of Kafka in the JVM."""
        answer = self._send({"main": main, "args": list(args), "stdin": stdin}).result(300)
        return ToolResult(answer["status"], answer["stdout"], answer["stderr"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()


@pytest.fixture(scope="session")
def java() -> Iterator[JavaHost]:
    """The session's JVM; skips without a JDK, saying what is missing."""
    try:
        host = JavaHost()
    except Unavailable as missing:
        pytest.skip(str(missing))
    yield host
    host.close()
