"""Writes `index.py`: `python -m odradek.broker.api.generate_index`, after a handler was added or changed.

The index says what is served without importing it. A test compares it with the handlers.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from odradek.broker.requests.registry import HANDLERS

_PACKAGE = __package__ or "odradek.broker.api"
TARGET = Path(__file__).with_name("index.py")


def index_source() -> str:
    """The text that `index.py` should have."""
    _import_all()
    rows = [
        f'    {key}: ("{handler.function.__module__.rpartition(".")[2]}", '
        f"{handler.min_version}, {handler.max_version}, {handler.advertised}),  # {handler.spec.name}\n"
        for key, handler in sorted(HANDLERS.items())
    ]
    return (
        '"""What is served, and by which module here: key -> (module, lowest, highest version, advertised).\n\n'
        "Generated from the handlers: do not edit, run `python -m odradek.broker.api.generate_index`.\n"
        '"""\n\n'
        "INDEX: dict[int, tuple[str, int, int, bool]] = {\n" + "".join(rows) + "}\n"
    )


def _import_all() -> None:
    package = importlib.import_module(_PACKAGE)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{_PACKAGE}.{module.name}")


if __name__ == "__main__":
    TARGET.write_text(index_source())
