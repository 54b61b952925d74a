"""README, the examples and the packaging list keep up with the code."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from odradek.commands.codec import run_decode

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "odradek": "src/odradek",
    "broker": "broker",
    "protocol": "protocol",
    "storage": "storage",
    "pipeline": "pipeline",
}

LINKS = [ROOT / "src" / "odradek" / name for name in FOLDERS if name != "odradek"]  # text files in some checkouts


def test_links_between_the_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.relative_to(ROOT)} -> {target}"


def test_a_page_links_a_kip_where_it_first_names_it() -> None:
    generated = {"authorization.md", "configuration.md", "coverage.md", "kafka-suite.md"}
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for number in set(re.findall(r"KIP-(\d+)", page.read_text())) if page.name not in generated else ():
            first = re.search(rf".?KIP-{number}\b", page.read_text())
            assert first is not None
            assert first[0].startswith("["), f"{page.name}: KIP-{number}"


def test_frames_are_decoded_as_the_page_on_debugging_shows() -> None:
    page = (ROOT / "docs" / "debugging.md").read_text()
    examples = re.findall(r"\$ echo '(.*)' \| odradek decode (\w+)\n(.*)\n", page)
    assert len(examples) == 2
    for line, kind, shown in examples:
        out = io.StringIO()
        assert run_decode(kind, [line], out) == 0
        assert out.getvalue() == shown + "\n"


def test_quickstart_of_the_readme_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "quickstart.py")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert any("b'order 4' (('kind', b'book'),)" in line for line in lines)


TEMPLATES = (ROOT / "pipeline/project", ROOT / "pipeline/worker_path")
"""Data of the package above, though Python: it is copied for a user, or put on the path of Spark's workers."""


def packages_in(folder: Path, name: str) -> set[str]:
    """Every folder with Python modules, as the name of its package."""
    found = set()
    for module in folder.rglob("*.py"):
        inner = module.parent.relative_to(folder)
        if any(parent in TEMPLATES for parent in module.parents):
            continue
        if "__pycache__" not in inner.parts and not any((folder / part).is_symlink() for part in inner.parts[:1]):
            found.add(".".join([name, *inner.parts]))
    return found


def test_the_list_of_packages_is_complete() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    expected: set[str] = set()
    for name, folder in FOLDERS.items():
        package = "odradek" if name == "odradek" else f"odradek.{name}"
        expected |= packages_in(ROOT / folder, package)
    assert set(settings["packages"]) == expected


def test_data_files_are_packaged() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    patterns = settings["package-data"]
    for name, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            inside_link = any(parent.is_symlink() for parent in path.parents if parent != ROOT)
            if inside_link or not path.is_file() or path.suffix in (".py", ".pyc") or "__pycache__" in path.parts:
                continue
            if path.is_symlink() or path in LINKS or path.name == "README.md":  # for readers of the sources
                continue
            home = next((parent.parent for parent in path.parents if parent in TEMPLATES), path.parent)
            inner = home.relative_to(ROOT / folder)
            package = ".".join(["odradek", *([] if name == "odradek" else [name]), *inner.parts])
            assert any(path.match(pattern) for pattern in patterns.get(package, [])), f"{path} is not packaged"
