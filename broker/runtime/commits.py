"""Uncommitted appends of a shard: which commands wait for them, and when those time out.

This module is only used while the replicas of a coordinator's partition differ. While they are together, an append is
committed when it returns. Source: Kafka 4.4.0's coordinators. Those of groups and share state change their state when a
record is appended and answer when it is committed. The transaction coordinator changes its state when it is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, cast

from odradek.broker.runtime.journal import Journal, ReplicatedJournal
from odradek.broker.runtime.loading import replay_between
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    Outcome,
    Pause,
    ReplicatedMachine,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.replies import EarlyReply, ParkedReplies, ReplySlot
from odradek.protocol.errors import ErrorCode, KafkaError


class ShardCallbacks(Protocol):
    """The part of a `Shard` that its executor calls."""

    name: str

    def check_open(self) -> None:
        """Raise the error that the shard answers with while it is not active."""

    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed."""

    def on_commit(self) -> None:
        """More of the log is committed, or another node leads it."""

    def report_bug(self, doing: str, error: BaseException) -> None:
        """Report a bug."""


class StepExecutor(Protocol):
    """The part of `Executor` that is used here. See there."""

    commits: Commits | None
    journal: Journal[Any, Any]
    parked: ParkedReplies
    shard: ShardCallbacks

    @property
    def machine(self) -> Any:
        """The machine of the shard."""

    def new_machine(self) -> Any:
        """A further machine of the same kind, without any state."""

    def write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay."""

    def refused(self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int) -> Outcome[Any]:
        """The outcome that replaces a refused one."""

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay records that were appended."""

    def finish(self, outcome: Outcome[Any], slot: ReplySlot[Any] | None, now_ms: int) -> Any | ReplySlot[Any]:
        """Execute the rest of an outcome."""

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Execute effects."""


LATE_TIMER = "writes that are not committed in time"
_NEVER = 1 << 62
_AT_ONCE = frozenset({Schedule, Pause, Cancel})
"""Effects that do not wait for the records: a session's timer runs whether or not its record is committed."""


class GiveUp:
    """Time out the commands that have waited too long. A timer's command, which the shard executes itself."""

    __slots__ = ()
    reply: None


class Settle:
    """Answer the commands whose records are committed now. It waits until the shard's present command is done."""

    __slots__ = ()
    reply: None


class _Waiting:
    """A command that waits until everything before `end` is committed.

    `effects` wait with it, and the records in `stored` are replayed then. `ticket`: set if it is parked as well.
    """

    __slots__ = ("command", "deadline_ms", "effects", "end", "outcome", "slot", "stored", "ticket")

    def __init__(self, command: Command[Any], outcome: Outcome[Any], end: int, deadline_ms: int) -> None:
        self.command = command
        self.outcome = outcome
        self.end = end
        self.deadline_ms = deadline_ms
        self.effects: Sequence[Effect] = ()
        self.stored: list[Iterable[Any]] = []
        self.slot: ReplySlot[Any] | None = None
        self.ticket: Hashable | None = None


class Commits:
    """Executes the steps of a shard whose appends are not committed at once. Owner: its `Executor`.

    Invariant: `_waiting` is in the order of the log. Commands are answered in that order, or when they time out.
    """

    def __init__(self, executor: StepExecutor) -> None:
        self._executor = executor
        self._journal = cast(ReplicatedJournal, executor.journal)
        self._machine = cast(ReplicatedMachine, executor.machine)
        self._waiting: deque[_Waiting] = deque()
        self._forget: Callable[[], None] | None = None
        self._committed_machine: ReplicatedMachine | None = None
        self._committed_to = 0
        if self.behind:
            self._listen()

    @property
    def behind(self) -> bool:
        """Whether the log has records that are not committed."""
        return self._journal.committed_offset < self._journal.end_offset

    def __len__(self) -> int:
        return len(self._waiting)

    settling = Settle()
    own = (Settle, GiveUp)
    """Commands that `take` executes, and not the machine."""

    def take(self, command: Command[Any], now_ms: int) -> None:
        """Execute one of `own`."""
        if isinstance(command, GiveUp):
            self.give_up(now_ms)
        else:
            self.settle(now_ms)

    def has(self, slot: ReplySlot[Any]) -> bool:
        """Whether a command with this slot waits for its records to be committed."""
        return any(waiting.slot is slot for waiting in self._waiting)

    # -- steps

    def step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Execute an outcome; this replaces `Executor.step`."""
        if not self._waiting and not self._journal.apart:
            self._executor.apply((Cancel(LATE_TIMER),), now_ms)
            self._executor.commits = None
        if not self._machine.replays_committed:
            return self._step_and_wait(command, outcome, now_ms, slot)
        if outcome.records:
            return self._wait_and_step(command, outcome, now_ms, slot)
        return self._executor.finish(outcome, slot, now_ms)

    def _step_and_wait(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Change the state now.

        Answers, and effects outside of the shard, wait for the records (or the ones before).
        """
        executor = self._executor
        wrote = bool(outcome.records)
        if wrote:
            outcome = executor.write(command, outcome, now_ms)
        if not self.behind and not self._waiting:
            return executor.finish(outcome, slot, now_ms)
        effects = (*outcome.effects, *(() if outcome.then is None else outcome.then()))
        waiting = self._begin(command, outcome, now_ms)
        reply: Any = outcome.reply
        if outcome.park is not None:
            waiting.ticket = outcome.park
            reply = executor.parked.park(outcome.park, slot)
        elif outcome.waits:
            reply = waiting.slot = _early(outcome.reply, slot)
        if wrote and outcome.waits:
            waiting.effects = [effect for effect in effects if effect.__class__ not in _AT_ONCE]
            effects = tuple(effect for effect in effects if effect.__class__ in _AT_ONCE)
        executor.apply(effects, now_ms)
        if waiting.slot is not None or waiting.effects or waiting.ticket is not None:
            self._add(waiting, now_ms)
        return reply

    def _wait_and_step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Append the records. Everything else waits until they are committed."""
        executor, journal = self._executor, self._journal
        stored = []
        for records in (outcome.records,) if outcome.atomic else journal.split(outcome.records):
            try:
                journal.check_in_sync()
                stored.append(journal.append(records, now_ms, outcome.producer))
            except KafkaError as error:
                return executor.finish(executor.refused(command, outcome, error, now_ms), slot, now_ms)
        if not self.behind and not self._waiting:
            for part in stored:
                executor.replay(part)
            return executor.finish(outcome, slot, now_ms)
        waiting = self._begin(command, outcome, now_ms)
        waiting.stored += stored
        waiting.slot = ReplySlot() if slot is None else slot
        self._machine.await_commit(outcome.records)
        self._add(waiting, now_ms)
        return waiting.slot

    def settled(self, now_ms: int) -> ReplySlot[None] | None:
        """The event to wait for until everything appended so far is committed; None if it is."""
        if not self.behind:
            return None
        waiting = self._begin(_READ, make_outcome(), now_ms)
        waiting.slot = ReplySlot()
        self._add(waiting, now_ms)
        return waiting.slot

    def _begin(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> _Waiting:
        deadline_ms = now_ms + self._machine.commit_timeout_ms(outcome)
        return _Waiting(command, outcome, self._journal.end_offset, deadline_ms)

    def _add(self, waiting: _Waiting, now_ms: int) -> None:
        self._waiting.append(waiting)
        self._listen()
        self._set_timer(now_ms)
        if not self.behind:
            self._executor.shard.on_commit()

    # -- commits and timeouts

    def settle(self, now_ms: int) -> None:
        """Answer the commands whose records are committed."""
        committed = self._journal.committed_offset
        while self._waiting and self._waiting[0].end <= committed:
            waiting = self._waiting.popleft()
            try:
                reply = self._go_on(waiting, now_ms)
            except BaseException:
                if waiting.slot is not None:
                    waiting.slot.fail(KafkaError(ErrorCode.NOT_COORDINATOR))
                raise
            if waiting.slot is not None and reply is not waiting.slot:
                waiting.slot.complete(reply)
        self._listen()

    def _go_on(self, waiting: _Waiting, now_ms: int) -> Any | ReplySlot[Any]:
        """Execute the rest of a command whose records are committed; returns its reply."""
        if not waiting.stored:
            self._executor.apply(waiting.effects, now_ms)
            return waiting.outcome.reply
        self._machine.commit_settled(waiting.outcome.records)
        for part in waiting.stored:
            self._executor.replay(part)
        return self._executor.finish(waiting.outcome, waiting.slot, now_ms)

    def give_up(self, now_ms: int) -> None:
        """Time out the commands that have waited too long. Their records stay in the log."""
        for waiting in [waiting for waiting in self._waiting if waiting.deadline_ms <= now_ms]:
            if waiting.stored:
                self._machine.commit_settled(waiting.outcome.records)
            self._answer_late(waiting)
            if not waiting.effects:
                self._waiting.remove(waiting)
            self._executor.apply(self._machine.commit_late(waiting.command, now_ms), now_ms)
        self._set_timer(now_ms)

    def _answer_late(self, waiting: _Waiting) -> None:
        """Answer a command with COORDINATOR_NOT_AVAILABLE.

        Its other effects are executed when its records commit.
        """
        error = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        slot, waiting.slot = waiting.slot, None
        if slot is not None:
            slot.fail(error)
        for effect in waiting.effects:
            if isinstance(effect, Answer):
                self._executor.parked.let_go(effect.ticket, error, forget=True)
        if waiting.ticket is not None:
            self._executor.parked.let_go(waiting.ticket, error, forget=False)
        waiting.effects = [effect for effect in waiting.effects if not isinstance(effect, Answer)]
        waiting.deadline_ms = _NEVER

    def abandon(self, error: KafkaError) -> None:
        """Answer all of them with an error: the shard drops its state."""
        waiting, self._waiting = self._waiting, deque()
        if self._forget is not None:
            self._forget()
        for each in waiting:
            if each.slot is not None:
                each.slot.fail(error)

    def _listen(self) -> None:
        """Watch for the next commit while something waits for it."""
        if self._forget is not None:
            self._forget()
            self._forget = None
        if self._waiting or self.behind:
            self._forget = self._journal.watch(self._executor.shard.on_commit)

    def _set_timer(self, now_ms: int) -> None:
        first = min((waiting.deadline_ms for waiting in self._waiting), default=_NEVER)
        if first < _NEVER:
            self._executor.apply((Schedule(LATE_TIMER, max(0, first - now_ms), GiveUp()),), now_ms)

    # -- reading

    def view(self) -> Any:
        """The machine as readers see it: with committed records only."""
        live = self._machine
        if live.replays_committed or not self.behind:
            self._committed_machine = None
            return live
        if self._committed_machine is None:
            self._committed_machine = cast(ReplicatedMachine, self._executor.new_machine())
            self._committed_to = self._journal.start_offset
        committed = self._journal.committed_offset
        self._committed_to = replay_between(self._journal, self._committed_machine, self._committed_to, committed)
        return live.as_committed(self._committed_machine)


class _Read:
    __slots__ = ()
    reply: None


_READ = _Read()


def _early(reply: Any, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
    """The slot of a reply that is known, and given out later."""
    return EarlyReply(reply) if slot is None else slot
