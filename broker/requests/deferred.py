"""Parts of the cluster that a start leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Deferred(Generic[T]):
    """A part that is imported and made by the first call: `services.groups()`.

    Imports are more than half of what a start costs, and most brokers never use every part.
    """

    __slots__ = ("_make", "made")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self.made: T | None = None
        """The part, or None while nobody has needed it."""

    def __call__(self) -> T:
        """The part, made now if need be."""
        made = self.made
        if made is None:
            made = self.made = self._make()
        return made
