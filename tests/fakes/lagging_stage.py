"""A shard on a log whose followers are kept behind, on a clock that stands still."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, make_outcome
from odradek.broker.runtime.shard import Shard
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal
from tests.fakes.shard_stage import Note


class Do:
    reply: Any

    def __init__(self, outcome: Outcome[Any]) -> None:
        self.outcome = outcome


class LaggingJournal(FakeJournal):
    """A log whose followers have what `commit` says."""

    def __init__(self) -> None:
        super().__init__()
        self.apart = True
        self.committed_offset = 0
        self.in_sync = True
        self._watchers: list[Callable[[], None]] = []

    def check_in_sync(self) -> None:
        if not self.in_sync:
            raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(on_change)
        return lambda: self._watchers.remove(on_change) if on_change in self._watchers else None

    def commit(self, offset: int | None = None) -> None:
        self.committed_offset = self.end_offset if offset is None else offset
        for watcher in list(self._watchers):
            watcher()

    @property
    def watched(self) -> bool:
        return bool(self._watchers)


class Scribe:
    """A machine that does as it is told."""

    def __init__(self, story: list[str], *, replays_committed: bool) -> None:
        self.story = story
        self.replays_committed = replays_committed
        self.values: dict[bytes, bytes | None] = {}
        self.awaited: list[bytes] = []

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        assert isinstance(command, Do)
        return command.outcome

    def replay(self, record: LogRecord) -> None:
        self.values[record.key] = record.value

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        self.story.append("marker")

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        return None

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        return ()

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        return 5_000

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        self.awaited += [record.key for record in records]

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        for record in records:
            self.awaited.remove(record.key)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        return [Note("late")]

    def as_committed(self, committed: Scribe) -> Scribe:
        return committed


class LaggingStage:
    def __init__(self, *, replays_committed: bool = False) -> None:
        self.story: list[str] = []
        self.journal = LaggingJournal()
        self.clock = clock_at(1_000_000)
        self.shard: Shard[Scribe] = Shard(
            "log-0",
            0,
            lambda: Scribe(self.story, replays_committed=replays_committed),
            self.journal,
            self.clock,
            handle_effect=lambda shard, effect: self.story.append(effect.text),  # type: ignore[attr-defined]
        )
        self.shard.start()

    def give(self, *keys: bytes, **outcome: Any) -> Any:
        return self.shard.begin(Do(make_outcome([NewRecord(key, b"") for key in keys], **outcome)))

    @property
    def live(self) -> list[bytes]:
        return list(self.shard.machine.values)

    @property
    def shown(self) -> list[bytes]:
        return list(self.shard.open_machine().values)

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.shard.fire_due()
