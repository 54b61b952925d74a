"""The ``odradek`` command, run as a user runs it."""

from __future__ import annotations

import argparse
import builtins
import errno
import importlib
import io
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from odradek import __version__, compiled
from odradek.__main__ import main
from odradek.commands import COMMANDS, MODULES, CommandParser


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "odradek", *words]


def test_odradek_prints_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    kind = "compiled" if compiled else "pure"
    assert capsys.readouterr().out == f"odradek {__version__} ({kind})\n"


def test_the_command_line_is_quick_to_say_no() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "odradek", "--version"], capture_output=True, text=True, timeout=120
    )
    assert "trio" not in done.stderr
    assert "construct" not in done.stderr


def parsers() -> Iterator[CommandParser]:
    """The parser of each command, and of each job of `odradek pipeline`."""
    for name, (_, example) in COMMANDS.items():
        parser = CommandParser(prog=f"odradek {name}", example=example)
        importlib.import_module(f"odradek.commands.{MODULES.get(name, name)}").add_arguments(parser)
        yield parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                yield from action.choices.values()


PARSERS = {parser.prog: parser for parser in parsers()}
OPTIONS = [
    (prog, action.option_strings[0])
    for prog, parser in PARSERS.items()
    for action in parser._actions
    if action.option_strings and (action.type not in (None, Path) or action.choices)
]


def refused(prog: str, *words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command says to a mistake, without its name and the way to its help."""
    with pytest.raises(SystemExit) as ended:
        main([*prog.split()[1:], *words])
    assert ended.value.code == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert error.startswith(f"{prog}: ")
    assert error.endswith(f" ({prog} --help)\n")
    return error.removeprefix(f"{prog}: ").removesuffix(f" ({prog} --help)\n")


@pytest.mark.parametrize(("prog", "option"), OPTIONS)
def test_a_wrong_value_is_one_line_that_names_command_and_option(
    prog: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert option in refused(prog, f"{option}=no such value", capsys=capsys)


# The commands of `odradek tools` refuse in Kafka's words (tests/frontdoor/tools/test_options.py).
@pytest.mark.parametrize("prog", sorted(set(PARSERS) - {"odradek tools"}))
def test_an_unknown_option_is_refused_by_its_command(prog: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = example_of(PARSERS[prog])
    if prog == "odradek pipeline":  # the job refuses it
        prog = f"{prog} {words.pop(0)}"
    assert refused(prog, *words, "--bogus", capsys=capsys) == "unrecognized argument --bogus"


def example_of(parser: CommandParser) -> list[str]:
    """The words of the example in a command's help, behind its name."""
    example = parser.format_help().rpartition("example:\n")[2]
    assert parser.prog in example
    return shlex.split(example.partition(parser.prog)[2].partition(" | ")[0])


def test_the_nearest_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused("odradek serve", "--prot", "1", capsys=capsys) == (
        "unrecognized argument --prot (did you mean '--port'?)"
    )


@pytest.mark.parametrize("prog", PARSERS)
def test_the_help_has_an_example_that_parses(prog: str) -> None:
    assert PARSERS[prog].parse_args(example_of(PARSERS[prog]))


@pytest.mark.parametrize(
    ("prog", "option", "other"),
    [
        (prog, option.option_strings[0], other.option_strings[0])
        for prog, parser in PARSERS.items()
        for option, other in parser._needs
    ],
)
def test_an_option_without_the_one_that_it_depends_on_is_refused(
    prog: str, option: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = PARSERS[prog]
    needed = [word for action in parser._actions if action.required for word in words_of(action)]
    place = ["--log-dir", "x"] if parser._mutually_exclusive_groups and "--log-dir" in parser.format_help() else []
    assert refused(prog, *needed, *place, option, "7", capsys=capsys) == f"{option} needs {other}"


def words_of(action: argparse.Action) -> list[str]:
    """An argument that its type takes."""
    if not action.option_strings:
        return ["x"]
    return [action.option_strings[0], "host:1" if "servers" in action.option_strings[0] else "x"]


def test_at_is_the_address_of_a_control_api_in_every_command() -> None:
    named = {
        (option, action.metavar)
        for parser in PARSERS.values()
        for action in parser._actions
        for option in action.option_strings
        if option in ("--at", "--bootstrap-servers")
    }
    assert named == {("--at", "URL"), ("--bootstrap-servers", "HOST:PORT,...")}


@pytest.mark.parametrize(
    "words",
    [
        ["dump", "FOLDER"],
        ["serve", "--port", "0", "--data-dir", "FOLDER"],
        ["serve", "--port", "0", "--config-file", "FOLDER"],
        ["transcript", "FOLDER"],
        ["export", "FOLDER", "--bootstrap-servers", "127.0.0.1:1"],
    ],
)
def test_a_folder_that_cannot_be_read_is_one_line(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The superuser reads everything, so the system's answer is replaced."""

    for module, name in (
        (os, "listdir"),
        (os, "scandir"),
        (os, "open"),
        (os, "mkdir"),
        (io, "open"),
        (builtins, "open"),
    ):
        monkeypatch.setattr(module, name, refusing(tmp_path, getattr(module, name)))
    assert main([str(tmp_path) if word == "FOLDER" else word for word in words]) == 2
    monkeypatch.undo()
    assert capsys.readouterr().err == f"odradek {words[0]}: {tmp_path}: Permission denied\n"


def refusing(folder: Path, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same call, which may do nothing in the folder."""

    def refused_there(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).startswith(str(folder)):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return call(path, *arguments, **options)

    return refused_there
