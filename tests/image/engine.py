"""A container engine, found by its program on the PATH: docker or podman. `DOCKER_HOST` says where docker asks."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

_PATIENCE_S = 60.0


class Failed(Exception):
    """A command of the engine, or in a container, that did not end with 0; its output."""


class Engine:
    """The engine's commands. Failed for each that ends with another status than 0."""

    def __init__(self, program: str) -> None:
        self._program = program

    def __call__(self, *words: str, given: str | None = None, timeout_s: float = 600.0) -> str:
        """What a command prints."""
        done = subprocess.run(
            [self._program, *words], input=given, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        if done.returncode:
            raise Failed(f"{' '.join(words[:2])}: {(done.stderr or done.stdout).strip()}")
        return done.stdout.strip()

    @contextlib.contextmanager
    def network(self) -> Iterator[str]:
        """A network for as long as the block lasts."""
        name = f"odradek-{uuid4().hex[:8]}"
        self("network", "create", name)
        try:
            yield name
        finally:
            self("network", "rm", name)

    @contextlib.contextmanager
    def container(
        self, image: str, *options: str, environment: Mapping[str, str] | None = None, files: Sequence[Path] = ()
    ) -> Iterator[str]:
        """A container for as long as the block lasts; `files` are folders that are copied over its root."""
        settings = [word for name, value in (environment or {}).items() for word in ("--env", f"{name}={value}")]
        container = self("create", *options, *settings, image)
        try:
            for folder in files:
                self("cp", f"{folder}/.", f"{container}:/")
            self("start", container)
            yield container
        finally:
            self("rm", "--force", container)

    def healthy(self, container: str) -> float:
        """Seconds until the container's own health check passes; Failed if the container ends before, or none does."""
        began = time.monotonic()
        while True:
            try:
                self("exec", container, "python", "-m", "odradek.container.health")
                return time.monotonic() - began
            except Failed as error:
                state = self("inspect", "--format", "{{.State.Running}}", container)
                if state != "true" or time.monotonic() - began > _PATIENCE_S:
                    raise Failed(self.last_line(container) or str(error)) from None

    def last_line(self, container: str) -> str:
        """The last line that the container printed, on either stream."""
        done = subprocess.run([self._program, "logs", container], capture_output=True, text=True, check=False)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        return lines[-1] if lines else ""


def found() -> Engine | None:
    """The engine that answers; None without one."""
    for program in ("docker", "podman"):
        if shutil.which(program):
            engine = Engine(program)
            with contextlib.suppress(Failed, OSError, subprocess.TimeoutExpired):
                engine("version", timeout_s=20)
                return engine
    return None
