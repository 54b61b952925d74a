"""What a shard knows, as a value: so a copy of a broker goes on where the broker was, soft state and timers included.

A reload from the log keeps what records say; clients would notice the rest (a rebalance that begins again, sessions
that are new). The copy is pickled: values of this process alone, taken in one pass, which nothing can change later.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from odradek.broker.runtime.timers import TimerQueue


class Copyable(Protocol):
    """A machine that can be copied."""

    def kept(self) -> object:
        """All that commands and records have changed in it: values that know nothing of the broker around them."""

    def take(self, kept: Any) -> None:
        """Be as the machine was that gave this; called on a fresh one, which may keep the values."""


class _Copy(NamedTuple):
    kept: object
    timers: Sequence[tuple[Hashable, int, Any]]
    tickets: Sequence[Hashable]


def pickled(machine: Copyable, timers: TimerQueue, tickets: Sequence[Hashable]) -> bytes:
    """A machine with its timers; `tickets`: of the commands that are parked."""
    return pickle.dumps(tuple(_Copy(machine.kept(), timers.entries(), tickets)), pickle.HIGHEST_PROTOCOL)


def take(copy: bytes, machine: Copyable, timers: TimerQueue) -> Sequence[Hashable]:
    """Bring a fresh machine to where the copy was made; returns the tickets of the commands that were parked."""
    known = _Copy(*pickle.loads(copy))
    machine.take(known.kept)
    for key, deadline_ms, command in known.timers:
        timers.schedule(key, deadline_ms, command)
    return known.tickets
