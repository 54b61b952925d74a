"""A shard whose machine does as it is told, on a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, make_outcome
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import KafkaError
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal


class Do:
    reply: Any

    def __init__(self, act: Callable[[], Outcome[Any]]) -> None:
        self.act = act


class Note(Effect):
    def __init__(self, text: str) -> None:
        self.text = text


class Scribe:
    """A machine that does as it is told and writes down what happens."""

    def __init__(self, story: list[str]) -> None:
        self.story = story
        self.values: dict[bytes, bytes | None] = {}
        self.instead: Outcome[Any] | None = None

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        assert isinstance(command, Do)
        self.story.append("decide")
        return command.act()

    def replay(self, record: LogRecord) -> None:
        if record.value == b"poison":
            raise ValueError("poison")
        self.story.append(f"replay {record.key.decode()}@{record.offset}")
        self.values[record.key] = record.value

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.story.append(f"marker {producer_id} {producer_epoch} {commit}")

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        self.story.append(f"refused {error.code.name}")
        return self.instead

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        self.story.append("loaded")
        return ()


def frozen_clock() -> BrokerClock:
    return clock_at(1_000_000)


class Stage:
    def __init__(self, clock: BrokerClock | None = None) -> None:
        self.story: list[str] = []
        self.bugs: list[str] = []
        self.journal = FakeJournal()
        self.journal.on_append = lambda: self.story.append("append")
        self.clock = clock or frozen_clock()
        self.shard = Shard(
            "test-0",
            0,
            lambda: Scribe(self.story),
            self.journal,
            self.clock,
            handle_effect=self._handle_effect,
            report=lambda where, error: self.bugs.append(f"{where}: {error}"),
        )
        self.shard.start()
        self.story.clear()

    def _handle_effect(self, shard: Shard[Any], effect: Effect) -> None:
        assert isinstance(effect, Note)
        self.story.append(effect.text)

    def do(self, records: Iterable[tuple[bytes, bytes | None]] = (), **kwargs: Any) -> Do:
        return Do(lambda: make_outcome([NewRecord(*record) for record in records], **kwargs))


def submitted(shard: Shard[Any], command: Command[Any]) -> ReplySlot[Any]:
    """Give a command; the slot has the reply, or the error."""
    slot: ReplySlot[Any] = ReplySlot()
    try:
        reply = shard.begin(command)
    except KafkaError as error:
        slot.fail(error)
        return slot
    if isinstance(reply, ReplySlot):
        return reply
    slot.complete(reply)
    return slot
