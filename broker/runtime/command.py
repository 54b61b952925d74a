"""Orders to coordinators."""

from __future__ import annotations

from typing import Protocol, TypeVar

R = TypeVar("R")
"""The reply type of a command."""


class Command(Protocol[R]):
    """An order to a coordinator, named in the imperative; `R` is the type of its reply.

    Commands are plain values: classes with `__slots__` and a plain `__init__`, as there is one for every request. They
    satisfy this protocol and do not inherit from it: no compiled class may be generic.
    """

    reply: R
    """Declares the type of what comes back; nobody sets it."""
