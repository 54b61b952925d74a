"""Source text of the calls of a broker over HTTP: every look and verb of `BlockingBroker`, each a request."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from generators import blocking

ROOT = Path(__file__).resolve().parents[1]
LOOKS = "broker/facade/broker.py"
TARGET = "broker/facade/generated/remote_calls.py"
HAND_WRITTEN = {
    "add_fault",
    "cluster",
    "clock",
    "group",
    "produce",
    "produce_all",
    "records",
    "requests",
    "set_faults",
    "wait_hit",
}
"""The methods that `RemoteBroker` writes itself."""

_HEAD = '''"""The looks and verbs of a broker over HTTP.

Generated from facade/broker.py and facade/verbs: do not edit, run `make generate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.generated.blocking.broker import BlockingBroker
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S
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


def files() -> dict[str, str]:
    """Path -> source text."""
    texts = {LOOKS: (ROOT / LOOKS).read_text(encoding="utf-8")}
    texts |= {path: text for path, text in blocking.files().items() if "BlockingVerbs" in text}
    sources = {path: ast.parse(text) for path, text in texts.items()}
    methods = "\n".join(_remote(method) for tree in sources.values() for method in _methods(tree))
    return {TARGET: _HEAD.format(imports=_imports(sources, methods), methods=methods)}


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


def _imports(sources: dict[str, ast.Module], used: str) -> str:
    """Imports for the names that the methods use: those of the sources, and the classes that the sources define."""
    found = {name: f"from {module} import {name}" for module, name in _importable(sources)}
    return "\n".join(f"    {line}" for name, line in sorted(found.items()) if re.search(rf"\b{name}\b", used))


def _importable(sources: dict[str, ast.Module]) -> Iterator[tuple[str, str]]:
    for path, tree in sources.items():
        home = f"odradek.{path.removesuffix('.py').replace('/', '.')}"
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module not in (None, "__future__"):
                yield from ((str(node.module), each.name) for each in node.names if each.name != "TYPE_CHECKING")
        yield from ((home, node.name) for node in tree.body if isinstance(node, ast.ClassDef))
