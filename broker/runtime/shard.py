"""The actor of one coordinator partition: it owns a machine, the log partition, an inbox and timers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.inbox import Inbox, ReplySlot
from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    Effect,
    Machine,
    Outcome,
    Pause,
    Producer,
    R,
    Schedule,
)
from odradek.broker.runtime.timers import TimerQueue
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.runtime.loader import KeyedJournal

_log = logging.getLogger("odradek.broker.runtime")

M = TypeVar("M", bound=Machine)

_AWAKE = -1
_FOR_EVER = 1 << 62
_PASSES_BEFORE_TIMERS = 3
"""How often other tasks get their turn before timers run: requests that have arrived come first."""


class ShardState(Enum):
    """Where a shard is in its life.

    `LOADING` answers COORDINATOR_LOAD_IN_PROGRESS; `FAILED` (its log could not be replayed) and `CLOSED` (its
    partition has moved, or the broker stops) answer NOT_COORDINATOR, as Kafka's do.
    """

    LOADING = "LOADING"
    ACTIVE = "ACTIVE"
    FAILED = "FAILED"
    CLOSED = "CLOSED"


class Shard(Generic[M]):
    """Carries out commands, one at a time, each in one synchronous step: decide, append, replay, effects, reply.

    Owner: its `CoordinatorService`. Everything happens in the broker's thread and no step awaits, so a cancellation can
    only meet an asker that waits for a parked reply, where nothing is half done; the command itself goes on.

    Invariants: durable state changes in `Machine.replay` only; every command gets exactly one reply; a command that is
    caused by another one waits in the inbox until that one is done.

    `perform(shard, effect)` carries out effects that belong to the machine (anything but `Schedule`, `Cancel`,
    `Answer`); it must not block, and may `submit` commands to this or another shard. `report` is told of bugs.
    """

    def __init__(
        self,
        name: str,
        partition: int,
        machine_factory: Callable[[], M],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        *,
        perform: Callable[[Shard[M], Effect], None] | None = None,
        report: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self.name = name
        self.partition = partition
        self.journal = journal
        self.timers = TimerQueue()
        self.machine: M = machine_factory()
        self.state = ShardState.LOADING
        self.loads = 0
        self._machine_factory = machine_factory
        self._clock = clock
        self._perform = perform
        self._report = report
        self._inbox = Inbox()
        self._parked: dict[Hashable, ReplySlot[Any]] = {}
        self._loader: Iterator[int] | None = None
        self.loaded_epoch = journal.leader_epoch
        self._busy = False
        self._wakeup = trio.Event()
        self._sleeps_until_ms = _AWAKE

    # -- asking

    async def ask(self, command: Command[R]) -> R:
        """Give a command and wait for its reply; a `KafkaError` of the coordinator is raised here.

        Returns without a task switch unless the command is parked. Cancelling the wait does not cancel the command.
        """
        reply = self.begin(command)
        return await reply.wait() if isinstance(reply, ReplySlot) else reply

    def begin(self, command: Command[R]) -> R | ReplySlot[R]:
        """Give a command; returns its reply, or the `ReplySlot` to wait at. A `KafkaError` is raised here or there."""
        if self._busy or self.state is not ShardState.ACTIVE:
            return self.submit(command)
        return self._carry_out(command)

    def ask_now(self, command: Command[R]) -> R:
        """Like `ask`, for a command that is never parked and a caller that cannot wait (a synchronous handler)."""
        if self._busy:
            raise RuntimeError(f"{self.name} is asked for an immediate reply by one of its own effects: {command!r}")
        self._check_open()
        reply = self._carry_out(command)
        if isinstance(reply, ReplySlot):
            raise RuntimeError(f"{command!r} was parked: use ask()")
        return reply

    def submit(self, command: Command[R]) -> ReplySlot[R]:
        """Give a command without waiting; the slot holds the reply once it is there. Never raises `KafkaError`."""
        slot: ReplySlot[R] = ReplySlot()
        if self._busy:
            self._inbox.put(command, slot)
            return slot
        try:
            self._check_open()
            reply = self._carry_out(command)
        except KafkaError as error:
            slot.fail(error)
            return slot
        if isinstance(reply, ReplySlot):
            return reply
        slot.complete(reply)
        return slot

    def follow_up(self, command: Command[Any]) -> None:
        """Give a command that nobody waits for, from an effect of this shard.

        It is carried out as the next step, before the command that caused it is answered. So all that a command
        causes at once is done when its asker has the reply: EndTxn returns when the transaction is complete.
        """
        if self._busy:
            self._inbox.put(command, None)
        else:
            self._carry_out_unasked(command)

    def _carry_out_unasked(self, command: Command[Any]) -> None:
        try:
            self._carry_out(command)
        except Exception as error:
            self._deliver_error(command, None, error)

    def _check_open(self) -> None:
        if self.state is ShardState.ACTIVE:
            return
        if self.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise KafkaError(ErrorCode.NOT_COORDINATOR)

    @property
    def is_active(self) -> bool:
        """Whether it carries out commands."""
        return self.state is ShardState.ACTIVE

    @property
    def is_busy(self) -> bool:
        """Whether it is carrying out a command now, so that another one has to wait in the inbox."""
        return self._busy

    @property
    def has_failed(self) -> bool:
        """Whether its log could not be replayed."""
        return self.state is ShardState.FAILED

    def open_machine(self) -> M:
        """The machine, to read from (never to change); raises as `ask` does while the shard is not active."""
        self._check_open()
        return self.machine

    @property
    def parked(self) -> int:
        """How many commands wait for their reply."""
        return len(self._parked)

    # -- transaction markers

    def complete_transaction(self, producer: Producer, commit: bool, coordinator_epoch: int) -> None:
        """Append a transaction marker to this partition and settle what the producer left pending in it.

        Raises `KafkaError` when the log refuses the marker; then nothing has changed. A shard that is loading needs no
        more than the append: the loader comes to the marker by itself.
        """
        if self.state in (ShardState.FAILED, ShardState.CLOSED):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        journal = cast("KeyedJournal", self.journal)
        journal.append_marker(producer, coordinator_epoch, commit, self._clock.now_ms())
        if self.state is ShardState.ACTIVE:
            try:
                self.machine.replay_marker(producer.id, producer.epoch, commit)
            except Exception as error:
                self._fail(error)

    # -- one command

    def _carry_out(self, command: Command[R]) -> R | ReplySlot[R]:
        """One step, and then those that it caused.

        Returns the reply, or the `ReplySlot` of a parked command; raises what the asker shall see.
        """
        self._busy = True
        try:
            return self._step(command)
        finally:
            self._busy = False
            if self._inbox:
                self._carry_out_inbox()

    def _carry_out_inbox(self) -> None:
        """The commands that the last step caused, and those that they cause."""
        while self._inbox:
            command, slot = self._inbox.take()
            self._busy = True
            try:
                self._check_open()
                reply = self._step(command, slot)
                if slot is not None and reply is not slot:
                    slot.complete(reply)
            except Exception as error:
                self._deliver_error(command, slot, error)
            finally:
                self._busy = False

    def _deliver_error(self, command: Command[Any], slot: ReplySlot[Any] | None, error: Exception) -> None:
        if slot is not None and not slot.done:
            slot.fail(error)
        elif isinstance(error, KafkaError):
            _log.warning("%s: %r: %s", self.name, command, error)
        else:
            self._report_bug(repr(command), error)

    def _step(self, command: Command[R], slot: ReplySlot[R] | None = None) -> R | ReplySlot[R]:
        now_ms = self._clock.now_ms()
        outcome = self.machine.decide(command, now_ms)
        if outcome.records:
            outcome = self._write(command, outcome, now_ms)
        effects: Sequence[Effect] = outcome.effects
        if outcome.then is not None:
            effects = (*effects, *outcome.then())
        reply: R | ReplySlot[R] = outcome.reply
        if outcome.park is not None:
            reply = self._park(outcome.park, slot)
        if effects:
            self._apply(effects, now_ms)
        return reply

    def _write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay; returns the outcome to go on with (another one where the log refused the records)."""
        parts = (outcome.records,) if outcome.atomic else self.journal.split(outcome.records)
        for records in parts:
            try:
                stored = self.journal.append(records, now_ms, outcome.producer)
            except KafkaError as error:
                instead: Outcome[Any] | None = self.machine.refused(command, outcome, error, now_ms)
                if instead is None:
                    raise
                if instead.records:
                    raise RuntimeError(f"{self.name}: the answer to a refused append has records itself") from error
                return instead
            self._replay(stored)
        return outcome

    def _replay(self, stored: Iterable[Any]) -> None:
        replay = self.machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self._fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def _park(self, ticket: Hashable, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
        if ticket in self._parked:
            raise RuntimeError(f"{self.name}: two commands are parked under {ticket!r}")
        if slot is None:
            slot = ReplySlot()
        self._parked[ticket] = slot
        return slot

    def _apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        for effect in effects:
            kind = effect.__class__
            if kind is Schedule or kind is Pause:
                assert isinstance(effect, Schedule)
                deadline_ms = now_ms if kind is Pause and self._clock.frozen else now_ms + effect.after_ms
                self.timers.schedule(effect.key, deadline_ms, effect.command)
                if deadline_ms < self._sleeps_until_ms:
                    self._wakeup.set()
            elif kind is Cancel:
                assert isinstance(effect, Cancel)
                self.timers.cancel(effect.key)
            elif kind is Answer:
                assert isinstance(effect, Answer)
                slot = self._parked.pop(effect.ticket)
                if isinstance(effect.reply, KafkaError):
                    slot.fail(effect.reply)
                else:
                    slot.complete(effect.reply)
            elif self._perform is not None:
                self._perform(self, effect)
            else:
                raise RuntimeError(f"{self.name}: nobody performs {effect!r}")

    # -- timers

    def fire_due(self) -> None:
        """Carry out the timer commands that are due."""
        if self.state is not ShardState.ACTIVE:
            return
        for _, command in self.timers.pop_due(self._clock.now_ms()):
            self._carry_out_unasked(command)
            if not self.is_active:
                return

    # -- life

    def start(self) -> None:
        """Begin to load. The first slice is replayed at once: a shard with a short log is ACTIVE on return."""
        self._loader = self.journal.load(self.machine)
        self._load_slice()

    async def run(self) -> None:
        """The shard's task: goes on loading, then waits for timers, until the shard is closed."""
        while self.state is not ShardState.CLOSED:
            if self.state is ShardState.LOADING:
                self._load_slice()
                await trio.lowlevel.checkpoint()
                continue
            self.fire_due()
            if not self.is_active and not self.has_failed:
                continue
            due = self.timers.next_due_ms()
            self._wakeup = trio.Event()
            self._sleeps_until_ms = _FOR_EVER if due is None else due
            if due is None:
                await self._wakeup.wait()
            else:
                with self._clock.move_on_after(max(0, due - self._clock.now_ms()) / 1000):
                    await self._wakeup.wait()
                for _ in range(_PASSES_BEFORE_TIMERS):
                    await trio.lowlevel.checkpoint()
            self._sleeps_until_ms = _AWAKE

    def reload(self) -> None:
        """Forget everything but the log and load again; parked commands get NOT_COORDINATOR, as after a move."""
        self._abandon(KafkaError(ErrorCode.NOT_COORDINATOR))
        self.machine = self._machine_factory()
        self.state = ShardState.LOADING
        self.loaded_epoch = self.journal.leader_epoch
        self._loader = self.journal.load(self.machine)
        self._wakeup.set()

    def reload_if_moved(self) -> None:
        """Reload when the partition has got another leader since the last load."""
        if self.journal.leader_epoch != self.loaded_epoch and self.state is not ShardState.CLOSED:
            self.reload()
            self._load_slice()

    def close(self) -> None:
        """End the shard: parked commands get NOT_COORDINATOR, and so does every later one."""
        if self.state is ShardState.CLOSED:
            return
        self.state = ShardState.CLOSED
        self._abandon(KafkaError(ErrorCode.NOT_COORDINATOR))
        self._wakeup.set()

    def finish_loading(self) -> None:
        """Load the rest now: whoever looks at a broker from outside must not see half of it."""
        while self.state is ShardState.LOADING and self._loader is not None:
            self._load_slice()

    def _load_slice(self) -> None:
        if self._loader is None:
            return
        try:
            reached = next(self._loader, self.journal.end_offset)
            if reached < self.journal.end_offset:
                return
            self._loader = None
            self.state = ShardState.ACTIVE
            self.loads += 1
            self._apply(self.machine.on_loaded(self._clock.now_ms()), self._clock.now_ms())
        except Exception as error:
            self.state = ShardState.FAILED
            self._loader = None
            self._report_bug("loading", error)

    def _fail(self, error: Exception) -> None:
        """A stored record could not be replayed, which is a bug: rebuild from the log."""
        self.state = ShardState.FAILED
        self._report_bug("replay", error)
        self.reload()

    def _abandon(self, error: KafkaError) -> None:
        parked, self._parked = self._parked, {}
        for slot in parked.values():
            slot.fail(error)
        while self._inbox:
            _, slot_or_none = self._inbox.take()
            if slot_or_none is not None:
                slot_or_none.fail(error)
        self.timers.clear()
        self._loader = None

    def _report_bug(self, doing: str, error: BaseException) -> None:
        if self._report is None:
            raise error
        self._report(f"{self.name}: {doing}", error)
