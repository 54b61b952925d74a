"""Nodes of a real Kafka, each a process in a folder of its own below a temporary one."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.conformance.real_kafka import broker_answers, java_command


class KafkaProcesses(ABC):
    """Processes that start in a ``with`` block and end with it. `broker_ports`: where each broker serves clients."""

    START_TIMEOUT_S: float

    def __init__(self, name: str, *, heap: str = "256m") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"odradek-{name}-"))
        self._heap = heap
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    @abstractmethod
    def nodes(self) -> Sequence[int]:
        """The ids of all nodes, in the order in which they start."""

    @property
    @abstractmethod
    def broker_ports(self) -> Mapping[int, int]:
        """The port for clients of each broker."""

    @abstractmethod
    def prepare(self) -> None:
        """Write each node's `server.properties` and format its folder."""

    def needed_by(self, node: int) -> Container[int]:
        """The nodes without which a broker does not come up: by default all."""
        return self.nodes

    def __enter__(self) -> Self:
        try:
            self.prepare()
            for node in self.nodes:
                self.launch(node)
            for node in self.broker_ports:
                self.wait_answering(node)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes and remove what they wrote."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def launch(self, node: int) -> None:
        """Start a node's process."""
        folder = self.folder / str(node)
        command = java_command("kafka.Kafka", str(folder / "server.properties"), heap=self._heap)
        with (folder / "output.txt").open("ab") as output:
            self._processes[node] = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)

    def end(self, node: int, how: signal.Signals) -> None:
        """Send a signal; returns when the process has ended."""
        process = self._processes.pop(node)
        process.send_signal(how)
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise

    def wait_answering(self, node: int) -> None:
        """Wait until a broker serves clients; RuntimeError with the end of its log otherwise."""
        deadline = time.monotonic() + self.START_TIMEOUT_S
        needed = self.needed_by(node)
        while not broker_answers(self.broker_ports[node]):
            for each, process in self._processes.items():
                if process.poll() is not None and each in needed:
                    raise RuntimeError(f"node {each} of real Kafka ended:\n{self._output(each)}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"node {node} of real Kafka did not start:\n{self._output(node)}")
            time.sleep(0.05)

    def _output(self, node: int) -> str:
        with contextlib.suppress(OSError):
            return (self.folder / str(node) / "output.txt").read_text(errors="replace")[-4000:]
        return ""
