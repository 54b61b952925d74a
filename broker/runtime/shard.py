"""The actor of one coordinator partition: it owns a machine, the log partition, an inbox and timers."""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

from odradek.broker.runtime.command import Command, R
from odradek.broker.runtime.inbox import EarlyReply, ReplySlot
from odradek.broker.runtime.journal import KeyedJournal
from odradek.broker.runtime.machine import Machine, Producer
from odradek.broker.runtime.shard_life import ShardLife
from odradek.broker.runtime.shard_state import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError

M = TypeVar("M", bound=Machine)

_ACTIVE: Final = ShardState.ACTIVE
_LOADING: Final = ShardState.LOADING


class Shard(ShardLife[M]):
    """Takes commands, and has its `Steps` carry them out, one at a time (`Turns`). See `ShardLife` for its life.

    Owner: its `CoordinatorService`. Everything happens in the broker's thread and no step awaits, so a cancellation can
    only meet an asker that waits for a parked reply, where nothing is half done; the command itself goes on.

    Invariants: durable state changes in `Machine.replay` only; every command gets exactly one reply; a command that is
    caused by another one waits in the inbox until that one is done.

    `perform(shard, effect)` carries out effects that belong to the machine (anything but `Schedule`, `Cancel`,
    `Answer`); it must not block, and may `submit` commands to this or another shard. `report` is told of bugs.
    """

    # -- asking

    async def ask(self, command: Command[R]) -> R:
        """Give a command and wait for its reply; a `KafkaError` of the coordinator is raised here.

        Returns without a task switch unless the command is parked. Cancelling the wait does not cancel the command.
        """
        reply = self.begin(command)
        return await reply.wait() if isinstance(reply, ReplySlot) else reply

    def begin(self, command: Command[R]) -> R | ReplySlot[R]:
        """Give a command; returns its reply, or the `ReplySlot` to wait at. A `KafkaError` is raised here or there."""
        if self._turns.busy:
            return self.submit(command)
        if self.state is not _ACTIVE:
            self.check_open()
        return self._turns.carry_out(command)

    def ask_now(self, command: Command[R]) -> R:
        """Like `ask`, for a command that is never parked and a caller that cannot wait.

        It does not wait for followers either. COORDINATOR_NOT_AVAILABLE where the reply hangs on what they have.
        """
        if self._turns.busy:
            raise RuntimeError(f"{self.name} is asked for an immediate reply by one of its own effects: {command!r}")
        self.check_open()
        reply = self._turns.carry_out(command)
        if not isinstance(reply, ReplySlot):
            return reply
        if isinstance(reply, EarlyReply):
            early: R = reply.early
            return early
        commits = self._steps.commits
        if commits is not None and commits.has(reply):
            raise KafkaError(
                ErrorCode.COORDINATOR_NOT_AVAILABLE, f"{self.name} waits for replicas that are kept behind"
            )
        raise RuntimeError(f"{command!r} was parked: use ask()")

    def submit(self, command: Command[R]) -> ReplySlot[R]:
        """Give a command without waiting; the slot holds the reply once it is there. Never raises `KafkaError`."""
        slot: ReplySlot[R] = ReplySlot()
        if self._turns.busy:
            self._turns.put(command, slot)
            return slot
        try:
            self.check_open()
            reply = self._turns.carry_out(command)
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
        if self._turns.busy:
            self._turns.put(command, None)
        else:
            self._turns.carry_out_unasked(command)

    # -- looking

    @property
    def is_busy(self) -> bool:
        """Whether it is carrying out a command now, so that another one has to wait in the inbox."""
        return self._turns.busy

    @property
    def has_failed(self) -> bool:
        """Whether its log could not be replayed."""
        return self.state is ShardState.FAILED

    @property
    def parked(self) -> int:
        """How many commands wait for their reply."""
        return len(self._steps.parked)

    @property
    def uncommitted(self) -> int:
        """How many commands wait for followers to have their records."""
        commits = self._steps.commits
        return 0 if commits is None else len(commits)

    def open_machine(self) -> M:
        """The machine, to read from (never to change); raises as `ask` does while the shard is not active.

        What is appended and not committed is not in it.
        """
        self.check_open()
        commits = self._steps.commits
        if commits is None:
            return self.machine
        machine: M = commits.view()
        return machine

    def settled(self) -> ReplySlot[None] | None:
        """What to wait at until all that is appended is committed; None if it is. Raises as `ask` does."""
        self.check_open()
        commits = self._steps.commits
        return None if commits is None else commits.settled(self._clock.now_ms())

    # -- transaction markers

    def complete_transaction(self, producer: Producer, commit: bool, coordinator_epoch: int) -> int:
        """Append a transaction marker to this partition and settle what the producer left pending in it.

        Returns the marker's offset. Raises `KafkaError` when the log refuses the marker; then nothing has changed. A
        shard that is loading needs no more than the append: the loader comes to the marker by itself.
        """
        if self.state not in (_ACTIVE, _LOADING):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if self.journal.apart:
            self._steps.keep_commits()
        journal = cast("KeyedJournal", self.journal)
        offset = journal.append_marker(producer, coordinator_epoch, commit, self._clock.now_ms())
        if self.state is _ACTIVE:
            try:
                self.machine.replay_marker(producer.id, producer.epoch, commit)
            except Exception as error:
                self.fail(error)
        return offset
