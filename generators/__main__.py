"""Write all generated code, or only say whether it is current: `python -m generators [--check]`.

Each module named in `GENERATORS` has a function `files() -> dict[str, str]`: paths below the repository to source text.
Ruff formats them here and removes unused imports. They run in this order: a later one may import what an earlier one
has written.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
GENERATORS = ("messages", "codecs", "blocking", "remote_calls", "api_index")
FOLDERS = ("protocol/generated", "broker/api/generated", "broker/facade/generated")
PACKAGE = '"""Generated: do not edit, run `make generate`."""\n'


def main(arguments: list[str]) -> int:
    """Write the files and remove all others; with `--check` only name both. Returns the exit status."""
    check = arguments == ["--check"]
    if arguments and not check:
        print(__doc__.splitlines()[0])
        return 2
    known: set[Path] = set()
    stale: list[Path] = []
    for name in GENERATORS:
        for path, text in laid_out(import_module(f"generators.{name}").files()).items():
            known.add(path)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path)
                if not check:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
    strays = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")} - known
    for path in strays if not check else ():
        path.unlink()
    for path in (*stale, *sorted(strays)):
        print(f"{'not current' if check else 'written' if path in known else 'removed'}: {path.relative_to(ROOT)}")
    if check and (stale or strays):
        print("run: make generate")
        return 1
    return 0


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
