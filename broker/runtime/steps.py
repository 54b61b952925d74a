"""One step of a shard: what a machine decides is appended, replayed and carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.alarm import Alarm
from odradek.broker.runtime.command import Command, R
from odradek.broker.runtime.decided import Decided
from odradek.broker.runtime.effects import Answer, Cancel, Effect, Pause, Schedule
from odradek.broker.runtime.inbox import ReplySlot
from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import Machine, Outcome
from odradek.broker.runtime.parked import ParkedReplies
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.runtime.commits import Commits


class Life(Protocol):
    """The life of a shard, as far as its steps bear on it."""

    name: str

    def check_open(self) -> None:
        """Raise what a shard answers that is not active."""

    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed."""

    def committed(self) -> None:
        """More of the log is committed, or another node leads it."""

    def report_bug(self, doing: str, error: BaseException) -> None:
        """Tell of a bug."""


class Steps:
    """Carries out commands, each in one synchronous step: decide, append, replay, effects, reply. Owner: the shard.

    `perform(effect)` carries out the machine's own effects. `commits` is there while appends may not be committed.
    """

    def __init__(
        self,
        life: Life,
        new_machine: Callable[[], Machine],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        perform: Callable[[Effect], None] | None,
    ) -> None:
        self.machine: Any = new_machine()
        self.new_machine = new_machine
        self.journal = journal
        self.alarm = Alarm(clock)
        self.parked = ParkedReplies(life.name)
        self.commits: Commits | None = None
        self._life = life
        self._face = clock.face
        self._perform = perform

    def step(self, command: Command[R], slot: ReplySlot[R] | None = None) -> R | ReplySlot[R]:
        """One command. Returns the reply, or the `ReplySlot` of a parked one; raises what the asker shall see."""
        now_ms = self._face.now_ms()
        outcome = self.machine.decide(command, now_ms)
        assert isinstance(outcome, Decided)
        if self.commits is not None or (outcome.records and self.journal.apart):
            return self.keep_commits().step(command, outcome, now_ms, slot)
        if outcome.records:
            return self.finish(self.write(command, outcome, now_ms), slot, now_ms)
        return self.finish(outcome, slot, now_ms)

    def finish(self, outcome: Outcome[R], slot: ReplySlot[R] | None, now_ms: int) -> R | ReplySlot[R]:
        """What follows when the records of an outcome are replayed."""
        assert isinstance(outcome, Decided)
        effects: Sequence[Effect] = outcome.effects
        if outcome.then is not None:
            effects = (*effects, *outcome.then())
        reply: R | ReplySlot[R] = outcome.reply
        if outcome.park is not None:
            reply = self.parked.park(outcome.park, slot)
        if effects:
            self.apply(effects, now_ms)
        return reply

    def write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay; returns the outcome to go on with (another one where the log refused the records)."""
        assert isinstance(outcome, Decided)
        parts = (outcome.records,) if outcome.atomic else self.journal.split(outcome.records)
        for records in parts:
            try:
                stored = self.journal.append(records, now_ms, outcome.producer)
            except KafkaError as error:
                return self.refused(command, outcome, error, now_ms)
            self.replay(stored)
        return outcome

    def refused(self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int) -> Outcome[Any]:
        """What to do instead of an outcome whose records the log has refused; raises where that is the answer."""
        instead: Outcome[Any] | None = self.machine.refused(command, outcome, error, now_ms)
        if instead is None:
            raise error
        if instead.records:
            raise RuntimeError(f"{self._life.name}: the answer to a refused append has records itself") from error
        return instead

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay what was appended."""
        replay = self.machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self._life.fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Carry out effects."""
        for effect in effects:
            kind = effect.__class__
            if kind is Schedule or kind is Pause:
                assert isinstance(effect, Schedule)
                self.alarm.set(effect, now_ms)
            elif kind is Cancel:
                assert isinstance(effect, Cancel)
                self.alarm.timers.cancel(effect.key)
            elif kind is Answer:
                assert isinstance(effect, Answer)
                self.parked.answer(effect.ticket, effect.reply)
            elif self._perform is not None:
                self._perform(effect)
            else:
                raise RuntimeError(f"{self._life.name}: nobody performs {effect!r}")

    def begin_anew(self) -> Machine:
        """Another machine, which knows nothing."""
        self.machine = self.new_machine()
        machine: Machine = self.machine
        return machine

    def abandon(self, error: KafkaError) -> None:
        """Forget timers and whoever waits, who get an error."""
        self.parked.abandon(error)
        self.alarm.timers.clear()
        if self.commits is not None:
            self.commits.abandon(error)
            self.commits = None

    # -- replicas that differ

    def keep_commits(self) -> Commits:
        """What looks after appends that are not committed at once."""
        if self.commits is None:
            from odradek.broker.runtime.commits import Commits

            self.commits = Commits(self)
        return self.commits

    def take_for_commits(self, command: Command[Any]) -> None:
        """Carry out a command of `Commits.own`."""
        if self.commits is None:
            return
        try:
            self.commits.take(command, self._face.now_ms())
        except Exception as error:
            self._life.fail(error)

    def is_for_commits(self, command: Command[Any]) -> bool:
        """Whether a command is one of `Commits.own`."""
        return self.commits is not None and isinstance(command, self.commits.own)

    def committed(self) -> None:
        """More of the log is committed, or another node leads it."""
        self._life.committed()

    def drop_commits(self) -> None:
        """The replicas are together again."""
        self.commits = None
