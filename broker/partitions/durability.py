"""Flushes logs to the disk: group syncs for waiting requests, flushes by time and count, checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import trio

from odradek.broker.config.broker_config import BrokerConfig
from odradek.protocol.errors import as_value
from odradek.storage.backend import StorageError
from odradek.storage.partition_log import PartitionLog

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock

FLUSH = "odradek.flush"
ALWAYS, INTERVAL, NEVER = "always", "interval", "never"
CHECKPOINT_INTERVAL = "log.flush.offset.checkpoint.interval.ms"
_SCHEDULER_MS = 1000
"""The shortest interval at which logs are checked for `flush.ms`."""


class Flushed(Protocol):
    """The part of a partition, or of the metadata log, that flushing uses."""

    @property
    def log(self) -> PartitionLog:
        """The log that was appended to."""

    @property
    def deleted(self) -> bool:
        """Whether the log was deleted."""

    def fail(self, error: StorageError) -> None:
        """The medium lost appended bytes: refuse every append from now on."""


class Directory(Protocol):
    """The log directory, as its periodic work uses it."""

    def remove_due(self) -> object:
        """Remove the files whose time has come."""

    def write_checkpoints(self) -> None:
        """Bring changed checkpoints to their files."""


class Durability:
    """Brings appends to the disk as `odradek.flush` says.

    Owner: the cluster; `run` in the maintenance nursery, once `directory` is open. `appended` grows with each
    append, so a request that appended knows to wait for the flush.
    """

    def __init__(self, config: BrokerConfig, clock: BrokerClock, report: Callable[[str, BaseException], None]) -> None:
        self._config = config
        self._clock = clock
        self.report = report
        self.directory: Directory | None = None
        self.appended = 0
        self._flushed = 0
        self._failure: StorageError | None = None
        self._failed_to = 0
        self._dirty: dict[Flushed, None] = {}
        self._unflushed_since: dict[Flushed, int] = {}
        self._flush_asked = trio.Event()
        self._flush_done = trio.Event()
        self.mode = config.get_str(FLUSH)
        self.late_ms: dict[int, int] = {}
        """By how much longer a node's disk takes, where a test has made it slow; a partition is on its leader's."""

    def note_append(self, appended: Flushed) -> None:
        """To be called after every append, in the same sync step."""
        self.appended += 1
        if self.mode == ALWAYS:
            self._dirty[appended] = None
        elif self.mode == INTERVAL:
            log = appended.log
            if log.unflushed_messages >= log.config.flush_messages:
                log.flush()
                self._unflushed_since.pop(appended, None)
            elif appended not in self._unflushed_since:
                self._unflushed_since[appended] = self._clock.now_ms()

    def must_wait(self, appended_before: int) -> bool:
        """Whether a request that saw `appended` at this value has appends to wait for."""
        return self.mode == ALWAYS and self.appended != appended_before

    async def flushed(self) -> None:
        """Wait until everything appended so far is on the disk; StorageError if it could not be brought there."""
        target = self.appended
        while self._flushed < target:
            done = self._flush_done
            self._flush_asked.set()
            await done.wait()
        if self._failure is not None and self._failed_to >= target:
            raise self._failure.again()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """The tasks: the group flusher, and the periodic work on the broker's clock."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._flush_for_waiters)
            nursery.start_soon(self._work_periodically)
            task_status.started()

    async def _flush_for_waiters(self) -> None:
        """One sync serves all requests that wait; while it runs, the next ones gather."""
        while True:
            await self._flush_asked.wait()
            self._flush_asked = trio.Event()
            target, dirty = self.appended, list(self._dirty)
            self._dirty.clear()
            await self._sync(dirty)
            self._flushed = target
            done, self._flush_done = self._flush_done, trio.Event()
            done.set()

    async def _sync(self, appended: list[Flushed]) -> None:
        syncs: list[tuple[Flushed, Callable[[], None]]] = []
        for flushed in appended:
            try:
                if not flushed.deleted and (sync := flushed.log.begin_sync()) is not None:
                    syncs.append((flushed, sync))
            except StorageError as error:
                self._fail(flushed, error)
        if not syncs:
            return
        if self.late_ms:
            late_ms = max(self.late_ms.get(getattr(flushed, "leader_id", -1), 0) for flushed, _ in syncs)
            await self._clock.sleep(late_ms / 1000)

        def sync_all() -> list[tuple[Flushed, StorageError]]:
            failed = []
            for flushed, sync in syncs:
                try:
                    sync()
                except StorageError as error:
                    failed.append((flushed, as_value(error)))
            return failed

        for flushed, failure in await trio.to_thread.run_sync(sync_all):
            self._fail(flushed, failure)

    def _fail(self, flushed: Flushed, error: StorageError) -> None:
        flushed.fail(error)
        # The waiters of this round cannot be told apart, so none of them gets a false success.
        self._failure, self._failed_to = error, self.appended

    async def _work_periodically(self) -> None:
        last_checkpoint = self._clock.now_ms()
        while True:
            await self._clock.sleep(_SCHEDULER_MS / 1000)
            now = self._clock.now_ms()
            self._guard("flush", lambda now=now: self._flush_due(now))  # type: ignore[misc]
            assert self.directory is not None
            self._guard("removal of files", self.directory.remove_due)
            if now - last_checkpoint >= self._config.get_int(CHECKPOINT_INTERVAL):
                last_checkpoint = now
                self._guard("checkpoint", self.directory.write_checkpoints)

    def _guard(self, what: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:
            self.report(what, error)

    def _flush_due(self, now_ms: int) -> None:
        for flushed, since in list(self._unflushed_since.items()):
            if flushed.deleted:
                del self._unflushed_since[flushed]
            elif now_ms - since >= flushed.log.config.flush_ms:
                del self._unflushed_since[flushed]
                flushed.log.flush()
