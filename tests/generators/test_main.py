"""The command that writes and checks all generated code."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from generators import __main__ as command

FILES = {"one/generated/first.py": "import os\nimport abc\nabc\nx = [1,2]\n"}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one generator, and its folder with a file that nobody writes."""
    generator: Any = SimpleNamespace(files=lambda: FILES)
    monkeypatch.setitem(sys.modules, "generators.fake", generator)
    monkeypatch.setattr(command, "GENERATORS", {"one/generated": ("fake",)})
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "one" / "generated").mkdir(parents=True)
    (tmp_path / "one" / "generated" / "stray.py").touch()
    monkeypatch.setattr(command, "ROOT", tmp_path)
    return tmp_path


def test_files_are_formatted_and_strays_removed(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    written = {path.name: path.read_text() for path in (tree / "one" / "generated").iterdir()}
    assert written == {"__init__.py": command.PACKAGE, "first.py": "import abc\n\nabc\nx = [1, 2]\n"}
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "written: one/generated/__init__.py",
        "written: one/generated/first.py",
        "removed: one/generated/stray.py",
    ]


def test_a_check_names_what_is_not_current_and_writes_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "not current: one/generated/__init__.py",
        "not current: one/generated/first.py",
        "nobody writes it: one/generated/stray.py",
        "run: make generate",
    ]
    assert [path.name for path in (tree / "one" / "generated").iterdir()] == ["stray.py"]


def test_a_generator_that_fails_leaves_what_was_written_before(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "GENERATORS", {**command.GENERATORS, "two/generated": ("missing",)})
    with pytest.raises(ModuleNotFoundError):
        command.main([])
    assert {path.name for path in (tree / "one" / "generated").iterdir()} == {"__init__.py", "first.py"}


def test_an_unknown_word_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--chekc"]) == 2
    assert "[--check]" in capsys.readouterr().out
