"""`python -m tests.frontdoor.public_api` writes what users of Python can rely on: names, signatures, fields."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import odradek

PAGE = Path(__file__).with_suffix(".txt")


def rendered() -> str:
    """The public names of `odradek` with their signatures, one line each."""
    lines: list[str] = []
    for name in sorted(odradek.__all__):
        lines += _lines(name, getattr(odradek, name))
    return "\n".join(lines).replace("'", "") + "\n"


def _lines(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object and not _only_tells(base))
        yield f"class {name}({bases})" if bases else f"class {name}"
        if not issubclass(value, enum.Enum | Exception):
            yield f"    {inspect.signature(value)}"
        yield from _members(value)
    elif callable(value):
        yield f"def {name}{inspect.signature(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _only_tells(base: type) -> bool:
    """Whether a base only words errors."""
    return base.__module__ in ("odradek.broker.mistakes", "odradek.broker.facade.names")


def _members(owner: type) -> Iterator[str]:
    if issubclass(owner, enum.Enum):
        yield f"    {len(owner)} members"
        return
    for name, member in sorted(inspect.getmembers_static(owner)):
        if name.startswith("_") or not _is_ours(owner, name):
            continue
        if isinstance(member, property):
            kind = "property" if member.fset is None else "settable property"
            yield f"    {name}: {kind} {inspect.signature(member.fget).return_annotation if member.fget else ''}"
        elif inspect.isroutine(member):
            yield f"    {name}{inspect.signature(getattr(owner, name))}"


def _is_ours(owner: type, name: str) -> bool:
    """Whether the member was defined by odradek, not by a class of the standard library or of trio."""
    home = next(base for base in owner.__mro__ if name in vars(base))
    return home.__module__.startswith("odradek")


if __name__ == "__main__":
    PAGE.write_text(rendered())
