"""Runs a shard's commands one at a time, each in one synchronous step."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    Machine,
    Outcome,
    Pause,
    PlainOutcome,
    R,
    Schedule,
)
from odradek.broker.runtime.replies import ParkedReplies, ReplySlot
from odradek.broker.runtime.timers import ShardTimers
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.runtime.commits import Commits, ShardCallbacks

_log = logging.getLogger("odradek.broker.runtime")


class Executor:
    """Executes commands: decide, append, replay, effects, reply. Owner: the shard.

    A shard lives in one thread and executes a command in one synchronous step. So only commands that another one
    causes, through an effect, ever wait here (see `Shard.follow_up`).

    `perform(effect)` executes the machine's own effects. `commits` exists while appends may not be committed at once.
    `busy`: whether a command is being executed, so that the next one has to wait.
    """

    def __init__(
        self,
        shard: ShardCallbacks,
        new_machine: Callable[[], Machine],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        perform: Callable[[Effect], None] | None,
    ) -> None:
        self.machine: Any = new_machine()
        self.new_machine = new_machine
        self.journal = journal
        self.timers = ShardTimers(clock)
        self.parked = ParkedReplies(shard.name)
        self.commits: Commits | None = None
        self.shard = shard
        self.busy = False
        self._waiting: deque[tuple[Command[Any], ReplySlot[Any] | None]] = deque()
        self._own_of_commits: tuple[type, ...] = ()
        self._face = clock.face
        self._perform = perform

    def step(self, command: Command[R], slot: ReplySlot[R] | None = None) -> R | ReplySlot[R]:
        """Execute one command. Returns its reply, or the `ReplySlot` of a parked one; raises the caller's error."""
        now_ms = self._face.now_ms()
        outcome = self.machine.decide(command, now_ms)
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
        instead: Outcome[Any] | None = self.machine.refused(command, outcome, error, now_ms)
        if instead is None:
            raise error.again()
        if instead.records:
            raise RuntimeError(f"{self.shard.name}: the answer to a refused append has records itself") from error
        return instead

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay records that were appended."""
        replay = self.machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self.shard.fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def finish(self, outcome: Outcome[R], slot: ReplySlot[R] | None, now_ms: int) -> R | ReplySlot[R]:
        """Execute the rest of an outcome, once its records are replayed."""
        assert isinstance(outcome, PlainOutcome)
        effects: Sequence[Effect] = outcome.effects
        if outcome.then is not None:
            effects = (*effects, *outcome.then())
        reply: R | ReplySlot[R] = outcome.reply
        if outcome.park is not None:
            reply = self.parked.park(outcome.park, slot)
        if effects:
            self.apply(effects, now_ms)
        return reply

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Execute effects."""
        for effect in effects:
            kind = effect.__class__
            if kind is Schedule or kind is Pause:
                assert isinstance(effect, Schedule)
                self.timers.set(effect, now_ms)
            elif kind is Cancel:
                assert isinstance(effect, Cancel)
                self.timers.queue.cancel(effect.key)
            elif kind is Answer:
                assert isinstance(effect, Answer)
                self.parked.answer(effect.ticket, effect.reply)
            elif self._perform is not None:
                self._perform(effect)
            else:
                raise RuntimeError(f"{self.shard.name}: nobody performs {effect!r}")

    def replace_machine(self) -> Machine:
        """Replace the machine by a new one, and return that."""
        self.machine = self.new_machine()
        machine: Machine = self.machine
        return machine

    def abandon(self, error: KafkaError) -> None:
        """Drop timers; parked and waiting commands get an error."""
        self.parked.abandon(error)
        self.timers.queue.clear()
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
        self.busy = True
        try:
            return self.step(command)
        finally:
            self.busy = False
            if self._waiting:
                self._execute_waiting()

    def execute_later(self, command: Command[R], slot: ReplySlot[R]) -> None:
        """Execute a command after the present one; its reply goes to the slot."""
        self._waiting.append((command, slot))

    def execute_unasked(self, command: Command[Any]) -> None:
        """Execute a command that nobody waits for, at once or after the present one."""
        self._waiting.append((command, None))
        if not self.busy:
            self._execute_waiting()

    def _execute_waiting(self) -> None:
        """Execute the waiting commands, and those that they cause."""
        while self._waiting:
            command, slot = self._waiting.popleft()
            self.busy = True
            try:
                self._execute_next(command, slot)
            except Exception as error:
                self._deliver_error(command, slot, error)
            finally:
                self.busy = False

    def _execute_next(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        if isinstance(command, self._own_of_commits):
            self._execute_of_commits(command)
            return
        self.shard.check_open()
        reply = self.step(command, slot)
        if slot is not None and reply is not slot:
            slot.complete(reply)

    def _deliver_error(self, command: Command[Any], slot: ReplySlot[Any] | None, error: Exception) -> None:
        if slot is not None and not slot.done:
            slot.fail(error)
        elif isinstance(error, KafkaError):
            _log.warning("%s: %r: %s", self.shard.name, command, error)
        else:
            self.shard.report_bug(repr(command), error)

    # -- replicas that differ

    def keep_commits(self) -> Commits:
        """Have `Commits` execute the steps from now on."""
        if self.commits is None:
            from odradek.broker.runtime.commits import Commits

            self.commits = Commits(self)
            self._own_of_commits = Commits.own
        return self.commits

    def _execute_of_commits(self, command: Command[Any]) -> None:
        """Execute a command of `Commits.own`; if the replicas are together again meanwhile, there is nothing to do."""
        if self.commits is None:
            return
        try:
            self.commits.take(command, self._face.now_ms())
        except Exception as error:
            self.shard.fail(error)
