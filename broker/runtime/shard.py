"""The actor of one coordinator partition: it owns a machine, a log and timers.

While the replicas of its partition are together, an append is committed when it returns. Otherwise `Commits` executes
the steps: which commands wait for their records, and when those time out.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.journal import replay_between
from odradek.broker.runtime.machine import (
    Answer,
    Cancel,
    Command,
    CopyableMachine,
    Effect,
    Journal,
    KeyedJournal,
    Machine,
    Outcome,
    Pause,
    PlainOutcome,
    Producer,
    R,
    ReplicatedJournal,
    ReplicatedMachine,
    Schedule,
    make_outcome,
)
from odradek.broker.runtime.replies import EarlyReply, ParkedReplies, ReplySlot
from odradek.broker.runtime.timers import ShardTimers, TimerQueue
from odradek.protocol.errors import ErrorCode, KafkaError

_log = logging.getLogger("odradek.broker.runtime")

M = TypeVar("M", bound=Machine)


class ShardState(Enum):
    """The states of a shard.

    LOADING answers COORDINATOR_LOAD_IN_PROGRESS. FAILED (its log could not be replayed), RESIGNED (its partition has no
    leader) and CLOSED (the broker stops) answer NOT_COORDINATOR, as Kafka's do.
    """

    LOADING = "LOADING"
    ACTIVE = "ACTIVE"
    FAILED = "FAILED"
    RESIGNED = "RESIGNED"
    CLOSED = "CLOSED"


_ACTIVE: Final = ShardState.ACTIVE
_LOADING: Final = ShardState.LOADING


class Shard(Generic[M]):
    """Runs the commands of one coordinator partition, one at a time, and loads its log.

    Owner: its `CoordinatorService`. Everything happens in the broker's thread, and a command is executed in one
    synchronous step: decide, append, replay, effects, reply. So only commands that another one causes, through an
    effect, ever wait. A cancellation can only hit a caller that waits for a parked reply, where nothing is half done;
    the command itself goes on.

    Invariants: durable state changes in `Machine.replay` only; every command gets exactly one reply; a command that
    another one causes waits until that one is done.

    A failed load leaves the shard FAILED. A record that cannot be replayed while it is active makes it load again.

    `handle_effect(shard, effect)` executes the machine's own effects (anything but `Schedule`, `Cancel`, `Answer`). It
    must not block, and may `post` commands to this or another shard. `report` is called with bugs. `commits` exists
    while appends may not be committed at once. `is_busy`: whether a command is being executed, so that the next one has
    to wait. `loads`: how often it has loaded its log, the last time at the leader epoch `loaded_epoch`.
    """

    def __init__(
        self,
        name: str,
        partition: int,
        machine_factory: Callable[[], M],
        journal: Journal,
        clock: BrokerClock,
        *,
        handle_effect: Callable[[Any, Effect], None] | None = None,
        report: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self.name = name
        self.partition = partition
        self.journal = journal
        self.new_machine = machine_factory
        self.replies = ParkedReplies(name)
        self.commits: Commits | None = None
        self.is_busy = False
        self.state = ShardState.LOADING
        self._machine: Any = machine_factory()
        self.timers = ShardTimers(clock)
        self._waiting: deque[tuple[Command[Any], ReplySlot[Any] | None]] = deque()
        self._clock = clock
        self._face = clock.face
        self._handle_effect = handle_effect
        self._report = report
        self.loads = 0
        self.loaded_epoch = journal.leader_epoch
        self._load: Iterator[int] | None = None
        self._load_is_held = False

    # -- commands

    def begin(self, command: Command[R]) -> R | ReplySlot[R]:
        """Give a command; returns its reply, or the `ReplySlot` to wait at. Either of them raises `KafkaError`.

        Whoever waits at the slot may be cancelled; the command goes on.
        """
        if self.is_busy:
            slot: ReplySlot[R] = ReplySlot()
            self._waiting.append((command, slot))
            return slot
        if self.state is not _ACTIVE:
            self.check_open()
        self.is_busy = True
        try:
            return self.step(command)
        finally:
            self.is_busy = False
            if self._waiting:
                self._execute_waiting()

    def ask_now(self, command: Command[R]) -> R:
        """The reply to a command that is never parked, for a caller that cannot wait.

        It does not wait for followers either: raises COORDINATOR_NOT_AVAILABLE if the reply depends on them.
        """
        if self.is_busy:
            raise RuntimeError(f"{self.name} is asked for an immediate reply by one of its own effects: {command!r}")
        reply = self.begin(command)
        if not isinstance(reply, ReplySlot):
            return reply
        if isinstance(reply, EarlyReply):
            early: R = reply.early
            return early
        commits = self.commits
        if commits is not None and commits.has(reply):
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{self.name} waits for replicas that are kept behind"
            )
        raise RuntimeError(f"{command!r} was parked: use begin()")

    def post(self, command: Command[Any]) -> None:
        """Execute a command that nobody waits for, at once or after the present one; none if the shard is not active.

        The follow-up of an effect is the shard's next step, before the command that caused it is answered. So
        everything that a command causes at once is done when its caller has the reply: EndTxn returns when the
        transaction is complete.
        """
        self._waiting.append((command, None))
        if not self.is_busy:
            self._execute_waiting()

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
                self.timers.set(effect, now_ms)
            elif kind is Cancel:
                assert isinstance(effect, Cancel)
                self.timers.cancel(effect.key)
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
        self.timers.clear()
        if self.commits is not None:
            self.commits.abandon(error)
            self.commits = None
        while self._waiting:
            _, slot = self._waiting.popleft()
            if slot is not None:
                slot.fail(error)

    def _execute_waiting(self) -> None:
        """Execute the waiting commands, and those that they cause."""
        while self._waiting:
            command, slot = self._waiting.popleft()
            self.is_busy = True
            try:
                self._execute_next(command, slot)
            except Exception as error:
                if slot is not None and not slot.done:
                    slot.fail(error)
                elif isinstance(error, KafkaError):
                    _log.warning("%s: %r: %s", self.name, command, error)
                else:
                    self.report_bug(repr(command), error)
            finally:
                self.is_busy = False

    def _execute_next(self, command: Command[Any], slot: ReplySlot[Any] | None) -> None:
        if isinstance(command, Settle | GiveUp):
            self._execute_of_commits(command)
            return
        if slot is None and self.state is not _ACTIVE:
            return
        self.check_open()
        reply = self.step(command, slot)
        if slot is not None and reply is not slot:
            slot.complete(reply)

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
            if isinstance(command, GiveUp):
                self.commits.give_up(self._face.now_ms())
            else:
                self.commits.settle(self._face.now_ms())
        except Exception as error:
            self.fail(error)

    def complete_transaction(self, producer: Producer, commit: bool, coordinator_epoch: int) -> int:
        """Append a transaction marker to this partition and settle what the producer left pending in it.

        Returns the marker's offset. Raises `KafkaError` if the log refuses the marker; then nothing has changed. While
        the shard is loading the append is enough, as the load reaches the marker by itself.
        """
        if self.state not in (_ACTIVE, _LOADING):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if self.journal.apart:
            self.keep_commits()
        journal = cast("KeyedJournal", self.journal)
        offset = journal.append_marker(producer, coordinator_epoch, commit, self._clock.now_ms())
        if self.state is _ACTIVE:
            try:
                self.machine.replay_marker(producer.id, producer.epoch, commit)
            except Exception as error:
                self.fail(error)
        return offset

    # -- state

    @property
    def machine(self) -> M:
        """The machine, with what is appended and not yet committed. `open_machine` is for readers."""
        machine: M = self._machine
        return machine

    @property
    def is_active(self) -> bool:
        """Whether it executes commands."""
        return self.state is ShardState.ACTIVE

    @property
    def parked(self) -> int:
        """How many commands are parked."""
        return len(self.replies)

    @property
    def uncommitted(self) -> int:
        """How many commands wait for followers to have their records."""
        commits = self.commits
        return 0 if commits is None else len(commits)

    def open_machine(self) -> M:
        """The machine, for reading only; raises as `begin` does while the shard is not active.

        It does not contain what is appended and not committed.
        """
        self.check_open()
        commits = self.commits
        if commits is None:
            return self.machine
        machine: M = commits.view()
        return machine

    def settled(self) -> ReplySlot[None] | None:
        """What to wait for until everything appended so far is committed; None if it is. Raises as `begin` does."""
        self.check_open()
        commits = self.commits
        return None if commits is None else commits.settled(self._clock.now_ms())

    def check_open(self) -> None:
        """Raise COORDINATOR_LOAD_IN_PROGRESS while loading, NOT_COORDINATOR if the shard has failed or ended."""
        if self.state is ShardState.ACTIVE:
            return
        if self.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise KafkaError(ErrorCode.NOT_COORDINATOR)

    # -- loading

    def start(self) -> None:
        """Begin to load. The first slice is replayed at once: a shard with a short log is ACTIVE on return."""
        self._begin_load()
        self.load_slice()

    def reload(self) -> None:
        """Discard all state and load the log again. Parked commands get NOT_COORDINATOR, as after a move."""
        self._abandon()
        self.state = ShardState.LOADING
        self._machine = self.new_machine()
        self._begin_load()
        self.timers.wake()

    def _begin_load(self) -> None:
        """Start at the first record of the log."""
        self.loaded_epoch = self.journal.leader_epoch
        self._load = self.journal.load(self._machine)

    @property
    def _is_outdated(self) -> bool:
        """Whether the log has got a new leader since the last load began."""
        return self.journal.leader_epoch != self.loaded_epoch

    def reload_if_moved(self) -> None:
        """Reload if the partition has got another leader since the last load."""
        if self._is_outdated and self.state is not ShardState.CLOSED:
            self.reload()
            self.load_slice()

    def hold_load(self, held: bool) -> None:
        """Hold the load, or let it go on."""
        self._load_is_held = held
        if not held and self.state is ShardState.LOADING:
            self.load_slice()
            self.timers.wake()

    def finish_loading(self) -> None:
        """Load the rest now, unless a test holds the load. Views from outside must not show half of it."""
        while self.state is ShardState.LOADING and self._load is not None and not self._load_is_held:
            self.load_slice()

    def load_slice(self) -> None:
        """Load one more slice, unless a test holds the load. An exception makes the shard FAILED."""
        load = self._load
        if load is None or self._load_is_held:
            return
        try:
            if next(load, self.journal.end_offset) < self.journal.end_offset:
                return
            self._load = None
            self.loads += 1
            self.state = ShardState.ACTIVE
            if self.journal.apart:
                self.keep_commits()
            now_ms = self._clock.now_ms()
            self.apply(self.machine.on_loaded(now_ms), now_ms)
        except Exception as error:
            self.state = ShardState.FAILED
            self._load = None
            self.report_bug("loading", error)

    # -- copies

    def copied(self) -> bytes | None:
        """Its state for `start_copied`; None if the copy has to load it.

        That is the case while the shard has not loaded, and while followers lack what it appended: commands that wait
        for followers are not copied.
        """
        self.finish_loading()
        commits = self.commits
        if not self.is_active or (commits is not None and (len(commits) or commits.behind)):
            return None
        return pickled_state(cast("CopyableMachine", self.machine), self.timers, self.replies.tickets())

    def start_copied(self, copy: bytes) -> None:
        """Start with the state of another shard, in place of `start`. Nobody waits for the commands parked there."""
        tickets = restore_state(copy, cast("CopyableMachine", self.machine), self.timers)
        self.replies.park_nobody(tickets)
        self.state = ShardState.ACTIVE
        self.loads = 1

    # -- running

    async def run(self) -> None:
        """The shard's task: goes on loading, then waits for timers, until the shard is closed."""
        while self.state is not ShardState.CLOSED:
            if self.state is ShardState.LOADING and not self._load_is_held:
                self.load_slice()
                await trio.lowlevel.checkpoint()
                continue
            self.fire_due()
            if self.is_active or self._rests:
                await self.timers.sleep()

    @property
    def _rests(self) -> bool:
        """Whether there is nothing to do until the task is woken."""
        if self.state is ShardState.LOADING:
            return self._load_is_held
        return self.state in (ShardState.FAILED, ShardState.RESIGNED)

    def on_commit(self) -> None:
        """More of the log is committed, or another node leads it. In the latter case the new leader's shard loads."""
        commits = self.commits
        if commits is not None and self.state is ShardState.ACTIVE and not self._is_outdated:
            self.post(Settle())

    def fire_due(self) -> None:
        """Execute the timer commands that are due."""
        if self.state is not ShardState.ACTIVE:
            return
        for _, command in self.timers.pop_due(self._clock.now_ms()):
            self.post(command)
            if not self.is_active:
                return

    # -- the end

    def resign(self) -> None:
        """The partition has no leader: parked commands get NOT_COORDINATOR. The next leader's shard loads."""
        if self.state is not ShardState.CLOSED:
            self.state = ShardState.RESIGNED
            self._abandon(resigned=True)
            self.timers.wake()

    def close(self) -> None:
        """End the shard: parked commands and all later ones get NOT_COORDINATOR."""
        if self.state is ShardState.CLOSED:
            return
        self.state = ShardState.CLOSED
        self._abandon()
        self.timers.wake()

    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed, which is a bug: report it and load the log again."""
        self.state = ShardState.FAILED
        self.report_bug("replay", error)
        self.reload()

    def report_bug(self, doing: str, error: BaseException) -> None:
        """Report a bug, or raise it if there is no `report`."""
        if self._report is None:
            raise error
        self._report(f"{self.name}: {doing}", error)

    def _abandon(self, *, resigned: bool = False) -> None:
        """Stop all work. With `resigned`, the load is not outdated until the log gets another leader."""
        error = KafkaError(ErrorCode.NOT_COORDINATOR)
        self.drop_commands(error)
        self._load = None
        if resigned:
            self.loaded_epoch = self.journal.leader_epoch


class _Copy(NamedTuple):
    state: Any
    timers: Sequence[tuple[Hashable, int, Any]]
    tickets: Sequence[Hashable]


def pickled_state(machine: CopyableMachine, timers: TimerQueue, tickets: Sequence[Hashable]) -> bytes:
    """A machine's state with its timers and the tickets of parked commands, for a snapshot or a fork of the broker.

    A reload from the log would lose what no record expresses, and clients would notice: rebalances would begin again,
    sessions would be new. The bytes are for this process only.
    """
    import pickle

    return pickle.dumps(tuple(_Copy(machine.snapshot(), timers.entries(), tickets)), pickle.HIGHEST_PROTOCOL)


def restore_state(copy: bytes, machine: CopyableMachine, timers: TimerQueue) -> Sequence[Hashable]:
    """Put the pickled state into a new machine and an empty queue; returns the tickets of parked commands."""
    import pickle

    copied = _Copy(*pickle.loads(copy))
    machine.restore(copied.state)
    for key, deadline_ms, command in copied.timers:
        timers.schedule(key, deadline_ms, command)
    return copied.tickets


# -- replicas that differ


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

    def __init__(self, shard: Shard[Any], machine: ReplicatedMachine) -> None:
        self._shard = shard
        self._journal = cast(ReplicatedJournal, shard.journal)
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

    def has(self, slot: ReplySlot[Any]) -> bool:
        """Whether a command with this slot waits for its records to be committed."""
        return any(waiting.slot is slot for waiting in self._waiting)

    # -- steps

    def step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Execute an outcome; this replaces `Shard.step`."""
        if not self._waiting and not self._journal.apart:
            self._shard.apply((Cancel(LATE_TIMER),), now_ms)
            self._shard.commits = None
        if not self._machine.replays_committed:
            return self._step_and_wait(command, outcome, now_ms, slot)
        if outcome.records:
            return self._wait_and_step(command, outcome, now_ms, slot)
        return self._shard.finish(outcome, slot, now_ms)

    def _step_and_wait(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Change the state now.

        Answers, and effects outside of the shard, wait for the records (or the ones before).
        """
        shard = self._shard
        wrote = bool(outcome.records)
        if wrote:
            outcome = shard.write(command, outcome, now_ms)
        if not self.behind and not self._waiting:
            return shard.finish(outcome, slot, now_ms)
        effects = (*outcome.effects, *(() if outcome.then is None else outcome.then()))
        waiting = self._begin(command, outcome, now_ms)
        reply: Any = outcome.reply
        if outcome.park is not None:
            waiting.ticket = outcome.park
            reply = shard.replies.park(outcome.park, slot)
        elif outcome.waits:
            reply = waiting.slot = EarlyReply(outcome.reply) if slot is None else slot
        if wrote and outcome.waits:
            waiting.effects = [effect for effect in effects if effect.__class__ not in _AT_ONCE]
            effects = tuple(effect for effect in effects if effect.__class__ in _AT_ONCE)
        shard.apply(effects, now_ms)
        if waiting.slot is not None or waiting.effects or waiting.ticket is not None:
            self._add(waiting, now_ms)
        return reply

    def _wait_and_step(
        self, command: Command[Any], outcome: Outcome[Any], now_ms: int, slot: ReplySlot[Any] | None
    ) -> Any | ReplySlot[Any]:
        """Append the records. Everything else waits until they are committed."""
        shard, journal = self._shard, self._journal
        stored = []
        for records in (outcome.records,) if outcome.atomic else journal.split(outcome.records):
            try:
                journal.check_in_sync()
                stored.append(journal.append(records, now_ms, outcome.producer))
            except KafkaError as error:
                return shard.finish(shard.refused(command, outcome, error, now_ms), slot, now_ms)
        if not self.behind and not self._waiting:
            for part in stored:
                shard.replay(part)
            return shard.finish(outcome, slot, now_ms)
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
            self._shard.on_commit()

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
            self._shard.apply(waiting.effects, now_ms)
            return waiting.outcome.reply
        self._machine.commit_settled(waiting.outcome.records)
        for part in waiting.stored:
            self._shard.replay(part)
        return self._shard.finish(waiting.outcome, waiting.slot, now_ms)

    def give_up(self, now_ms: int) -> None:
        """Time out the commands that have waited too long. Their records stay in the log."""
        for waiting in [waiting for waiting in self._waiting if waiting.deadline_ms <= now_ms]:
            if waiting.stored:
                self._machine.commit_settled(waiting.outcome.records)
            self._answer_late(waiting)
            if not waiting.effects:
                self._waiting.remove(waiting)
            self._shard.apply(self._machine.commit_late(waiting.command, now_ms), now_ms)
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
                self._shard.replies.let_go(effect.ticket, error, forget=True)
        if waiting.ticket is not None:
            self._shard.replies.let_go(waiting.ticket, error, forget=False)
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
            self._forget = self._journal.watch(self._shard.on_commit)

    def _set_timer(self, now_ms: int) -> None:
        first = min((waiting.deadline_ms for waiting in self._waiting), default=_NEVER)
        if first < _NEVER:
            self._shard.apply((Schedule(LATE_TIMER, max(0, first - now_ms), GiveUp()),), now_ms)

    # -- reading

    def view(self) -> Any:
        """The machine as readers see it: with committed records only."""
        live = self._machine
        if live.replays_committed or not self.behind:
            self._committed_machine = None
            return live
        if self._committed_machine is None:
            self._committed_machine = cast(ReplicatedMachine, self._shard.new_machine())
            self._committed_to = self._journal.start_offset
        committed = self._journal.committed_offset
        self._committed_to = replay_between(self._journal, self._committed_machine, self._committed_to, committed)
        return live.as_committed(self._committed_machine)


class _Read:
    __slots__ = ()
    reply: None


_READ = _Read()
