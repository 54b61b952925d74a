"""Write all generated code, or only say whether it is current: `python -m generators [--check]`.

Each module named in `GENERATORS` has a function `files() -> dict[str, str]`: paths below the repository to source text.
Ruff formats them here and removes unused imports. The generators run one after the other, as a later one may import
what an earlier one has written: if it cannot, what is already written is whole.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
GENERATORS = {
    "protocol/generated": ("messages", "codecs"),
    "broker/facade/generated": ("blocking",),
    "broker/api/generated": ("api_index",),
}
"""A folder to the modules here that write all of it."""
PACKAGE = '"""Generated: do not edit, run `make generate`."""\n'


def main(arguments: list[str]) -> int:
    """Write the files and remove all others; with `--check` only name both. Returns the exit status."""
    check = arguments == ["--check"]
    if arguments and not check:
        print(__doc__.splitlines()[0])
        return 2
    stale = [path for folder in GENERATORS for path in _brought_up_to_date(folder, write=not check)]
    if check and stale:
        print("run: make generate")
        return 1
    return 0


def _brought_up_to_date(folder: str, *, write: bool) -> Iterator[Path]:
    """The outdated files of a folder, one line each."""
    known: set[Path] = set()
    for name in GENERATORS[folder]:
        for path, text in laid_out(import_module(f"generators.{name}").files()).items():
            known.add(path)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                if write:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
                print(f"{'written' if write else 'not current'}: {path.relative_to(ROOT)}")
                yield path
    for path in sorted({*(ROOT / folder).rglob("*.py")} - known):
        if write:
            path.unlink()
        print(f"{'removed' if write else 'nobody writes it'}: {path.relative_to(ROOT)}")
        yield path


def laid_out(files: dict[str, str]) -> dict[Path, str]:
    """The files as ruff imports and formats them, with an `__init__.py` for each of their packages."""
    packages = {parent for path in files for parent in PurePosixPath(path).parents if "generated" in parent.parts}
    files = {**{f"{package}/__init__.py": PACKAGE for package in packages}, **files}
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        config = f"--config={ROOT / 'pyproject.toml'}"
        for words in (["check", "--fix", "--select=F401"], ["check", "--fix", "--select=I"], ["format"]):
            subprocess.run([sys.executable, "-m", "ruff", *words, "--quiet", "--no-cache", config, folder], check=True)
        return {ROOT / path: Path(folder, path).read_text(encoding="utf-8") for path in files}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
