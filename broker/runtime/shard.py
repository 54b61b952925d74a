"""The actor of one coordinator partition: it owns a machine, the log partition, an inbox and timers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.inbox import EarlyReply, Inbox, ReplySlot
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
    from odradek.broker.runtime.commits import Commits
    from odradek.broker.runtime.loader import KeyedJournal

_log = logging.getLogger("odradek.broker.runtime")

M = TypeVar("M", bound=Machine)

_AWAKE = -1
_FOR_EVER = 1 << 62
_PASSES_BEFORE_TIMERS = 3
"""How often other tasks get their turn before timers run: requests that have arrived come first."""


class ShardState(Enum):
    """Where a shard is in its life.

    `LOADING` answers COORDINATOR_LOAD_IN_PROGRESS; `FAILED` (its log could not be replayed), `RESIGNED` (nobody leads
    its partition) and `CLOSED` (the broker stops) answer NOT_COORDINATOR, as Kafka's do.
    """

    LOADING = "LOADING"
    ACTIVE = "ACTIVE"
    FAILED = "FAILED"
    RESIGNED = "RESIGNED"
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
        self.load_held = False
        """Whether a test keeps it from loading."""
        self._commits: Commits | None = None
        self.new_machine = machine_factory
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
        if self._busy:
            return self.submit(command)
        if self.state is not ShardState.ACTIVE:
            self._check_open()
        return self._carry_out(command)

    def ask_now(self, command: Command[R]) -> R:
        """Like `ask`, for a command that is never parked and a caller that cannot wait.

        It does not wait for followers either. COORDINATOR_NOT_AVAILABLE where the reply hangs on what they have.
        """
        if self._busy:
            raise RuntimeError(f"{self.name} is asked for an immediate reply by one of its own effects: {command!r}")
        self._check_open()
        reply = self._carry_out(command)
        if not isinstance(reply, ReplySlot):
            return reply
        if isinstance(reply, EarlyReply):
            early: R = reply.early
            return early
        if self._commits is not None and self._commits.has(reply):
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{self.name} waits for replicas that are kept behind"
            )
        raise RuntimeError(f"{command!r} was parked: use ask()")

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
        """The machine, to read from (never to change); raises as `ask` does while the shard is not active.

        What is appended and not committed is not in it.
        """
        self._check_open()
        if self._commits is None:
            return self.machine
        return self._commits.view()  # type: ignore[no-any-return]

    def settled(self) -> ReplySlot[None] | None:
        """What to wait at until all that is appended is committed; None if it is. Raises as `ask` does."""
        self._check_open()
        return None if self._commits is None else self._commits.settled(self._clock.now_ms())

    @property
    def parked(self) -> int:
        """How many commands wait for their reply."""
        return len(self._parked)

    # -- transaction markers

    def complete_transaction(self, producer: Producer, commit: bool, coordinator_epoch: int) -> int:
        """Append a transaction marker to this partition and settle what the producer left pending in it.

        Returns the marker's offset. Raises `KafkaError` when the log refuses the marker; then nothing has changed. A
        shard that is loading needs no more than the append: the loader comes to the marker by itself.
        """
        if self.state not in (ShardState.ACTIVE, ShardState.LOADING):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        journal = cast("KeyedJournal", self.journal)
        if self.journal.apart:
            self._keep_commits()
        offset = journal.append_marker(producer, coordinator_epoch, commit, self._clock.now_ms())
        if self.state is ShardState.ACTIVE:
            try:
                self.machine.replay_marker(producer.id, producer.epoch, commit)
            except Exception as error:
                self._fail(error)
        return offset

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
                if self._commits is not None and isinstance(command, self._commits.own):
                    self._take_for_commits(command)
                    continue
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
        if self._commits is not None or (outcome.records and self.journal.apart):
            return self._keep_commits().step(command, outcome, now_ms, slot)
        if outcome.records:
            outcome = self.write(command, outcome, now_ms)
        return self.finish(outcome, slot, now_ms)

    def finish(self, outcome: Outcome[R], slot: ReplySlot[R] | None, now_ms: int) -> R | ReplySlot[R]:
        """What follows when the records of an outcome are replayed."""
        effects: Sequence[Effect] = outcome.effects
        if outcome.then is not None:
            effects = (*effects, *outcome.then())
        reply: R | ReplySlot[R] = outcome.reply
        if outcome.park is not None:
            reply = self.park(outcome.park, slot)
        if effects:
            self.apply(effects, now_ms)
        return reply

    def write(self, command: Command[Any], outcome: Outcome[Any], now_ms: int) -> Outcome[Any]:
        """Append and replay; returns the outcome to go on with (another one where the log refused the records)."""
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
            raise RuntimeError(f"{self.name}: the answer to a refused append has records itself") from error
        return instead

    def replay(self, stored: Iterable[Any]) -> None:
        """Replay what was appended."""
        replay = self.machine.replay
        try:
            for record in stored:
                replay(record)
        except Exception as error:
            self._fail(error)
            raise KafkaError(ErrorCode.NOT_COORDINATOR) from error

    def park(self, ticket: Hashable, slot: ReplySlot[Any] | None) -> ReplySlot[Any]:
        """Let a command wait for an `Answer`."""
        if ticket in self._parked:
            raise RuntimeError(f"{self.name}: two commands are parked under {ticket!r}")
        if slot is None:
            slot = ReplySlot()
        self._parked[ticket] = slot
        return slot

    def apply(self, effects: Sequence[Effect], now_ms: int) -> None:
        """Carry out effects."""
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

    # -- replicas that differ

    def _keep_commits(self) -> Commits:
        """What looks after appends that are not committed at once."""
        if self._commits is None:
            from odradek.broker.runtime.commits import Commits

            self._commits = Commits(self)
        return self._commits

    def committed(self) -> None:
        """More of the log is committed, or another node leads it."""
        if self._commits is None or self.state is not ShardState.ACTIVE:
            return
        if self.journal.leader_epoch != self.loaded_epoch:
            return  # the new leader loads, and nobody waits here any more
        self._carry_out_of_commits(self._commits.settling)

    def _carry_out_of_commits(self, command: Command[Any]) -> None:
        if self._busy:
            self._inbox.put(command, None)
            return
        self._busy = True
        try:
            self._take_for_commits(command)
        finally:
            self._busy = False
            if self._inbox:
                self._carry_out_inbox()

    def _take_for_commits(self, command: Command[Any]) -> None:
        if self._commits is None:
            return
        try:
            self._commits.take(command, self._clock.now_ms())
        except Exception as error:
            self._fail(error)

    def drop_commits(self) -> None:
        """The replicas are together again."""
        self._commits = None

    def let_go(self, ticket: Hashable, error: KafkaError, *, forget: bool) -> None:
        """Answer a parked command with an error, if it still is; `forget`: nothing will answer it again."""
        slot = self._parked.pop(ticket, None)
        if slot is not None:
            slot.fail(error)
            if not forget:
                self._parked[ticket] = ReplySlot()

    # -- timers

    def fire_due(self) -> None:
        """Carry out the timer commands that are due."""
        if self.state is not ShardState.ACTIVE:
            return
        for _, command in self.timers.pop_due(self._clock.now_ms()):
            if self._commits is not None and isinstance(command, self._commits.own):
                self._carry_out_of_commits(command)
            else:
                self._carry_out_unasked(command)
            if not self.is_active:
                return

    # -- life

    def start(self) -> None:
        """Begin to load. The first slice is replayed at once: a shard with a short log is ACTIVE on return."""
        self._loader = self.journal.load(self.machine)
        self._load_slice()

    def shift_timers(self, step_ms: int) -> None:
        """The clock shows another time: what was to happen in a second happens in a second."""
        entries = self.timers.entries()
        self.timers.clear()
        for key, deadline_ms, command in entries:
            self.timers.schedule(key, deadline_ms + step_ms, command)
        self._wakeup.set()

    def copied(self) -> bytes | None:
        """What it knows now, for `start_copied`; None where a new one has to load it.

        That is so while it has not loaded, and while followers lack what it appended: what hangs on that is not copied.
        """
        from odradek.broker.runtime.copying import Copyable, pickled

        self.finish_loading()
        if not self.is_active or (self._commits is not None and (len(self._commits) or self._commits.behind)):
            return None
        return pickled(cast("Copyable", self.machine), self.timers, list(self._parked))

    def start_copied(self, copy: bytes) -> None:
        """Begin with what another shard knew, instead of `start`. Nobody waits for what was parked there."""
        from odradek.broker.runtime.copying import Copyable, take

        self._parked = {ticket: ReplySlot() for ticket in take(copy, cast("Copyable", self.machine), self.timers)}
        self.state = ShardState.ACTIVE
        self.loads = 1

    async def run(self) -> None:
        """The shard's task: goes on loading, then waits for timers, until the shard is closed."""
        while self.state is not ShardState.CLOSED:
            if self.state is ShardState.LOADING and not self.load_held:
                self._load_slice()
                await trio.lowlevel.checkpoint()
                continue
            self.fire_due()
            if not self.is_active and not self._rests:
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

    @property
    def _rests(self) -> bool:
        """Whether there is nothing to do until somebody says so."""
        if self.state is ShardState.LOADING:
            return self.load_held
        return self.state in (ShardState.FAILED, ShardState.RESIGNED)

    def reload(self) -> None:
        """Forget everything but the log and load again; parked commands get NOT_COORDINATOR, as after a move."""
        self._abandon(KafkaError(ErrorCode.NOT_COORDINATOR))
        self.machine = self.new_machine()
        self.state = ShardState.LOADING
        self.loaded_epoch = self.journal.leader_epoch
        self._loader = self.journal.load(self.machine)
        self._wakeup.set()

    def reload_if_moved(self) -> None:
        """Reload when the partition has got another leader since the last load."""
        if self.journal.leader_epoch != self.loaded_epoch and self.state is not ShardState.CLOSED:
            self.reload()
            self._load_slice()

    def resign(self) -> None:
        """Nobody leads the partition: parked commands get NOT_COORDINATOR; the next leader loads."""
        if self.state is not ShardState.CLOSED:
            self.state = ShardState.RESIGNED
            self.loaded_epoch = self.journal.leader_epoch
            self._abandon(KafkaError(ErrorCode.NOT_COORDINATOR))
            self._wakeup.set()

    def hold_load(self, held: bool) -> None:
        """Keep the shard from loading from now on, or let it load."""
        self.load_held = held
        if not held and self.state is ShardState.LOADING:
            self._load_slice()
            self._wakeup.set()

    def close(self) -> None:
        """End the shard: parked commands get NOT_COORDINATOR, and so does every later one."""
        if self.state is ShardState.CLOSED:
            return
        self.state = ShardState.CLOSED
        self._abandon(KafkaError(ErrorCode.NOT_COORDINATOR))
        self._wakeup.set()

    def finish_loading(self) -> None:
        """Load the rest now, unless a test holds the load: whoever looks from outside must not see half of it."""
        while self.state is ShardState.LOADING and self._loader is not None and not self.load_held:
            self._load_slice()

    def _load_slice(self) -> None:
        if self._loader is None or self.load_held:
            return
        try:
            reached = next(self._loader, self.journal.end_offset)
            if reached < self.journal.end_offset:
                return
            self._loader = None
            self.state = ShardState.ACTIVE
            self.loads += 1
            if self.journal.apart:
                self._keep_commits()
            self.apply(self.machine.on_loaded(self._clock.now_ms()), self._clock.now_ms())
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
        if self._commits is not None:
            self._commits.abandon(error)
            self._commits = None

    def _report_bug(self, doing: str, error: BaseException) -> None:
        if self._report is None:
            raise error
        self._report(f"{self.name}: {doing}", error)
