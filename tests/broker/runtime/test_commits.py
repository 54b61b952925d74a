"""Steps whose records wait for followers: what happens now, what happens later, and what if it takes too long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from odradek.broker.runtime.machine import (
    Answer,
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal


class Do:
    reply: Any

    def __init__(self, outcome: Outcome[Any]) -> None:
        self.outcome = outcome


class Note(Effect):
    def __init__(self, text: str) -> None:
        self.text = text


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


class Stage:
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
            perform=lambda shard, effect: self.story.append(effect.text),  # type: ignore[attr-defined]
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


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def cautious() -> Stage:
    """A machine whose state changes with what is committed."""
    return Stage(replays_committed=True)


def code_of(slot: ReplySlot[Any]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        slot.result()
    return caught.value.code


def test_state_changes_at_once_and_the_reply_waits(stage: Stage) -> None:
    slot = stage.give(b"a", reply=1, effects=[Note("told")])
    assert (stage.live, stage.shown, slot.done, stage.story) == ([b"a"], [], False, [])
    stage.journal.commit()
    assert (stage.shown, slot.result(), stage.story) == ([b"a"], 1, ["told"])
    assert not stage.journal.watched


def test_what_is_committed_at_once_is_answered_at_once(stage: Stage) -> None:
    stage.journal.on_append = lambda: stage.journal.commit()
    assert stage.give(b"a", reply=1) == 1
    assert stage.shown == [b"a"]


def test_replies_come_in_the_order_of_the_log(stage: Stage) -> None:
    first, second = stage.give(b"a", reply=1), stage.give(b"b", reply=2)
    stage.journal.commit(1)
    assert (first.result(), second.done, stage.shown) == (1, False, [b"a"])
    third = stage.give(b"c", reply=3)
    stage.journal.commit(2)
    assert (second.result(), third.done, stage.shown) == (2, False, [b"a", b"b"])


def test_a_reply_without_records_waits_for_what_was_written_before(stage: Stage) -> None:
    assert stage.give(reply=0) == 0
    stage.give(b"a", reply=1)
    slot = stage.give(reply=2)
    assert not slot.done
    assert stage.give(reply=3, waits=False) == 3
    stage.journal.commit()
    assert slot.result() == 2


def test_timers_run_whoever_has_the_record(stage: Stage) -> None:
    stage.give(b"a", effects=[Schedule("t", 100, Do(make_outcome(effects=[Note("tick")])))])
    stage.advance(0.1)
    assert stage.story == ["tick"]


def test_a_parked_command_is_answered_when_the_answers_record_is_committed(stage: Stage) -> None:
    parked = stage.give(park=7)
    stage.give(b"a", effects=[Answer(7, "now")], reply=1)
    assert not parked.done
    stage.journal.commit()
    assert parked.result() == "now"


def test_what_takes_too_long_is_not_available_and_stays_in_the_log(stage: Stage) -> None:
    parked = stage.give(park=7)
    slot = stage.give(b"a", reply=1, effects=[Answer(7, "now"), Note("told")])
    stage.advance(4.999)
    later = stage.give(b"b", reply=2)
    stage.advance(0.001)
    assert (code_of(slot), code_of(parked)) == (ErrorCode.COORDINATOR_NOT_AVAILABLE,) * 2
    assert stage.story == ["late"]
    assert not later.done
    stage.journal.commit()
    assert (later.result(), stage.shown, stage.story) == (2, [b"a", b"b"], ["late", "told"])


def test_a_command_that_is_parked_with_a_record_has_waited_long_enough_then_too(stage: Stage) -> None:
    parked = stage.give(b"a", park=7)
    stage.advance(5)
    assert code_of(parked) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    stage.give(effects=[Answer(7, "nobody listens")], waits=False)
    assert stage.shard.parked == 0


def test_whoever_cannot_wait_gets_the_reply_that_is_decided(stage: Stage) -> None:
    assert stage.shard.ask_now(Do(make_outcome([NewRecord(b"a", b"")], reply=1))) == 1


def test_a_reader_may_wait_for_everything(stage: Stage) -> None:
    assert stage.shard.settled() is None
    stage.give(b"a")
    slot = stage.shard.settled()
    assert slot is not None
    assert not slot.done
    stage.journal.commit()
    assert slot.done
    assert stage.shard.settled() is None


def test_a_marker_that_is_not_committed_is_not_shown(stage: Stage) -> None:
    from odradek.broker.runtime.machine import Producer

    assert stage.shard.complete_transaction(Producer(1, 0), True, 0) == 0
    assert stage.story == ["marker"]
    assert stage.shard.open_machine() is not stage.shard.machine


def test_a_new_leader_lets_everybody_go_and_loads_what_it_has(stage: Stage) -> None:
    stage.give(b"a")
    stage.journal.commit()
    slot = stage.give(b"lost", reply=1)
    stage.journal.batches.pop()
    stage.journal.end_offset, stage.journal.leader_epoch = 1, 1
    stage.journal.commit(1)
    assert not slot.done
    stage.shard.reload_if_moved()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert stage.live == stage.shown == [b"a"]


def test_a_leader_that_loads_what_is_not_committed_does_not_show_it(stage: Stage) -> None:
    stage.give(b"a")
    stage.journal.commit()
    stage.give(b"b")
    stage.journal.leader_epoch = 1
    stage.shard.reload_if_moved()
    assert (stage.live, stage.shown) == ([b"a", b"b"], [b"a"])
    assert stage.give(b"c", reply=1).done is False


def test_without_a_leader_nothing_is_carried_out(stage: Stage) -> None:
    slot = stage.give(b"a")
    stage.shard.timers.schedule("t", 0, Do(make_outcome([NewRecord(b"late", b"")])))
    stage.journal.leader_epoch = 1
    stage.shard.resign()
    stage.shard.fire_due()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert stage.shard.state is ShardState.RESIGNED
    with pytest.raises(KafkaError, match="NOT_COORDINATOR"):
        stage.give(b"b")
    stage.journal.leader_epoch = 2
    stage.shard.reload_if_moved()
    assert stage.live == [b"a"]


def test_when_the_replicas_are_together_nothing_is_looked_after(stage: Stage) -> None:
    stage.give(b"a")
    stage.journal.commit()
    stage.journal.apart = False
    stage.journal.on_append = stage.journal.commit
    assert stage.give(b"b", reply=1) == 1
    assert stage.give(b"c", reply=2) == 2
    stage.advance(60)
    assert stage.story == []


# -- state that changes with what is committed


def test_records_are_replayed_when_they_are_committed(cautious: Stage) -> None:
    slot = cautious.give(b"a", reply=1, effects=[Note("done")])
    assert (cautious.live, cautious.shard.machine.awaited, cautious.story) == ([], [b"a"], [])
    assert cautious.give(reply=2) == 2
    cautious.journal.commit()
    assert (cautious.live, cautious.shard.machine.awaited, cautious.story) == ([b"a"], [], ["done"])
    assert slot.result() == 1


def test_records_that_take_too_long_are_never_replayed(cautious: Stage) -> None:
    slot = cautious.give(b"a", reply=1, effects=[Note("done")])
    cautious.advance(5)
    assert code_of(slot) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert cautious.story == ["late"]
    cautious.journal.commit()
    assert (cautious.live, cautious.shard.machine.awaited) == ([], [])
    cautious.shard.reload()
    cautious.shard.finish_loading()
    assert cautious.live == [b"a"]


def test_too_few_replicas_in_sync_take_no_record(cautious: Stage) -> None:
    cautious.journal.in_sync = False
    with pytest.raises(KafkaError, match="NOT_ENOUGH_REPLICAS"):
        cautious.give(b"a")
    assert cautious.journal.end_offset == 0


def test_whoever_cannot_wait_cannot_be_told(cautious: Stage) -> None:
    with pytest.raises(KafkaError, match="kept behind"):
        cautious.shard.ask_now(Do(make_outcome([NewRecord(b"a", b"")], reply=1)))


def test_what_an_effect_gives_is_carried_out_after_what_is_committed(cautious: Stage) -> None:
    def perform(effect: Effect) -> None:
        cautious.shard.follow_up(Do(make_outcome([NewRecord(b"then", b"")])))

    cautious.shard._executor._perform = perform
    cautious.give(b"first", effects=[Note("")])
    cautious.journal.commit()
    assert cautious.live == [b"first"]
    cautious.journal.commit()
    assert cautious.live == [b"first", b"then"]


def test_a_record_that_cannot_be_replayed_is_a_bug_and_its_asker_is_let_go(cautious: Stage) -> None:
    bugs: list[str] = []
    cautious.shard._report = lambda where, error: bugs.append(where)

    def fail(record: LogRecord) -> None:
        raise ValueError("poison")

    slot = cautious.give(b"a")
    cautious.shard.machine.replay = fail  # type: ignore[method-assign]
    cautious.journal.commit()
    assert code_of(slot) is ErrorCode.NOT_COORDINATOR
    assert bugs
