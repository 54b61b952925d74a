"""Messages with items in all their lists, drawn from the declarations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from odradek.protocol import schema
from odradek.protocol.message import Message

_ITEMS = {schema.Int8: 7, schema.Int32: 7, schema.Int64: 7, schema.String: "asked", schema.Uuid: bytes(16)}
"""What lists that are no lists of structs hold."""
_NUMBERS = frozenset({schema.Int16, schema.Int32, schema.Int64})


def filled(kind: type[Message]) -> Any:
    """A message with one item in every list, and defaults else."""
    message = kind()
    for field in kind.declare():
        if isinstance(field.type, schema.ArrayOf):
            element = field.type.element
            setattr(
                message,
                field.name,
                [filled(element.message) if isinstance(element, schema.StructOf) else _ITEMS[element]],
            )
    return message


def asking(kind: type[Message], version: int, items: int, small: int = 0, numbers: Iterator[int] | None = None) -> Any:
    """A message of one version with so many items in every list, and names of things that are nowhere.

    All names and ids differ. `small`: the value of all Int8, which are mostly enumerations.
    """
    numbers = count(1) if numbers is None else numbers
    message = kind()
    for field in kind.declare():
        if version in field.versions:
            found = _value(field.type, version, items, small, numbers)
            if found is not None:
                setattr(message, field.name, found)
    return message


def _value(kind: Any, version: int, items: int, small: int, numbers: Iterator[int]) -> Any:
    """A value of a type; None for its default."""
    if isinstance(kind, schema.ArrayOf):
        return [_value(kind.element, version, items, small, numbers) for _ in range(items)]
    if isinstance(kind, schema.StructOf):
        return asking(kind.message, version, items, small, numbers)
    if kind is schema.String:
        return f"none-{next(numbers)}"
    if kind is schema.Uuid:
        return next(numbers).to_bytes(16)
    if kind is schema.Int8:
        return small
    return next(numbers) if kind in _NUMBERS else None
