"""Runs a shard's commands one at a time, each in one synchronous step.

While the replicas of its partition are together, an append is committed when it returns. Otherwise `Commits` executes
the steps: which commands wait for their records, and when those time out.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.journal import Journal, ReplicatedJournal
from odradek.broker.runtime.loading import replay_between
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    Outcome,
    Pause,
    PlainOutcome,
    R,
    ReplicatedMachine,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.replies import EarlyReply, ParkedReplies, ReplySlot
from odradek.broker.runtime.timers import ShardTimers
from odradek.protocol.errors import ErrorCode, KafkaError

_log = logging.getLogger("odradek.broker.runtime")


class Executor(ABC):
    """Executes commands: decide, append, replay, effects, reply. A `Shard` is one.

    It lives in one thread and executes a command in one synchronous step. So only commands that another one causes,
    through an effect, ever wait here (see `follow_up`).

    `handle_effect(shard, effect)` executes the machine's own effects. `commits` exists while appends may not be
    committed at once. `is_busy`: whether a command is being executed, so that the next one has to wait.
    """

    def __init__(
        self,
        name: str,
        new_machine: Callable[[], Any],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        handle_effect: Callable[[Any, Effect], None] | None,
    ) -> None:
        self.name = name
        self.journal = journal
        self.new_machine = new_machine
        self.replies = ParkedReplies(name)
        self.commits: Commits | None = None
        self.is_busy = False
        self._machine: Any = new_machine()
        self._timers = ShardTimers(clock)
        self._waiting: deque[tuple[Command[Any], ReplySlot[Any] | None]] = deque()
        self._face = clock.face
        self._handle_effect = handle_effect

    # -- what the shard adds

    @abstractmethod
    def check_open(self) -> None:
        """Raise COORDINATOR_LOAD_IN_PROGRESS while loading, NOT_COORDINATOR if the shard has failed or ended."""

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed, which is a bug: report it and load the log again."""

    @abstractmethod
    def on_commit(self) -> None:
        """More of the log is committed, or another node leads it. In the latter case the new leader's shard loads."""

    @abstractmethod
    def report_bug(self, doing: str, error: BaseException) -> None:
        """Report a bug, or raise it if there is no `report`."""

    # -- steps

    def step(self, command: Command[R], slot: ReplySlot[R] | None = None) -> R | ReplySlot[R]:
        """Execute one command. Returns its reply, or the `ReplySlot` of a parked one; raises the caller's error."""
        now_ms = self._face.now_ms()
        outcome = self._machine.decide(command, now_ms)
        assert isinstance(outcome, PlainOutcome)
        if self.commits is not None or (outcome.records and self.journal.apart):
            return self.keep_commits().step(command, outcome, now_ms, slot)
        if outcome.records:
            return self.finish(self.write(command, outcome, now_ms), slot, now_ms)
        return self.finish(outcome, slot, now_ms)

    def write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay. Returns the outcome to finish: another one if the log has refused the records."""
        assert isinstance(outcome, PlainOutcome)
        parts = (outcome.records,) if outcome.atomic else self.journal.split(outcome.records)
        for records in parts:
            try:
                stored = self.journal.append(records, now_ms, outcome.producer)
            except KafkaError as error:
                return self.refused(command, outcome, error, now_ms)
            self.replay(stored)
        return outcome

    def refused(self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int) -> Outcome[Any]:
        """The outcome that replaces one whose records the log has refused; raises its error if there is none."""
        instead: Outcome[Any] | None = self._machine.refused(command, outcome, error, now_ms)
        if instead is None:
            raise error.again()
        if instead.records:
            raise RuntimeError(f"{self.name}: the answer to a refused append has records itself") from error
        return instead

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay records that were appended."""
        replay = self._machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self.fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def finish(self, outcome: Outcome[R], slot: ReplySlot[R] | None, now_ms: int) -> R | ReplySlot[R]:
        """Execute the rest of an outcome, once its records are replayed."""
        assert isinstance(outcome, PlainOutcome)
        effects: Sequence[Effect] = outcome.effects
        if outcome.then is not None:
            effects = (*effects, *outcome.then())
        reply: R | ReplySlot[R] = outcome.reply
        if outcome.park is not None:
            reply = self.replies.park(outcome.park, slot)
        if effects:
            self.apply(effects, now_ms)
        return reply

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Execute effects."""
        for effect in effects:
            kind = effect.__class__
            if kind is Schedule or kind is Pause:
                assert isinstance(effect, Schedule)
                self._timers.set(effect, now_ms)
            elif kind is Cancel:
                assert isinstance(effect, Cancel)
                self._timers.queue.cancel(effect.key)
            elif kind is Answer:
                assert isinstance(effect, Answer)
                self.replies.answer(effect.ticket, effect.reply)
            elif self._handle_effect is not None:
                self._handle_effect(self, effect)
            else:
                raise RuntimeError(f"{self.name}: no handler for {effect!r}")

    def drop_commands(self, error: KafkaError) -> None:
        """Drop timers; parked and waiting commands get an error."""
        self.replies.abandon(error)
        self._timers.queue.clear()
        if self.commits is not None:
            self.commits.abandon(error)
            self.commits = None
        while self._waiting:
            _, slot = self._waiting.popleft()
            if slot is not None:
                slot.fail(error)

    # -- one after the other

    def execute(self, command: Command[R]) -> R | ReplySlot[R]:
        """Execute a command, and then those that it causes. Only while not `busy`.

        Returns the reply, or the `ReplySlot` of a parked command; raises the caller's error.
        """
        self.is_busy = True
        try:
            return self.step(command)
        finally:
            self.is_busy = False
            if self._waiting:
                self._execute_waiting()

    def follow_up(self, command: Command[Any]) -> None:
        """Execute a command that nobody waits for, at once or after the present one.

        The follow-up of an effect is the shard's next step, before the command that caused it is answered. So
        everything that a command causes at once is done when its caller has the reply: EndTxn returns when the
        transaction is complete.
        """
        self._waiting.append((command, None))
        if not self.is_busy:
            self._execute_waiting()

    def _execute_waiting(self) -> None:
        """Execute the waiting commands, and those that they cause."""
        while self._waiting:
            command, slot = self._waiting.popleft()
            self.is_busy = True
            try:
                self._execute_next(command, slot)
            except Exception as error:
                self._deliver_error(command, slot, error)
            finally:
                self.is_busy = False

    def _execute_next(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        if isinstance(command, Settle | GiveUp):
            self._execute_of_commits(command)
            return
        self.check_open()
        reply = self.step(command, slot)
        if slot is not None and reply is not slot:
            slot.complete(reply)

    def _deliver_error(self, command: Command[Any], slot: ReplySlot[Any] | None, error: Exception) -> None:
        if slot is not None and not slot.done:
            slot.fail(error)
        elif isinstance(error, KafkaError):
            _log.warning("%s: %r: %s", self.name, command, error)
        else:
            self.report_bug(repr(command), error)

    # -- replicas that differ

    def keep_commits(self) -> Commits:
        """Have `Commits` execute the steps from now on."""
        if self.commits is None:
            self.commits = Commits(self, cast(ReplicatedMachine, self._machine))
        return self.commits

    def _execute_of_commits(self, command: Command[Any]) -> None:
        """Execute a `Settle` or a `GiveUp`; if the replicas are together again meanwhile, there is nothing to do."""
        if self.commits is None:
            return
        try:
            self.commits.take(command, self._face.now_ms())
        except Exception as error:
            self.fail(error)


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
    """Executes the steps of a shard whose appends are not committed at once. Owner: the shard.

    Used only while the replicas of a coordinator's partition differ. As in Kafka 4.4.0, the coordinators of groups and
    share state change their state when a record is appended and answer when it is committed. The transaction
    coordinator changes its state when it is committed.

    Invariant: `_waiting` is in the order of the log. Commands are answered in that order, or when they time out.
    """

    def __init__(self, executor: Executor, machine: ReplicatedMachine) -> None:
        self._executor = executor
        self._journal = cast(ReplicatedJournal, executor.journal)
        self._machine = machine
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

    def take(self, command: Command[Any], now_ms: int) -> None:
        """Execute a `Settle` or a `GiveUp`."""
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
            reply = executor.replies.park(outcome.park, slot)
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
            self._executor.on_commit()

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
                self._executor.replies.let_go(effect.ticket, error, forget=True)
        if waiting.ticket is not None:
            self._executor.replies.let_go(waiting.ticket, error, forget=False)
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
            self._forget = self._journal.watch(self._executor.on_commit)

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
