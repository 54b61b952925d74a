"""The actor of one coordinator partition: it owns a machine, a log and timers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.executor import Executor, Settle
from odradek.broker.runtime.journal import Journal, KeyedJournal
from odradek.broker.runtime.loading import Loading
from odradek.broker.runtime.machine import Command, CopyableMachine, Effect, Machine, Producer, R
from odradek.broker.runtime.replies import EarlyReply, ReplySlot
from odradek.broker.runtime.timers import TimerQueue
from odradek.protocol.errors import ErrorCode, KafkaError

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


class Shard(Executor, Generic[M]):
    """Runs the commands of one coordinator partition, one at a time, and loads its log.

    Owner: its `CoordinatorService`. Everything happens in the broker's thread and no step awaits. A cancellation can
    only hit a caller that waits for a parked reply, where nothing is half done; the command itself goes on.

    Invariants: durable state changes in `Machine.replay` only; every command gets exactly one reply; a command that
    another one causes waits until that one is done.

    A failed load leaves the shard FAILED. A record that cannot be replayed while it is active makes it load again.

    `handle_effect(shard, effect)` executes the machine's own effects (anything but `Schedule`, `Cancel`, `Answer`). It
    must not block, and may `submit` commands to this or another shard. `report` is called with bugs.
    """

    def __init__(
        self,
        name: str,
        partition: int,
        machine_factory: Callable[[], M],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        *,
        handle_effect: Callable[[Any, Effect], None] | None = None,
        report: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        super().__init__(name, machine_factory, journal, clock, handle_effect)
        self.partition = partition
        self.state = ShardState.LOADING
        self._clock = clock
        self._report = report
        self._loading = Loading(journal)

    # -- commands

    async def ask(self, command: Command[R]) -> R:
        """Give a command and wait for its reply; raises the coordinator's `KafkaError`.

        Returns without a task switch unless the command is parked. Cancelling the wait does not cancel the command.
        """
        reply = self.begin(command)
        return await reply.wait() if isinstance(reply, ReplySlot) else reply

    def begin(self, command: Command[R]) -> R | ReplySlot[R]:
        """Give a command; returns its reply, or the `ReplySlot` to wait at. Either of them raises `KafkaError`."""
        if self.is_busy:
            return self.submit(command)
        if self.state is not _ACTIVE:
            self.check_open()
        return self.execute(command)

    def ask_now(self, command: Command[R]) -> R:
        """Like `ask`, for a command that is never parked and a caller that cannot wait.

        It does not wait for followers either: raises COORDINATOR_NOT_AVAILABLE if the reply depends on them.
        """
        if self.is_busy:
            raise RuntimeError(f"{self.name} is asked for an immediate reply by one of its own effects: {command!r}")
        self.check_open()
        reply = self.execute(command)
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
        raise RuntimeError(f"{command!r} was parked: use ask()")

    def submit(self, command: Command[R]) -> ReplySlot[R]:
        """Give a command without waiting; the slot gets the reply or the error. Never raises `KafkaError`."""
        slot: ReplySlot[R] = ReplySlot()
        if self.is_busy:
            self._waiting.append((command, slot))
            return slot
        try:
            self.check_open()
            reply = self.execute(command)
        except KafkaError as error:
            slot.fail(error)
            return slot
        if isinstance(reply, ReplySlot):
            return reply
        slot.complete(reply)
        return slot

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
    def timers(self) -> TimerQueue:
        """The commands that run later."""
        return self._timers.queue

    @property
    def is_active(self) -> bool:
        """Whether it executes commands."""
        return self.state is ShardState.ACTIVE

    @property
    def loads(self) -> int:
        """How often it has loaded its log."""
        return self._loading.count

    @property
    def loaded_epoch(self) -> int:
        """The log's leader epoch at the last load."""
        return self._loading.leader_epoch

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
        """The machine, for reading only; raises as `ask` does while the shard is not active.

        It does not contain what is appended and not committed.
        """
        self.check_open()
        commits = self.commits
        if commits is None:
            return self.machine
        machine: M = commits.view()
        return machine

    def settled(self) -> ReplySlot[None] | None:
        """The event to wait for until everything appended so far is committed; None if it is. Raises as `ask` does."""
        self.check_open()
        commits = self.commits
        return None if commits is None else commits.settled(self._clock.now_ms())

    def check_open(self) -> None:
        """See `Executor`."""
        if self.state is ShardState.ACTIVE:
            return
        if self.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        raise KafkaError(ErrorCode.NOT_COORDINATOR)

    # -- loading

    def start(self) -> None:
        """Begin to load. The first slice is replayed at once: a shard with a short log is ACTIVE on return."""
        self._loading.begin(self.machine)
        self.load_slice()

    def reload(self) -> None:
        """Discard all state and load the log again. Parked commands get NOT_COORDINATOR, as after a move."""
        self._abandon()
        self.state = ShardState.LOADING
        self._machine = self.new_machine()
        self._loading.begin(self._machine)
        self._timers.wake()

    def reload_if_moved(self) -> None:
        """Reload if the partition has got another leader since the last load."""
        if self._loading.is_outdated and self.state is not ShardState.CLOSED:
            self.reload()
            self.load_slice()

    def hold_load(self, held: bool) -> None:
        """Hold the load, or let it go on."""
        self._loading.held = held
        if not held and self.state is ShardState.LOADING:
            self.load_slice()
            self._timers.wake()

    def finish_loading(self) -> None:
        """Load the rest now, unless a test holds the load. Views from outside must not show half of it."""
        while self.state is ShardState.LOADING and self._loading.can_go_on:
            self.load_slice()

    def load_slice(self) -> None:
        """Load one more slice, unless a test holds the load. An exception makes the shard FAILED."""
        if not self._loading.can_go_on:
            return
        try:
            if not self._loading.replay_slice():
                return
            self.state = ShardState.ACTIVE
            if self.journal.apart:
                self.keep_commits()
            now_ms = self._clock.now_ms()
            self.apply(self.machine.on_loaded(now_ms), now_ms)
        except Exception as error:
            self.state = ShardState.FAILED
            self._loading.stop()
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
        self._loading.count = 1

    # -- running

    async def run(self) -> None:
        """The shard's task: goes on loading, then waits for timers, until the shard is closed."""
        while self.state is not ShardState.CLOSED:
            if self.state is ShardState.LOADING and not self._loading.held:
                self.load_slice()
                await trio.lowlevel.checkpoint()
                continue
            self.fire_due()
            if self.is_active or self._rests:
                await self._timers.sleep()

    @property
    def _rests(self) -> bool:
        """Whether there is nothing to do until the task is woken."""
        if self.state is ShardState.LOADING:
            return self._loading.held
        return self.state in (ShardState.FAILED, ShardState.RESIGNED)

    def on_commit(self) -> None:
        """See `Executor`."""
        commits = self.commits
        if commits is not None and self.state is ShardState.ACTIVE and not self._loading.is_outdated:
            self.follow_up(Settle())

    def fire_due(self) -> None:
        """Execute the timer commands that are due."""
        if self.state is not ShardState.ACTIVE:
            return
        for _, command in self.timers.pop_due(self._clock.now_ms()):
            self.follow_up(command)
            if not self.is_active:
                return

    def shift_timers(self, step_ms: int) -> None:
        """See `ShardTimers.shift`."""
        self._timers.shift(step_ms)

    # -- the end

    def resign(self) -> None:
        """The partition has no leader: parked commands get NOT_COORDINATOR. The next leader's shard loads."""
        if self.state is not ShardState.CLOSED:
            self.state = ShardState.RESIGNED
            self._abandon(resigned=True)
            self._timers.wake()

    def close(self) -> None:
        """End the shard: parked commands and all later ones get NOT_COORDINATOR."""
        if self.state is ShardState.CLOSED:
            return
        self.state = ShardState.CLOSED
        self._abandon()
        self._timers.wake()

    def fail(self, error: Exception) -> None:
        """See `Executor`."""
        self.state = ShardState.FAILED
        self.report_bug("replay", error)
        self.reload()

    def report_bug(self, doing: str, error: BaseException) -> None:
        """See `Executor`."""
        if self._report is None:
            raise error
        self._report(f"{self.name}: {doing}", error)

    def _abandon(self, *, resigned: bool = False) -> None:
        error = KafkaError(ErrorCode.NOT_COORDINATOR)
        self.drop_commands(error)
        self._loading.stop(resigned=resigned)


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
