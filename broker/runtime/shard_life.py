"""The life of a shard: it loads its log, is active, and ends or begins anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar, cast

import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.runtime.effects import Effect
from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.loading import Loading
from odradek.broker.runtime.machine import Machine
from odradek.broker.runtime.shard_state import ShardState
from odradek.broker.runtime.steps import Steps
from odradek.broker.runtime.timers import TimerQueue
from odradek.broker.runtime.turns import Turns
from odradek.protocol.errors import ErrorCode, KafkaError

M = TypeVar("M", bound=Machine)


class ShardLife(Generic[M]):
    """What becomes of a shard, whatever it is asked. See `Shard` for the arguments.

    A failed load leaves it FAILED; a record that cannot be replayed while it is active makes it load again.
    """

    def __init__(
        self,
        name: str,
        partition: int,
        machine_factory: Callable[[], M],
        journal: Journal[Any, Any],
        clock: BrokerClock,
        *,
        perform: Callable[[Any, Effect], None] | None = None,
        report: Callable[[str, BaseException], None] | None = None,
    ) -> None:
        self.name = name
        self.partition = partition
        self.journal = journal
        self.state = ShardState.LOADING
        self._clock = clock
        self._report = report
        self._steps = Steps(self, machine_factory, journal, clock, None if perform is None else partial(perform, self))
        self._turns = Turns(self, self._steps)
        self._alarm = self._steps.alarm
        self._loading = Loading(journal)

    # -- looking

    @property
    def machine(self) -> M:
        """What the shard knows, with what is not committed."""
        machine: M = self._steps.machine
        return machine

    @property
    def timers(self) -> TimerQueue:
        """What it does later."""
        return self._alarm.timers

    @property
    def is_active(self) -> bool:
        """Whether it carries out commands."""
        return self.state is ShardState.ACTIVE

    @property
    def loads(self) -> int:
        """How often it has loaded its log."""
        return self._loading.count

    @property
    def loaded_epoch(self) -> int:
        """The leader epoch of the log that it has loaded."""
        return self._loading.leader_epoch

    def check_open(self) -> None:
        """COORDINATOR_LOAD_IN_PROGRESS while it loads, NOT_COORDINATOR where it will not answer."""
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
        """Forget everything but the log and load again; parked commands get NOT_COORDINATOR, as after a move."""
        self._abandon()
        self.state = ShardState.LOADING
        self._loading.begin(self._steps.begin_anew())
        self._alarm.wake()

    def reload_if_moved(self) -> None:
        """Reload when the partition has got another leader since the last load."""
        if self._loading.is_outdated and self.state is not ShardState.CLOSED:
            self.reload()
            self.load_slice()

    def hold_load(self, held: bool) -> None:
        """Keep the shard from loading from now on, or let it load."""
        self._loading.held = held
        if not held and self.state is ShardState.LOADING:
            self.load_slice()
            self._alarm.wake()

    def finish_loading(self) -> None:
        """Load the rest now, unless a test holds the load: whoever looks from outside must not see half of it."""
        while self.state is ShardState.LOADING and self._loading.can_go_on:
            self.load_slice()

    def load_slice(self) -> None:
        """Go on with the load, unless a test holds it. A bug in it makes the shard FAILED."""
        if not self._loading.can_go_on:
            return
        try:
            if not self._loading.replay_slice():
                return
            self.state = ShardState.ACTIVE
            if self.journal.apart:
                self._steps.keep_commits()
            now_ms = self._clock.now_ms()
            self._steps.apply(self.machine.on_loaded(now_ms), now_ms)
        except Exception as error:
            self.state = ShardState.FAILED
            self._loading.stop()
            self.report_bug("loading", error)

    # -- copies

    def copied(self) -> bytes | None:
        """What it knows now, for `start_copied`; None where a new one has to load it.

        That is so while it has not loaded, and while followers lack what it appended: what hangs on that is not copied.
        """
        from odradek.broker.runtime.copying import Copyable, pickled

        self.finish_loading()
        commits = self._steps.commits
        if not self.is_active or (commits is not None and (len(commits) or commits.behind)):
            return None
        return pickled(cast("Copyable", self.machine), self.timers, self._steps.parked.tickets())

    def start_copied(self, copy: bytes) -> None:
        """Begin with what another shard knew, instead of `start`. Nobody waits for what was parked there."""
        from odradek.broker.runtime.copying import Copyable, take

        self._steps.parked.park_nobody(take(copy, cast("Copyable", self.machine), self.timers))
        self.state = ShardState.ACTIVE
        self._loading.count = 1

    # -- living

    async def run(self) -> None:
        """The shard's task: goes on loading, then waits for timers, until the shard is closed."""
        while self.state is not ShardState.CLOSED:
            if self.state is ShardState.LOADING and not self._loading.held:
                self.load_slice()
                await trio.lowlevel.checkpoint()
                continue
            self.fire_due()
            if self.is_active or self._rests:
                await self._alarm.sleep()

    @property
    def _rests(self) -> bool:
        """Whether there is nothing to do until somebody says so."""
        if self.state is ShardState.LOADING:
            return self._loading.held
        return self.state in (ShardState.FAILED, ShardState.RESIGNED)

    def committed(self) -> None:
        """More of the log is committed, or another node leads it: then the new leader loads, and nobody waits here."""
        commits = self._steps.commits
        if commits is not None and self.state is ShardState.ACTIVE and not self._loading.is_outdated:
            self._turns.carry_out_of_commits(commits.settling)

    def fire_due(self) -> None:
        """Carry out the timer commands that are due."""
        if self.state is not ShardState.ACTIVE:
            return
        for _, command in self.timers.pop_due(self._clock.now_ms()):
            if self._steps.is_for_commits(command):
                self._turns.carry_out_of_commits(command)
            else:
                self._turns.carry_out_unasked(command)
            if not self.is_active:
                return

    def shift_timers(self, step_ms: int) -> None:
        """See `Alarm.shift`."""
        self._alarm.shift(step_ms)

    # -- the end

    def resign(self) -> None:
        """Nobody leads the partition: parked commands get NOT_COORDINATOR; the next leader loads."""
        if self.state is not ShardState.CLOSED:
            self.state = ShardState.RESIGNED
            self._abandon(resigned=True)
            self._alarm.wake()

    def close(self) -> None:
        """End the shard: parked commands get NOT_COORDINATOR, and so does every later one."""
        if self.state is ShardState.CLOSED:
            return
        self.state = ShardState.CLOSED
        self._abandon()
        self._alarm.wake()

    def fail(self, error: Exception) -> None:
        """A stored record could not be replayed, which is a bug: rebuild from the log."""
        self.state = ShardState.FAILED
        self.report_bug("replay", error)
        self.reload()

    def report_bug(self, doing: str, error: BaseException) -> None:
        """Tell of a bug; raises it where nobody listens."""
        if self._report is None:
            raise error
        self._report(f"{self.name}: {doing}", error)

    def _abandon(self, *, resigned: bool = False) -> None:
        error = KafkaError(ErrorCode.NOT_COORDINATOR)
        self._steps.abandon(error)
        self._turns.abandon(error)
        self._loading.stop(resigned=resigned)
