"""`make release`: everything that a release would upload, built and tried as a stranger would. Nothing is uploaded.

The sdist comes from the working tree, the wheels from the sdist alone: a pure one, and a compiled one for each Python
that is found. Each of these is installed into an empty environment, in an empty folder; there the test of README runs
under pytest, and a client talks to `odradek serve`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
CLIENT = """
import sys
from confluent_kafka import Consumer, Producer

address = {"bootstrap.servers": sys.argv[1]}
producer = Producer(address)
for number in range(100):
    producer.produce("orders", str(number))
assert producer.flush(60) == 0
consumer = Consumer({**address, "group.id": "release", "auto.offset.reset": "earliest"})
consumer.subscribe(["orders"])
seen = [consumer.poll(60).value() for _ in range(100)]
consumer.close()
assert len(set(seen)) == 100, seen
print("100 records written and read")
"""


class ReleaseError(Exception):
    """What keeps the release back, as one line."""


@dataclass(frozen=True)
class Artefact:
    """A file that would be uploaded, and what became of it."""

    path: Path
    python: str
    form: str
    readme: str
    served: str


def main() -> None:
    version = check_version()
    pythons = found_pythons()
    target = ROOT / "dist"
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="odradek-release-") as place:
        folder = Path(place)
        tools = environment(folder / "tools", sys.executable, "build", "twine", "check-wheel-contents")
        run(tools, "-m", "build", "--sdist", "--outdir", str(target), str(ROOT))
        [sdist] = target.glob(f"odradek-{version}.tar.gz")
        source = unpacked(sdist, folder / "sdist")
        run(tools, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(source))
        for python in pythons.values():
            shutil.rmtree(source)
            source = unpacked(sdist, folder / "sdist")
            builder = environment(folder / "builder", python)
            command = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target), str(source))
            run(builder, *command, ODRADEK_COMPILE="1")
        files = sorted(target.iterdir())
        run(tools, "-m", "twine", "check", "--strict", *map(str, files))
        wheels = [str(path) for path in files if path.suffix == ".whl"]
        run(str(Path(tools).with_name("check-wheel-contents")), "--ignore", "W004,W009", *wheels)
        tried = [
            tried_artefact(path, python, name, folder) for path in files for name, python in fitting(path, pythons)
        ]
    print(table(tried))


def check_version() -> str:
    """The version, which stands in one place and has its part in the change log."""
    text = (ROOT / "src/odradek/_version.py").read_text()
    [version] = re.findall(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    if not re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE):
        raise ReleaseError(f"CHANGELOG.md has no part '## {version}'")
    return str(version)


def found_pythons() -> dict[str, str]:
    """The interpreters on this machine, by version; those that pyenv keeps, too."""
    found = {}
    for version in PYTHONS:
        kept = sorted(
            Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python")
        )
        for candidate in (*map(str, kept), shutil.which(f"python{version}"), sys.executable):
            if candidate and answers(candidate) == version:
                found[version] = candidate
                break
    print(f"found Python {', '.join(found)}; not found: {', '.join(v for v in PYTHONS if v not in found) or 'none'}")
    return found


def answers(python: str) -> str:
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def fitting(path: Path, pythons: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The Pythons that a file is tried on: a compiled wheel's own, and the oldest for what fits all."""
    if match := re.search(r"-cp3(\d+)-", path.name):
        yield f"3.{match[1]}", pythons[f"3.{match[1]}"]
    else:
        yield next(iter(pythons.items()))


def environment(place: Path, python: str, *packages: str) -> str:
    """The interpreter of a new, empty environment with these packages."""
    shutil.rmtree(place, ignore_errors=True)
    run(python, "-m", "venv", str(place))
    inside = str(place / "bin" / "python")
    if packages:
        run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return inside


def unpacked(sdist: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(place)
    [folder] = place.iterdir()
    return folder


def tried_artefact(path: Path, python: str, version: str, folder: Path) -> Artefact:
    inside = environment(folder / "place", python, str(path), "pytest", "confluent-kafka")
    empty = folder / "empty"
    shutil.rmtree(empty, ignore_errors=True)
    empty.mkdir()
    form = run(inside, "-m", "odradek", "--version", cwd=empty).strip()
    wanted = "compiled" if compiled(path) else "pure"
    if wanted not in form:
        raise ReleaseError(f"{path.name} says of itself: {form}")
    (empty / "test_orders.py").write_text(readme_test())
    passed = run(inside, "-m", "pytest", "-q", cwd=empty).strip().splitlines()[-1]
    with served(inside, empty) as address:
        said = run(inside, "-c", CLIENT, address, cwd=empty).strip()
    return Artefact(path, version, wanted, passed, said)


def compiled(path: Path) -> bool:
    return path.suffix == ".whl" and any(name.endswith((".so", ".pyd")) for name in zipfile.ZipFile(path).namelist())


def readme_test() -> str:
    """The first test of README, as a user would copy it."""
    [first, *_] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return str(first)


@contextmanager
def served(python: str, cwd: Path) -> Iterator[str]:
    """The address of `odradek serve` in a process of its own."""
    command = [python, "-m", "odradek", "serve", "--port", "0", "--topic", "orders:3"]
    with subprocess.Popen(command, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if match := re.search(r"127\.0\.0\.1:\d+", line):
                    yield match[0]
                    break
            else:
                raise ReleaseError("odradek serve ended before it said where it listens")
        finally:
            process.terminate()


def run(*words: str, cwd: Path | None = None, **variables: str) -> str:
    """What a program prints; its error is shown, and ends the release."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(words, cwd=cwd, env=keep | variables, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n", file=sys.stderr)
        raise ReleaseError(f"status {done.returncode}: {' '.join(words)[:300]}")
    return done.stdout


def table(tried: Sequence[Artefact]) -> str:
    head = ("artefact", "MB", "Python", "form", "test of README", "odradek serve")
    rows = [
        (each.path.name, f"{each.path.stat().st_size / 1e6:.1f}", each.python, each.form, each.readme, each.served)
        for each in tried
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    )


if __name__ == "__main__":
    try:
        main()
    except ReleaseError as reason:
        sys.exit(f"no release: {reason}")
