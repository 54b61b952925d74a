"""Orders to coordinators."""

from __future__ import annotations

from typing import Generic, TypeVar

R = TypeVar("R")
"""The reply type of a command."""


class Command(Generic[R]):
    """An order to a coordinator, named in the imperative; `R` is the type of its reply.

    Commands are plain values. Subclasses use `__slots__` and a plain `__init__`: there is one for every request.
    """

    __slots__ = ()
