"""Runs a shard's commands one at a time, each in one synchronous step."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

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
    from odradek.broker.runtime.commits import Commits

_log = logging.getLogger("odradek.broker.runtime")


class ShardCallbacks(Protocol):
    """The part of a shard that its executor and mailbox call."""

    name: str

    def check_open(self) -> None:
        """Raise the error that the shard answers with while it is not active."""

    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed."""

    def on_commit(self) -> None:
        """More of the log is committed, or another node leads it."""

    def report_bug(self, doing: str, error: BaseException) -> None:
        """Report a bug."""


class Executor:
    """Carries out commands: decide, append, replay, effects, reply. Owner: the shard.

    `perform(effect)` carries out the machine's own effects. `commits` exists while appends may not be committed at
    once.
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
        self._shard = shard
        self._face = clock.face
        self._perform = perform

    def step(self, command: Command[R], slot: ReplySlot[R] | None = None) -> R | ReplySlot[R]:
        """Carry out one command. Returns its reply, or the `ReplySlot` of a parked one; raises the caller's error."""
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
            raise RuntimeError(f"{self._shard.name}: the answer to a refused append has records itself") from error
        return instead

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay records that were appended."""
        replay = self.machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self._shard.fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def finish(self, outcome: Outcome[R], slot: ReplySlot[R] | None, now_ms: int) -> R | ReplySlot[R]:
        """Carry out the rest of an outcome, once its records are replayed."""
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
        """Carry out effects."""
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
                raise RuntimeError(f"{self._shard.name}: nobody performs {effect!r}")

    def replace_machine(self) -> Machine:
        """Replace the machine by a new one, and return that."""
        self.machine = self.new_machine()
        machine: Machine = self.machine
        return machine

    def abandon(self, error: KafkaError) -> None:
        """Drop timers and parked commands; the latter get an error."""
        self.parked.abandon(error)
        self.timers.queue.clear()
        if self.commits is not None:
            self.commits.abandon(error)
            self.commits = None

    # -- replicas that differ

    def keep_commits(self) -> Commits:
        """Have `Commits` carry out the steps from now on."""
        if self.commits is None:
            from odradek.broker.runtime.commits import Commits

            self.commits = Commits(self)
        return self.commits

    def drop_commits(self) -> None:
        """The replicas are together again."""
        self.commits = None

    def take_for_commits(self, command: Command[Any]) -> None:
        """Carry out a command of `Commits.own`."""
        if self.commits is None:
            return
        try:
            self.commits.take(command, self._face.now_ms())
        except Exception as error:
            self._shard.fail(error)

    def is_for_commits(self, command: Command[Any]) -> bool:
        """Whether a command is one of `Commits.own`."""
        return self.commits is not None and isinstance(command, self.commits.own)

    def on_commit(self) -> None:
        """More of the log is committed, or another node leads it."""
        self._shard.on_commit()


class Mailbox:
    """Gives commands to an `Executor`, one after the other. Owner: the shard.

    A shard lives in one thread and carries a command out in one synchronous step. So only commands that another one
    causes, through an effect, ever wait here (see `Shard.follow_up`).

    `busy`: whether a command is being carried out, so that the next one has to wait.
    """

    __slots__ = ("_executor", "_shard", "_waiting", "busy")

    def __init__(self, shard: ShardCallbacks, executor: Executor) -> None:
        self.busy = False
        self._shard = shard
        self._executor = executor
        self._waiting: deque[tuple[Command[Any], ReplySlot[Any] | None]] = deque()

    def carry_out(self, command: Command[R]) -> R | ReplySlot[R]:
        """Carry out a command, and then those that it causes. Only while not `busy`.

        Returns the reply, or the `ReplySlot` of a parked command; raises the caller's error.
        """
        self.busy = True
        try:
            return self._executor.step(command)
        finally:
            self.busy = False
            if self._waiting:
                self._carry_out_waiting()

    def put(self, command: Command[R], slot: ReplySlot[R] | None) -> None:
        """Let a command wait until the present one is done.

        `slot`: where its reply goes, None if nobody waits for it.
        """
        self._waiting.append((command, slot))

    def carry_out_unasked(self, command: Command[Any]) -> None:
        """Carry out a command that nobody waits for. Only while not `busy`."""
        try:
            self.carry_out(command)
        except Exception as error:
            self._deliver_error(command, None, error)

    def carry_out_of_commits(self, command: Command[Any]) -> None:
        """Carry out a command of `Commits.own`, at once or after the present one."""
        if self.busy:
            self.put(command, None)
            return
        self.busy = True
        try:
            self._executor.take_for_commits(command)
        finally:
            self.busy = False
            if self._waiting:
                self._carry_out_waiting()

    def abandon(self, error: KafkaError) -> None:
        """Answer all waiting commands with an error."""
        while self._waiting:
            _, slot = self._waiting.popleft()
            if slot is not None:
                slot.fail(error)

    def _carry_out_waiting(self) -> None:
        """Carry out the waiting commands, and those that they cause."""
        while self._waiting:
            command, slot = self._waiting.popleft()
            self.busy = True
            try:
                self._carry_out_next(command, slot)
            except Exception as error:
                self._deliver_error(command, slot, error)
            finally:
                self.busy = False

    def _carry_out_next(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        if self._executor.is_for_commits(command):
            self._executor.take_for_commits(command)
            return
        self._shard.check_open()
        reply = self._executor.step(command, slot)
        if slot is not None and reply is not slot:
            slot.complete(reply)

    def _deliver_error(self, command: Command[Any], slot: ReplySlot[Any] | None, error: Exception) -> None:
        if slot is not None and not slot.done:
            slot.fail(error)
        elif isinstance(error, KafkaError):
            _log.warning("%s: %r: %s", self._shard.name, command, error)
        else:
            self._shard.report_bug(repr(command), error)
