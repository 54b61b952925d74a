"""The languages of schemas: the canonical text of a schema, and whether it can read what another schema wrote.

Here are the interface of a format, and the compatibility levels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self

ReferencedTexts = Mapping[str, str]
"""The referenced texts by name; each text comes after the texts that it needs."""


class Parsed(Protocol):
    """A parsed schema."""

    @property
    def canonical(self) -> str:
        """The text to store. Schemas that differ only in notation have the same one."""
        ...

    @property
    def normalized(self) -> str:
        """The text to store with ``normalize``. ValueError if the schema cannot be normalized."""
        ...

    @property
    def formats(self) -> Mapping[str, Callable[[], str]]:
        """Functions that write the schema in other formats, by the name of the format."""
        ...

    def reads(self, writer: Self) -> Sequence[str]:
        """Why this schema cannot read data of the other one; empty if it can."""
        ...


Prepare = Callable[[str, ReferencedTexts], Callable[[], Parsed]]
"""Imports what a text needs to be parsed, and gives what parses it. Both may raise ValueError: the schema is invalid.

The first may wait for a process; the second may be interrupted, and called again.
"""

LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")


def reasons_against(new: Parsed, level: str, earlier: Sequence[tuple[int, Parsed]]) -> list[str]:
    """Why a schema is not compatible with earlier versions (oldest first); empty if it is.

    BACKWARD: the new schema reads what the last one wrote; FORWARD: the last one reads what the new one wrote;
    FULL: both. TRANSITIVE: with all earlier ones instead of the last.
    """
    direction, _, transitive = level.partition("_")
    reasons: list[str] = []
    for version, old in reversed(earlier if transitive else earlier[-1:]):
        if type(old) is not type(new):
            reasons.append(f"version {version} has another schema type")
            break
        if direction in ("BACKWARD", "FULL"):
            reasons += [f"cannot read version {version}: {each}" for each in new.reads(old)]
        if direction in ("FORWARD", "FULL"):
            reasons += [f"version {version} cannot read it: {each}" for each in old.reads(new)]
        if reasons:
            break
    return reasons if direction != "NONE" else []
