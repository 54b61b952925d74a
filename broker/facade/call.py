"""How a user's thread reaches the broker's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class BrokerClosedError(RuntimeError):
    """The broker does not run (any more)."""


class Call(Protocol):
    """Runs a function in the broker's own thread and returns its result, or raises what it raises.

    Directly when the broker runs in the caller's trio run; handed over when it has a thread of its own.
    """

    def __call__(self, function: Callable[[], T], /) -> T: ...
