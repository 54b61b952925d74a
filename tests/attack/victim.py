"""The process that is attacked: `odradek serve` with all doors, a control API and a schema registry."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.attack.doors import LISTENERS, grant, secured
from tests.attack.frames import LIMITS, TOPICS
from tests.conformance.real_kafka import free_ports
from tests.fakes.wire_client import WireClient

_URL = re.compile(r"odradek (control|schema registry) on (\S+)")
_STOPS_WITHIN_S = 20.0


class Victim:
    """The broker under attack, and what is seen of it from outside.

    `ports`: by the name of the listener. `control`, `registry`: URLs.
    """

    def __init__(self, config: Mapping[str, str] | None = None, data_dir: Path | None = None) -> None:
        """`data_dir`: a log directory that is there; else a new one. RuntimeError with the log if it does not start."""
        self.ports = dict(zip(LISTENERS, free_ports(len(LISTENERS)), strict=True))
        self._folder = tempfile.TemporaryDirectory(prefix="attack-")
        folder = Path(self._folder.name)
        self._log = folder / "log.txt"
        settings = {**LIMITS, **secured(self.ports), **(config or {})}
        file = folder / "server.properties"
        file.write_text("".join(f"{name}={_escaped(value)}\n" for name, value in settings.items()))
        command = [sys.executable, "-m", "odradek", "serve", "--config-file", str(file)]
        command += ["--control-port", "0", "--registry-port", "0", "--data-dir", str(data_dir or folder / "data")]
        for name, form in TOPICS.items():
            command += ["--topic", f"{name}:{form}" if isinstance(form, int) else f"{name}:1:cleanup.policy=compact"]
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
        try:
            urls = self._urls()
        except RuntimeError:
            self.__exit__(RuntimeError, None, None)
            raise
        self.control, self.registry = urls["control"], urls["schema registry"]
        grant(self.ports["PLAIN"])

    def _urls(self) -> dict[str, str]:
        assert self._process.stdout is not None
        urls = {}
        for line in self._process.stdout:
            found = _URL.match(line)
            if found:
                urls[found[1]] = found[2]
            elif line.startswith("odradek ready on "):
                return urls
        raise RuntimeError(f"odradek did not start: {self._log.read_text(errors='replace')[-3000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._process.terminate()
            status = self._process.wait(_STOPS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            status = None
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._folder.cleanup()
        if kind is None:
            assert status == 0, f"the broker ended with the status {status}"

    def limit_files(self, number: int) -> None:
        """Let it have so many file descriptors at most."""
        resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE, (number, number))

    def client(self) -> WireClient:
        """A connection to the plain listener."""
        return WireClient("127.0.0.1", self.ports["PLAIN"])

    def memory(self, kind: str = "VmRSS") -> int:
        """The resident memory in bytes; "VmHWM": the most that it has been."""
        found = re.search(kind + r":\s+(\d+) kB", Path(f"/proc/{self._process.pid}/status").read_text())
        assert found is not None, "the broker has ended"
        return int(found[1]) * 1024

    def open_files(self) -> int:
        """The number of its file descriptors."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def faults(self) -> list[str]:
        """The lines of its log that tell of a bug, and how the tracebacks end; each once."""
        found: dict[str, None] = {}
        inside = False
        with self._log.open(errors="replace") as lines:
            for line in lines:
                if inside and not line.startswith((" ", "\t")):
                    found[line.strip()] = None
                inside = line.startswith("Traceback") or (inside and line.startswith((" ", "\t")))
                if "bug in" in line:
                    found[line.partition("bug in")[2].strip()] = None
        return list(found)


def _escaped(value: str) -> str:
    """A value in a file of Java's properties."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")
