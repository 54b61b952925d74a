"""What the registry asks of a language of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, Self

Needed = Mapping[str, str]
"""The texts that a schema refers to, by the name that it calls them, those that need no other first."""


class Parsed(Protocol):
    """A schema that was understood."""

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


Parse = Callable[[str, Needed], Parsed]
"""Understand a text. ValueError, in words, for one that is no schema."""
