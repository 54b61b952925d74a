"""Writes `facade/remote/calls.py`; `python -m odradek.broker.facade.generate_blocking` does it too.

A broker over HTTP has every look and verb of `BlockingBroker`, each a request. A test compares.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_FACADE = Path(__file__).parent
TARGET = _FACADE / "remote" / "calls.py"
HAND_WRITTEN = {
    "add_fault",
    "cluster",
    "clock",
    "decoded_records",
    "group",
    "produce",
    "produce_all",
    "records",
    "requests",
    "set_faults",
    "wait_hit",
}
"""What `RemoteBroker` does in its own way."""

_HEAD = '''"""The looks and verbs of a broker over HTTP.

Generated from facade/broker.py and facade/blocking: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.blocking.broker import BlockingBroker
from odradek.broker.facade.future_wait import WAIT_TIMEOUT_S
from odradek.broker.facade.remote.transport import Transport

if TYPE_CHECKING:
{imports}


class RemoteCalls(BlockingBroker):
    """Each member asks the broker's process."""

    @property
    def _remote(self) -> Transport:
        raise NotImplementedError

{methods}
'''


def remote_source() -> str:
    """The text that `calls.py` should have."""
    sources = {path: ast.parse(path.read_text()) for path in _sources()}
    methods = "\n".join(_remote(method) for tree in sources.values() for method in _methods(tree))
    source = _HEAD.format(imports=_imports(sources, methods), methods=methods)
    source = _ruff(source, "check", "--quiet", "--select", "I,F401", "--fix")
    return _ruff(source, "format", "--quiet")


def _sources() -> list[Path]:
    verbs = sorted((_FACADE / "blocking").glob("[!_]*.py"))
    return [_FACADE / "broker.py", *(path for path in verbs if "BlockingFlavour" in path.read_text())]


def _methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (node.name == "Broker" or node.name.endswith("Verbs")):
            for member in node.body:
                is_public = isinstance(member, ast.FunctionDef) and not member.name.startswith("_")
                if isinstance(member, ast.FunctionDef) and is_public and member.name not in HAND_WRITTEN:
                    yield member


def _remote(method: ast.FunctionDef) -> str:
    given = method.args
    names = [each.arg for each in (*given.args[1:], *given.kwonlyargs)]
    if given.vararg is not None:
        raise ValueError(f"{method.name}(*{given.vararg.arg}) has to be written by hand: see HAND_WRITTEN")
    arguments = "".join(f", {name}={name}" for name in names)
    call = f'self._remote.call("{method.name}"{arguments})'
    result = ast.unparse(method.returns) if method.returns is not None else "None"
    body = f"        {call}" if result == "None" else f"        result: {result} = {call}\n        return result"
    marks = "".join(f"    @{ast.unparse(each)}\n" for each in method.decorator_list)
    return f"{marks}    def {method.name}({ast.unparse(given)}) -> {result}:\n{body}\n"


def _imports(sources: dict[Path, ast.Module], used: str) -> str:
    """Imports for the names that the methods use: those of the sources, and the classes that the sources define."""
    found = {name: f"from {module} import {name}" for module, name in _importable(sources)}
    return "\n".join(f"    {line}" for name, line in sorted(found.items()) if re.search(rf"\b{name}\b", used))


def _importable(sources: dict[Path, ast.Module]) -> Iterator[tuple[str, str]]:
    for path, tree in sources.items():
        home = ".".join(("odradek.broker", *path.relative_to(_FACADE.parent).with_suffix("").parts))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module not in (None, "__future__"):
                yield from ((str(node.module), each.name) for each in node.names if each.name != "TYPE_CHECKING")
        yield from ((home, node.name) for node in tree.body if isinstance(node, ast.ClassDef))


def _ruff(text: str, *words: str) -> str:
    command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
