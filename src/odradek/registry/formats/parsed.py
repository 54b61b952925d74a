"""The interface of a schema format, and the compatibility levels: which schema must read which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self

ReferencedTexts = Mapping[str, str]
"""The texts that a schema refers to, by the name that it calls them, those that need no other first."""


class Parsed(Protocol):
    """A parsed schema."""

    @property
    def canonical(self) -> str:
        """The text that is stored: equal for schemas that differ in how they are written only."""
        ...

    @property
    def normalized(self) -> str:
        """The text that is stored where the schema is to be normalized. ValueError if it cannot be."""
        ...

    @property
    def formats(self) -> Mapping[str, Callable[[], str]]:
        """Other texts of the schema, by the name under which clients ask for them."""
        ...

    def reads(self, writer: Self) -> Sequence[str]:
        """Why this schema can't read what the other one wrote; empty if it can."""
        ...


Parse = Callable[[str, ReferencedTexts], Parsed]
"""Understand a text. ValueError, in words, for one that is no schema."""

LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")


def reasons_against(new: Parsed, level: str, earlier: Sequence[tuple[int, Parsed]]) -> list[str]:
    """Why a schema may not follow earlier ones, which come by version, oldest first; empty if it may.

    BACKWARD: the new schema reads what the last one wrote; FORWARD: the last one reads what the new one wrote;
    FULL: both. TRANSITIVE: with all earlier ones instead of the last.
    """
    direction, _, transitive = level.partition("_")
    reasons: list[str] = []
    for version, old in reversed(earlier if transitive else earlier[-1:]):
        if type(old) is not type(new):
            reasons.append(f"version {version} is a schema of another type")
            break
        if direction in ("BACKWARD", "FULL"):
            reasons += [f"cannot read version {version}: {each}" for each in new.reads(old)]
        if direction in ("FORWARD", "FULL"):
            reasons += [f"version {version} cannot read it: {each}" for each in old.reads(new)]
        if reasons:
            break
    return reasons if direction != "NONE" else []
