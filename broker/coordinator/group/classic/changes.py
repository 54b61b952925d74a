"""What one command causes, gathered while it is decided."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from odradek.broker.runtime.machine import Effect, NewRecord, Outcome, R, make_outcome


class Changes:
    """Records to write and effects, in order; `then` and `waits` as in `Outcome`."""

    __slots__ = ("effects", "now_ms", "records", "then", "waits")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.records: list[NewRecord] = []
        self.effects: list[Effect] = []
        self.waits = True
        self.then: Callable[[], Sequence[Effect]] | None = None

    def answered(self, reply: R) -> Outcome[R]:
        """The outcome of a command that is answered now."""
        return make_outcome(self.records, reply=reply, effects=self.effects, then=self.then, waits=self.waits)

    def parked(self, ticket: Hashable) -> Outcome[R]:
        """The outcome of a command that is answered later, under this ticket."""
        return make_outcome(self.records, park=ticket, effects=self.effects, then=self.then, waits=self.waits)
