"""The steps of a shard as `Commits` uses them: what may be put off until records are committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from odradek.broker.runtime.command import Command
from odradek.broker.runtime.effects import Effect
from odradek.broker.runtime.inbox import ReplySlot
from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import Outcome
from odradek.broker.runtime.parked import ParkedReplies
from odradek.protocol.errors import KafkaError


class Stepping(Protocol):
    """See `Steps`."""

    journal: Journal[Any, Any]
    parked: ParkedReplies

    @property
    def machine(self) -> Any:
        """What decides and replays."""

    def new_machine(self) -> Any:
        """Another machine of the same kind, which knows nothing."""

    def write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay."""

    def refused(self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int) -> Outcome[Any]:
        """What to do instead."""

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay what was appended."""

    def finish(self, outcome: Outcome[Any], slot: ReplySlot[Any] | None, now_ms: int) -> Any | ReplySlot[Any]:
        """What follows."""

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Carry out effects."""

    def committed(self) -> None:
        """More is committed, or another node leads."""

    def drop_commits(self) -> None:
        """The replicas are together again."""
