"""What a shard has appended and its followers lack still: who waits for it, and what they get if it takes too long.

Nothing is here while the replicas of a coordinator's partition are together: then an append is committed when it
returns. Source: Kafka 4.3.1's coordinators. Those of groups and share state change their state when a record is
appended and answer when it is committed; the one of transactions changes its state when it is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast

from odradek.broker.runtime.command import Command
from odradek.broker.runtime.decided import decided
from odradek.broker.runtime.effects import Answer, Cancel, Effect, Pause, Schedule
from odradek.broker.runtime.inbox import EarlyReply, ReplySlot
from odradek.broker.runtime.journal import ReplicatedJournal
from odradek.broker.runtime.loader import replay_between
from odradek.broker.runtime.machine import Outcome, ReplicatedMachine
from odradek.broker.runtime.stepping import Stepping
from odradek.protocol.errors import ErrorCode, KafkaError

LATE_TIMER = "writes that are not committed in time"
_NEVER = 1 << 62
_AT_ONCE = frozenset({Schedule, Pause, Cancel})
"""Effects that do not wait for the records: a session runs, whoever has the record of it."""


class GiveUp:
    """Answer those who have waited for too long. A timer's command, which the shard carries out itself."""

    __slots__ = ()
    reply: None


class Settle:
    """More is committed: answer those who waited for it, once the shard has done what it is doing."""

    __slots__ = ()
    reply: None


class _Waiting:
    """A command that waits until everything before `end` is committed.

    `effects` wait with it; `stored`: records that are replayed then. `ticket`: what else it is parked under.
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
    """Steps of a shard whose records are not committed when they are appended. Owner: its `Steps`.

    Invariant: `_waiting` is in the order of the log, and who waits is answered in that order, or when its time is over.
    """

    def __init__(self, steps: Stepping) -> None:
        self._steps = steps
        self._journal = cast(ReplicatedJournal, steps.journal)
        self._machine = cast(ReplicatedMachine, steps.machine)
        self._waiting: deque[_Waiting] = deque()
        self._forget: Callable[[], None] | None = None
        self._shown: ReplicatedMachine | None = None
        self._shown_to = 0
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
    """Commands that are for this and not for the machine."""

    def take(self, command: Command[Any], now_ms: int) -> None:
        """Carry out one of `own`."""
        if isinstance(command, GiveUp):
            self.give_up(now_ms)
        else:
            self.settle(now_ms)

    def has(self, slot: ReplySlot[Any]) -> bool:
        """Whether somebody waits at this slot until records are committed."""
        return any(waiting.slot is slot for waiting in self._waiting)

    # -- steps

    def step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Carry an outcome out; see `Steps.step`, of which this is the rare form."""
        if not self._waiting and not self._journal.apart:
            self._steps.apply((Cancel(LATE_TIMER),), now_ms)
            self._steps.drop_commits()
        if not self._machine.replays_committed:
            return self._step_and_wait(command, outcome, now_ms, slot)
        if outcome.records:
            return self._wait_and_step(command, outcome, now_ms, slot)
        return self._steps.finish(outcome, slot, now_ms)

    def _step_and_wait(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """The state changes now; answers, and effects on others, wait for the records (or for those before)."""
        steps = self._steps
        wrote = bool(outcome.records)
        if wrote:
            outcome = steps.write(command, outcome, now_ms)
        if not self.behind and not self._waiting:
            return steps.finish(outcome, slot, now_ms)
        effects = (*outcome.effects, *(() if outcome.then is None else outcome.then()))
        waiting = self._begin(command, outcome, now_ms)
        reply: Any = outcome.reply
        if outcome.park is not None:
            waiting.ticket = outcome.park
            reply = steps.parked.park(outcome.park, slot)
        elif outcome.waits:
            reply = waiting.slot = _early(outcome.reply, slot)
        if wrote and outcome.waits:
            waiting.effects = [effect for effect in effects if effect.__class__ not in _AT_ONCE]
            effects = tuple(effect for effect in effects if effect.__class__ in _AT_ONCE)
        steps.apply(effects, now_ms)
        if waiting.slot is not None or waiting.effects or waiting.ticket is not None:
            self._add(waiting, now_ms)
        return reply

    def _wait_and_step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """The records are appended; everything else waits for them."""
        steps, journal = self._steps, self._journal
        stored = []
        for records in (outcome.records,) if outcome.atomic else journal.split(outcome.records):
            try:
                journal.check_in_sync()
                stored.append(journal.append(records, now_ms, outcome.producer))
            except KafkaError as error:
                return steps.finish(steps.refused(command, outcome, error, now_ms), slot, now_ms)
        if not self.behind and not self._waiting:
            for part in stored:
                steps.replay(part)
            return steps.finish(outcome, slot, now_ms)
        waiting = self._begin(command, outcome, now_ms)
        waiting.stored += stored
        waiting.slot = ReplySlot() if slot is None else slot
        self._machine.await_commit(outcome.records)
        self._add(waiting, now_ms)
        return waiting.slot

    def settled(self, now_ms: int) -> ReplySlot[None] | None:
        """What a reader waits at that wants everything appended so far to be committed; None if it is."""
        if not self.behind:
            return None
        waiting = self._begin(_READ, decided(), now_ms)
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
            self._steps.committed()

    # -- what becomes of them

    def settle(self, now_ms: int) -> None:
        """Answer those whose records are committed."""
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
        """The records of a command are committed; returns its reply."""
        if not waiting.stored:
            self._steps.apply(waiting.effects, now_ms)
            return waiting.outcome.reply
        self._machine.commit_settled(waiting.outcome.records)
        for part in waiting.stored:
            self._steps.replay(part)
        return self._steps.finish(waiting.outcome, waiting.slot, now_ms)

    def give_up(self, now_ms: int) -> None:
        """Answer those who have waited for too long; their records stay in the log."""
        for waiting in [waiting for waiting in self._waiting if waiting.deadline_ms <= now_ms]:
            if waiting.stored:
                self._machine.commit_settled(waiting.outcome.records)
            self._answer_late(waiting)
            if not waiting.effects:
                self._waiting.remove(waiting)
            self._steps.apply(self._machine.commit_late(waiting.command, now_ms), now_ms)
        self._set_timer(now_ms)

    def _answer_late(self, waiting: _Waiting) -> None:
        """Nobody waits any more; what else the records cause happens when they are committed."""
        error = KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        slot, waiting.slot = waiting.slot, None
        if slot is not None:
            slot.fail(error)
        for effect in waiting.effects:
            if isinstance(effect, Answer):
                self._steps.parked.let_go(effect.ticket, error, forget=True)
        if waiting.ticket is not None:
            self._steps.parked.let_go(waiting.ticket, error, forget=False)
        waiting.effects = [effect for effect in waiting.effects if not isinstance(effect, Answer)]
        waiting.deadline_ms = _NEVER

    def abandon(self, error: KafkaError) -> None:
        """The shard forgets everything."""
        waiting, self._waiting = self._waiting, deque()
        if self._forget is not None:
            self._forget()
        for each in waiting:
            if each.slot is not None:
                each.slot.fail(error)

    def _listen(self) -> None:
        """Be told of the next change of what is committed, as long as it matters."""
        if self._forget is not None:
            self._forget()
            self._forget = None
        if self._waiting or self.behind:
            self._forget = self._journal.watch(self._steps.committed)

    def _set_timer(self, now_ms: int) -> None:
        first = min((waiting.deadline_ms for waiting in self._waiting), default=_NEVER)
        if first < _NEVER:
            self._steps.apply((Schedule(LATE_TIMER, max(0, first - now_ms), GiveUp()),), now_ms)

    # -- reading

    def view(self) -> Any:
        """The machine as readers see it: with what is committed, and nothing else."""
        live = self._machine
        if live.replays_committed or not self.behind:
            self._shown = None
            return live
        if self._shown is None:
            self._shown = cast(ReplicatedMachine, self._steps.new_machine())
            self._shown_to = self._journal.start_offset
        committed = self._journal.committed_offset
        self._shown_to = replay_between(self._journal, self._shown, self._shown_to, committed)
        return live.as_committed(self._shown)


class _Read:
    __slots__ = ()
    reply: None


_READ = _Read()


def _early(reply: Any, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
    """The slot of a reply that is known and must not be told yet."""
    return EarlyReply(reply) if slot is None else slot
