"""The types of arguments, results and fields, as objects instead of the text that annotations are."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
import typing
from collections.abc import Callable
from typing import Any


@functools.cache
def hints_of(owner: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's arguments (and ``return``), or of the fields of a class.

    Names that are imported for type checkers alone are imported now. NameError for a name that is nowhere.
    """
    modules = {owner.__module__}
    if inspect.isclass(owner):
        modules |= {base.__module__ for base in owner.__mro__ if base.__module__.startswith("odradek")}
    names: dict[str, Any] = {}
    for module in modules:
        names |= {**vars(importlib.import_module(module)), **_typing_imports(module)}
    return typing.get_type_hints(owner, globalns=names, localns={**names, **_forward_names()})


@functools.cache
def _typing_imports(module: str) -> dict[str, Any]:
    """The imports under ``if TYPE_CHECKING:``."""
    found: dict[str, Any] = {}
    for node in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom) and each.module is not None:
                    home = importlib.import_module(each.module)
                    found |= {name.asname or name.name: getattr(home, name.name) for name in each.names}
    return found


@functools.cache
def _forward_names() -> dict[str, Any]:
    """The quoted names in aliases such as ``Topics``."""
    from odradek.broker.facade.topics import TopicSpec

    return {"TopicSpec": TopicSpec}
