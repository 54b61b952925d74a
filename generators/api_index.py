"""Source text of `broker/api/generated/index.py`, from the handlers: what is served, without importing it."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import SimpleNamespace
from typing import Any

from odradek.broker.requests.handlers import HANDLERS

PACKAGE = "odradek.broker.api"


def files() -> dict[str, str]:
    """Path -> source text."""
    unread: Any = SimpleNamespace(INDEX={})  # the present index may be missing, or broken by a merge
    sys.modules[f"{PACKAGE}.generated.index"] = unread
    for module in pkgutil.iter_modules(importlib.import_module(PACKAGE).__path__):
        importlib.import_module(f"{PACKAGE}.{module.name}")
    rows = [
        f'    {key}: ("{handler.function.__module__.rpartition(".")[2]}", '
        f"{handler.min_version}, {handler.max_version}),  # {handler.spec.name}\n"
        for key, handler in sorted(HANDLERS.items())
    ]
    text = (
        '"""What is served, and by which module: key -> (module, lowest, highest version).\n\n'
        'Generated from the handlers: do not edit, run `make generate`.\n"""\n\n'
        "INDEX: dict[int, tuple[str, int, int]] = {\n" + "".join(rows) + "}\n"
    )
    return {"broker/api/generated/index.py": text}
