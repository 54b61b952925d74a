"""The share partitions that this process leads: their machines, the timer of acquisition locks, and waiting fetches.

It resolves `share.auto.offset.reset` for new share partitions. If INFO is enabled it logs locks that time out and
records that are archived.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, Protocol

import trio

from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.share import acknowledgement
from odradek.broker.partitions.share.dead_letters import DELIVERED_TOO_OFTEN, REJECTED, DeadLetter, DeadLetterQueues
from odradek.broker.partitions.share.sessions import SessionKey, ShareSessionCache
from odradek.broker.partitions.share.share_partition import SharePartition, StateWrite
from odradek.broker.partitions.share.states import (
    ARCHIVED,
    AcknowledgementBatch,
    ShareKey,
    ShareSettings,
    StateBatch,
    StoredState,
)
from odradek.broker.partitions.waiters import WaiterSet
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.partition_log import PartitionLog
from odradek.storage.segment_lookup import LargeLook, Looks

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock


_log = logging.getLogger(__name__)
_NEVER = 1 << 62
_PASSES_BEFORE_TIMERS = 3
"""How often other tasks run before locks time out: acknowledgements that have arrived come first."""
_FENCING = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_STATE_EPOCH,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
"""Errors of the share coordinator after which a leader forgets what it knows and reads it again."""


class Stored(Protocol):
    """A write of the share coordinator that its followers lack."""

    async def wait(self) -> None:
        """Until they have it; `KafkaError` if that takes too long, or another coordinator takes over."""


class StateClient(Protocol):
    """The share coordinator, as leaders ask it. Both raise `KafkaError`, with the code that members get."""

    def read(self, key: ShareKey, leader_epoch: int) -> StoredState:
        """The stored state. Fences leaders of earlier epochs."""

    def write(self, key: ShareKey, state_epoch: int, leader_epoch: int, write: StateWrite) -> None:
        """Store what members have decided."""

    def uncommitted(self, key: ShareKey) -> Stored | None:
        """An object to wait for until the share coordinator's replicas have the stored state; None if they have it."""

    def as_members_get_it(self, error: KafkaError) -> KafkaError:
        """The error that members get for one that `Stored.wait` raises."""


class ShareCopy(NamedTuple):
    """A share partition as it was; `machine`: see `SharePartition.copied`."""

    key: ShareKey
    state_epoch: int
    machine: bytes


class LiveSharePartition:
    """The machine of a share partition on the leader of its partition, while that leads in one epoch.

    `waiters`: fetches that wait for records to come back. `fenced`: another one has taken its place.
    """

    __slots__ = ("due_ms", "fenced", "key", "leader_epoch", "machine", "node_id", "partition", "state_epoch", "waiters")

    def __init__(self, key: ShareKey, partition: Partition, machine: SharePartition, state_epoch: int) -> None:
        self.key = key
        self.state_epoch = state_epoch
        self.partition = partition
        self.node_id = partition.leader_id
        self.leader_epoch = partition.leader_epoch
        self.machine = machine
        self.waiters = WaiterSet()
        self.fenced = False
        self.due_ms = _NEVER

    @property
    def is_current(self) -> bool:
        """Whether the partition still leads where and in the epoch in which this was made."""
        partition = self.partition
        return not (
            self.fenced
            or partition.deleted
            or partition.leader_epoch != self.leader_epoch
            or partition.leader_id != self.node_id
        )


class SharePartitions:
    """All share partitions of a cluster, each on the node that leads its partition. Owner: the cluster.

    Everything is synchronous but the one task that waits for locks to time out, which starts with the first lock.
    `settings_of(group_id)` returns a group's configuration in force; it is asked again after `settings_changed`.
    `start` starts the task. `report` is called with bugs and with states that could not be stored. `queues` take what
    is given up; without them it is archived.
    """

    def __init__(
        self,
        clock: BrokerClock,
        client: StateClient,
        settings_of: Callable[[str], ShareSettings],
        start: Callable[[Callable[[], Awaitable[None]]], None],
        report: Callable[[str, BaseException], None],
        queues: DeadLetterQueues | None = None,
    ) -> None:
        self._queues = queues
        self._clock = clock
        self._client = client
        self._read_settings = settings_of
        self._settings: dict[str, ShareSettings] = {}
        self._start = start
        self._report = report
        self._live: dict[ShareKey, LiveSharePartition] = {}
        self._sessions: dict[int, ShareSessionCache] = {}
        self._due: list[tuple[int, int, LiveSharePartition]] = []
        self._serial = count()
        self._wakeup: trio.Event | None = None
        self._sleeps_until_ms = _NEVER

    # -- finding

    def settings_of(self, group_id: str) -> ShareSettings:
        """The configuration of a group that is in force now."""
        settings = self._settings.get(group_id)
        if settings is None:
            settings = self._settings[group_id] = self._read_settings(group_id)
        return settings

    def settings_changed(self) -> None:
        """The configuration of the broker, or that of any group, has changed."""
        self._settings.clear()

    def find(self, key: ShareKey) -> LiveSharePartition | None:
        """The share partition, if it was fetched from since its leader was elected."""
        live = self._live.get(key)
        if live is not None and not live.is_current:
            self._fence(live)
            return None
        return live

    def of_group(self, group_id: str) -> list[LiveSharePartition]:
        """The share partitions that members of a group have fetched from."""
        return [live for live in list(self._live.values()) if live.key.group_id == group_id and live.is_current]

    def open(self, key: ShareKey, partition: Partition, node_id: int) -> LiveSharePartition:
        """The share partition, read from the share coordinator if need be.

        Raises NOT_LEADER_OR_FOLLOWER on other nodes than the leader's, and what the share coordinator answers.
        """
        live = self.find(key)
        if live is not None and live.node_id == node_id:
            return live
        partition.check_leader(node_id)
        stored = self._client.read(key, partition.leader_epoch)
        machine = self._machine(key, partition, stored.state_epoch)
        start_offset = stored.start_offset
        if start_offset == -1:
            reset = self.settings_of(key.group_id).auto_offset_reset
            start_offset = reset_offset(partition.log, reset, self._clock.now_ms())
        try:
            machine.load(start_offset, stored.batches)
        except ValueError as error:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"the state of {key} cannot be used: {error}") from error
        live = self._live[key] = LiveSharePartition(key, partition, machine, stored.state_epoch)
        machine.go_on_giving_up()
        return live

    def _machine(self, key: ShareKey, partition: Partition, state_epoch: int) -> SharePartition:
        leader_epoch = partition.leader_epoch

        def store(write: StateWrite) -> None:
            self._client.write(key, state_epoch, leader_epoch, write)
            if is_logged():
                log_archived(key.group_id, partition, write.batches)

        def give_up(batch: StateBatch, *, rejected: bool) -> None:
            assert self._queues is not None
            reason = REJECTED if rejected else DELIVERED_TOO_OFTEN
            letter = DeadLetter(key.group_id, partition, *batch[:2], batch.delivery_count, reason)
            self._queues.put(letter, settings, lambda: self._given_up(key, machine, batch))

        def settings() -> ShareSettings:
            return self.settings_of(key.group_id)

        machine = SharePartition(settings, store, None if self._queues is None else give_up)
        return machine

    def _given_up(self, key: ShareKey, machine: SharePartition, batch: StateBatch) -> None:
        live = self.find(key)
        if live is None or live.machine is not machine:
            return  # whoever reads the state next gives the records up once more, as in Kafka
        try:
            machine.given_up(batch)
        except KafkaError as error:
            _log.error("%s: it could not be stored that %s is over: %s", key, batch, error)
            if error.code in _FENCING:
                self._fence(live)
        live.waiters.wake_all()

    # -- copies

    def copied(self) -> list[ShareCopy]:
        """The present state of each share partition, for `go_on_with`."""
        return [
            ShareCopy(live.key, live.state_epoch, live.machine.snapshot())
            for live in self._live.values()
            if live.is_current
        ]

    def go_on_with(self, copies: Iterable[ShareCopy], partition_of: Callable[[bytes, int], Partition]) -> None:
        """Replace all state by this one. Sessions end with their connections."""
        self.forget_all()
        self._due.clear()
        for key, state_epoch, copy in copies:
            partition = partition_of(key.topic_id, key.partition)
            machine = self._machine(key, partition, state_epoch)
            machine.restore(copy)
            live = self._live[key] = LiveSharePartition(key, partition, machine, state_epoch)
            machine.go_on_giving_up()
            self.watch(live)

    # -- members

    def acknowledge(self, key: ShareKey, member_id: str, batches: Sequence[AcknowledgementBatch]) -> None:
        """Apply a member's acknowledgement.

        UNKNOWN_TOPIC_OR_PARTITION if the share partition was never fetched from.
        """
        live = self.find(key)
        if live is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        self._execute(live, lambda: acknowledgement.acknowledge(live.machine, member_id, batches, self._clock.now_ms()))

    def uncommitted(self, key: ShareKey) -> Stored | None:
        """An object to wait for before the acknowledgement is confirmed to the member; None if it counts already."""
        return self._client.uncommitted(key)

    def not_stored(self, key: ShareKey, error: KafkaError) -> KafkaError:
        """A stored acknowledgement may be lost: load the state again. Returns the error that the member gets."""
        live = self.find(key)
        if live is not None:
            self._fence(live)
        return self._client.as_members_get_it(error)

    def release(self, key: ShareKey, member_id: str) -> None:
        """A member has left a partition: its records become available again. Raises as `acknowledge` does."""
        live = self.find(key)
        if live is not None:
            self._execute(live, lambda: acknowledgement.release(live.machine, member_id))

    def _execute(self, live: LiveSharePartition, change: Callable[[], bool]) -> None:
        try:
            more = change()
        except KafkaError as error:
            if error.code in _FENCING:
                self._fence(live)
            raise
        self.watch(live)
        if more:
            live.waiters.wake_all()

    def forget_group(self, group_id: str, node_id: int) -> None:
        """No member of the group is connected to the node any more. The next one starts from the stored state."""
        for live in self.of_group(group_id):
            if live.node_id == node_id:
                self._fence(live)

    def forget_all(self) -> None:
        """Share groups are switched off: all sessions end, and later members start from the stored state."""
        self._sessions.clear()
        self._settings.clear()
        for live in list(self._live.values()):
            self._fence(live)

    def _fence(self, live: LiveSharePartition) -> None:
        live.fenced = True
        if self._live.get(live.key) is live:
            del self._live[live.key]
        live.waiters.wake_all()

    # -- sessions

    def sessions(self, node_id: int) -> ShareSessionCache:
        """The share sessions of a node."""
        return self._sessions.setdefault(node_id, ShareSessionCache())

    def end_session(self, node_id: int, key: SessionKey) -> None:
        """A member's session has ended: all records that it holds there become available again."""
        session = self.sessions(node_id).remove(key)
        if session is None:
            return
        for topic_id, partition in session.places:
            try:
                self.release(ShareKey(key.group_id, topic_id, partition), key.member_id)
            except KafkaError as error:
                _log.warning("%s: what %s held could not be released: %s", key.group_id, key.member_id, error)

    def connection_closed(self, node_id: int, connection_id: str) -> None:
        """The session opened last on a connection ends with it, and with a group's last one what its leaders know."""
        cache = self.sessions(node_id)
        key, continues = cache.closed(connection_id)
        if key is None:
            return
        if continues:
            self.end_session(node_id, key)
        if not cache.has_group(key.group_id):
            self.forget_group(key.group_id, node_id)

    # -- locks

    def watch(self, live: LiveSharePartition) -> None:
        """Look at the share partition when its next lock runs out; to be called after each acquisition."""
        due = live.machine.next_deadline_ms()
        if due is None or due >= live.due_ms:
            return
        live.due_ms = due
        heappush(self._due, (due, next(self._serial), live))
        if self._wakeup is None:
            self._wakeup = trio.Event()
            self._start(self._run)
        elif due < self._sleeps_until_ms:
            self._wakeup.set()

    def expire_due(self) -> None:
        """Release what is locked no longer."""
        now_ms = self._clock.now_ms()
        while self._due and self._due[0][0] <= now_ms:
            due, _, live = heappop(self._due)
            if due != live.due_ms:
                continue
            live.due_ms = _NEVER
            if live.is_current:
                try:
                    self._expire(live, now_ms)
                except Exception as error:
                    self._report(f"locks of {live.key}", error)
                self.watch(live)

    def _expire(self, live: LiveSharePartition, now_ms: int) -> None:
        found, error = acknowledgement.expire_locks(live.machine, now_ms)
        if is_logged():
            log_expired(live.key.group_id, live.partition, found)
        if error is not None and error.code in _FENCING:
            self._fence(live)
        elif found:
            live.waiters.wake_all()

    async def _run(self) -> None:
        while True:
            self.expire_due()
            due = self._due[0][0] if self._due else _NEVER
            self._wakeup = trio.Event()
            self._sleeps_until_ms = due
            if due == _NEVER:
                await self._wakeup.wait()
            else:
                with self._clock.move_on_after(max(0, due - self._clock.now_ms()) / 1000):
                    await self._wakeup.wait()
                for _ in range(_PASSES_BEFORE_TIMERS):
                    await trio.lowlevel.checkpoint()
            self._sleeps_until_ms = -1


EARLIEST = "earliest"
LATEST = "latest"
BY_DURATION = "by_duration:"

_DURATION = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?\d+)D)?"
    r"(?:T(?=[-+\d])(?:(?P<hours>[-+]?\d+)H)?(?:(?P<minutes>[-+]?\d+)M)?(?:(?P<seconds>[-+]?\d+)(?:[.,](?P<part>\d{0,9}))?S)?)?",
    re.IGNORECASE,
)


def reset_offset(log: PartitionLog, reset: str, now_ms: int) -> int:
    """The first offset that a share group gets; OFFSET_NOT_AVAILABLE if no record is as young as asked for.

    It gets a large batch from its first record on: decoding all of it would stop the other clients.
    """
    if reset == EARLIEST:
        return log.log_start_offset
    if reset == LATEST:
        return log.high_watermark
    since = now_ms - duration_ms(reset.removeprefix(BY_DURATION))
    try:
        found = log.offset_for_timestamp(since, Looks())
    except LargeLook as large:
        return max(large.base_offset, log.log_start_offset)
    if found is None:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
    return found.offset


def duration_ms(text: str) -> int:
    """An ISO 8601 duration of days and less, as Java's `Duration.parse` reads it, in milliseconds."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found[name] for name in ("days", "hours", "minutes", "seconds")):
        raise ValueError(f"not an ISO 8601 duration: {text!r}")
    units = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1000))
    total = sum(int(found[name] or 0) * ms for name, ms in units)
    part = int((found["part"] or "").ljust(9, "0")) // 1_000_000
    total += -part if (found["seconds"] or "").startswith("-") else part
    return -total if found["sign"] == "-" else total


def is_logged() -> bool:
    """Whether INFO is logged."""
    return _log.isEnabledFor(logging.INFO)


def log_expired(group_id: str, partition: Partition, locks: Iterable[tuple[str, StateBatch]]) -> None:
    """Log locks that have timed out: their holders, and the new states of the records."""
    for member_id, batch in locks:
        text = "group %s: member %s said nothing of records %d to %d of %s-%d before its lock ran out (delivery %d)"
        _log.info(text, group_id, member_id, *batch[:2], partition.topic.name, partition.index, batch.delivery_count)


def log_archived(group_id: str, partition: Partition, batches: Iterable[StateBatch]) -> None:
    """Log archived records: rejected, or delivered as often as the group's limit allows."""
    for batch in batches:
        if batch.state == ARCHIVED:
            text = "group %s: records %d to %d of %s-%d are archived after delivery %d"
            _log.info(text, group_id, *batch[:2], partition.topic.name, partition.index, batch.delivery_count)
