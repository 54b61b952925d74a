"""odradek's compiled form for a benchmark: what `make compiled` makes, built anew when the sources have changed."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.bench.go_program import last_line
from tests.conformance.real_kafka import Unavailable

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "build" / "compiled"
STAMP = "sources.sha256"


@functools.cache
def compiled_package() -> Path:
    """The folder for PYTHONPATH; Unavailable says in one line what is missing to make it."""
    digest = sources_digest(ROOT)
    stamp = PACKAGE / STAMP
    if not stamp.exists() or stamp.read_text() != digest:
        lack = what_is_missing()
        if lack is not None:
            raise Unavailable(lack)
        print("compiling odradek into build/compiled: a minute or two, once for each state of the sources", flush=True)
        make = subprocess.run(["make", "compiled"], cwd=ROOT, capture_output=True, text=True, check=False)
        if make.returncode:
            raise Unavailable(f"`make compiled` failed: {last_line(make.stderr)}")
        stamp.write_text(digest)
    check = "import odradek, sys; sys.exit(not odradek.compiled)"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    if subprocess.run([sys.executable, "-c", check], env=environment, check=False).returncode:
        raise Unavailable("build/compiled is not for this Python")
    return PACKAGE


def what_is_missing() -> str | None:
    """What a build needs and this machine has not, as one line."""
    compiler = str(sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return f"needs a C compiler: no `{compiler}` on the PATH"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return "needs Python's headers: no Python.h"
    if shutil.which("make") is None:
        return "needs `make`"
    return None


def sources_digest(root: Path) -> str:
    """Of everything that goes into the wheel, its names and its bytes, and of the Python that runs this."""
    digest = hashlib.sha256(sys.version.encode())
    for path in sources(root):
        digest.update(f"{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def sources(root: Path) -> Iterator[Path]:
    yield root / "pyproject.toml"
    yield root / "setup.py"
    for folder in ("broker", "pipeline", "protocol", "storage", "src"):
        for path in sorted((root / folder).rglob("*")):  # rglob follows no links: src/odradek/broker is one
            if path.is_file() and path.suffix != ".pyc":
                yield path
