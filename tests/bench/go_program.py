"""Builds the Go programs of the benchmark, each from its folder, once for each state of the sources."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.conformance.real_kafka import Unavailable, cache_dir, cache_lock

HERE = Path(__file__).resolve().parent


def go_program(name: str) -> Path:
    """The program of the folder `name`; Unavailable says in one line what is missing to build it."""
    go = shutil.which("go")
    if go is None:
        raise Unavailable("needs Go: no `go` on the PATH")
    folder = HERE / name
    sources = sorted(folder.glob("*.go")) + [folder / "go.mod", folder / "go.sum"]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    program = cache_dir() / f"{name}-{digest}"
    with cache_lock():
        if not program.exists():
            command = [go, "build", "-o", str(program), "."]
            built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if built.returncode:
                raise Unavailable(f"Go could not build {name}: {last_line(built.stderr)}")
    return program


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
