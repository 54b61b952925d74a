"""A Spark cluster on this machine: a master and workers as JVMs of their own, made of the classes in pyspark's jars.

Every port is chosen by the system, the master's are read from its log. A worker leads a process group, in which its
executors are too, so it can die as a machine does.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from odradek.pipeline.installed_spark import java_command
from tests.pipeline import quick_spark

PATIENCE_S = 600
WORKER_NAME = "ODRADEK_TEST_WORKER"
"""The variable by which a task can tell on which worker it runs: executors inherit their worker's environment."""
_DAEMON = ("-Xmx256m", *quick_spark.JAVA_OPTIONS.split(), f"-Dspark.worker.timeout={PATIENCE_S}")
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_PAGE = re.compile(r"MasterWebUI: Bound .* started at (http://\S+)")


class StandaloneCluster:
    """A master and so many workers with one core each; ends with its block. ``folder`` holds logs and scratch files.

    ``home``: the Spark of master and workers, where that is not the installed one.
    """

    def __init__(self, folder: Path, workers: int = 2, *, executor_mb: int = 512, home: Path | None = None) -> None:
        self._folder, self._executor_mb, self._home = folder, executor_mb, home
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0
        self._wanted = workers
        self.url = self._page = ""

    def __enter__(self) -> StandaloneCluster:
        try:
            self._master = self._launch("master", "org.apache.spark.deploy.master.Master", "--webui-port", "0")
            self.url, self._page = self._told(_MASTER), self._told(_PAGE)
            self.have_workers(self._wanted)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def have_workers(self, count: int) -> None:
        """Start workers until so many are alive, and wait until the master knows them."""
        while len(self._workers) < count:
            name = f"worker-{self._started}"
            self._started += 1
            options = ("--cores", "1", "--memory", f"{self._executor_mb}m", "--webui-port", "0")
            scratch = ("--work-dir", str(self._folder / name))
            self._workers[name] = self._launch(
                name, "org.apache.spark.deploy.worker.Worker", *options, *scratch, self.url
            )
        self._wait(f"{count} workers", lambda: len(self.alive()) == count)

    def alive(self) -> list[Any]:
        """What the master says of the workers that are alive."""
        with urllib.request.urlopen(f"{self._page}/json/", timeout=60) as answer:
            return [worker for worker in json.load(answer)["workers"] if worker["state"] == "ALIVE"]

    def kill(self, name: str) -> None:
        """A worker and its executors end in the middle of what they do; returns when the master has noticed."""
        process = self._workers.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._wait(f"the end of {name}", lambda: len(self.alive()) == len(self._workers))

    def stop(self) -> None:
        """End all processes."""
        for process in [*self._workers.values(), self._master]:
            if process is not None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._workers, self._master = {}, None

    def settings(self) -> dict[str, str]:
        """What a session has to be told: one executor a worker, and work only begins when all are there."""
        return {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.cores.max": str(len(self._workers)),
            "spark.executor.cores": "1",
            "spark.executor.memory": f"{self._executor_mb}m",
            "spark.network.timeout": f"{PATIENCE_S}s",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{PATIENCE_S}s",
        }

    def _launch(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        import pyspark

        home = self._home or Path(pyspark.__path__[0])
        address = ("--host", "127.0.0.1", "--port", "0")
        command = [java_command(), *_DAEMON, "-cp", f"{home}/jars/*", main, *address, *arguments]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": "2.13",  # a worker asks for it when it starts an executor
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            WORKER_NAME: name,
        }
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    def _told(self, pattern: re.Pattern[str]) -> str:
        found: list[str] = []

        def in_the_log() -> bool:
            found[:] = pattern.findall((self._folder / "master.log").read_text())
            return bool(found)

        self._wait("the master", in_the_log)
        return found[0].rstrip("/")

    def _wait(self, what: str, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            processes = {"master": self._master, **self._workers}
            for name, process in processes.items():
                if process is not None and process.poll() is not None:
                    raise RuntimeError(f"{name} ended: {(self._folder / f'{name}.log').read_text()[-2000:]}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what}: nothing after {PATIENCE_S} s")
            time.sleep(0.05)
