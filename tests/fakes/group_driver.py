"""A group shard on a list and a clock that stands still, driven without trio."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from odradek.broker.clock import BrokerClock
from odradek.broker.coordinator.group.classic.group import (
    ClassicGroup,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
)
from odradek.broker.coordinator.group.groups import CommitOffsets, OffsetToCommit, Sender, TxnOffsetCommit
from odradek.broker.coordinator.group.machine import GroupMachine
from odradek.broker.coordinator.group.settings import GroupSettings
from odradek.broker.runtime.machine import Command, Effect
from odradek.broker.runtime.replies import ReplySlot
from odradek.broker.runtime.shard import Shard, ShardState
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest
from odradek.protocol.generated.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from odradek.protocol.generated.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from odradek.protocol.generated.messages.offset_commit import OffsetCommitRequest
from odradek.protocol.generated.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from odradek.protocol.generated.messages.txn_offset_commit import TxnOffsetCommitRequest
from odradek.protocol.primitives import ZERO_UUID
from tests.fakes.clocks import clock_at
from tests.fakes.journal import FakeJournal
from tests.fakes.shard_stage import submitted

START_MS = 1_800_000_000_000
SUBSCRIPTION = b"\0\0" + b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\0"
"""A consumer's subscription to topic "t"."""


def join_group(
    group_id: str,
    member_id: str,
    protocols: Sequence[tuple[str, bytes]],
    *,
    instance_id: str | None = None,
    session_timeout_ms: int = 45_000,
    rebalance_timeout_ms: int = 300_000,
    protocol_type: str = "consumer",
    client_id: str = "c",
    host: str = "",
    version: int = 3,
) -> JoinGroup:
    """A JoinGroup of a consumer."""
    rows = [JoinGroupRequestProtocol(name, metadata) for name, metadata in protocols]
    request = JoinGroupRequest(
        group_id, session_timeout_ms, rebalance_timeout_ms, member_id, instance_id, protocol_type, rows
    )
    return JoinGroup(request, Sender(client_id, host, version))


def sync_group(
    group_id: str,
    member_id: str,
    generation: int,
    assignments: dict[str, bytes] | None = None,
    *,
    instance_id: str | None = None,
    protocol_type: str | None = None,
    protocol_name: str | None = None,
) -> SyncGroup:
    """A SyncGroup, with the leader's assignments."""
    rows = [SyncGroupRequestAssignment(*row) for row in (assignments or {}).items()]
    return SyncGroup(SyncGroupRequest(group_id, generation, member_id, instance_id, protocol_type, protocol_name, rows))


def leave_group(group_id: str, members: Sequence[tuple[str, str | None]]) -> LeaveGroup:
    """A LeaveGroup of these: member id or "", instance id or None."""
    return LeaveGroup(LeaveGroupRequest(group_id, members=[MemberIdentity(*member) for member in members]), 3)


def commit_offsets(
    group_id: str,
    offsets: Sequence[OffsetToCommit] = (),
    *,
    member_id: str = "",
    generation_id: int = -1,
    instance_id: str | None = None,
    retention_ms: int = -1,
    api_version: int = 10,
) -> CommitOffsets:
    """An OffsetCommit."""
    request = OffsetCommitRequest(group_id, generation_id, member_id, instance_id, retention_ms)
    return CommitOffsets(request, offsets, api_version)


def txn_offset_commit(
    group_id: str,
    offsets: Sequence[OffsetToCommit] = (),
    *,
    producer_id: int = 1,
    producer_epoch: int = 0,
    member_id: str = "",
    generation_id: int = -1,
    instance_id: str | None = None,
    api_version: int = 5,
) -> TxnOffsetCommit:
    """A TxnOffsetCommit."""
    request = TxnOffsetCommitRequest("", group_id, producer_id, producer_epoch, generation_id, member_id, instance_id)
    return TxnOffsetCommit(request, offsets, api_version)


class SteppedClock(BrokerClock):
    """Moved by hand, but not frozen in the eyes of the shard: pauses take their time."""

    @property
    def frozen(self) -> bool:
        return False


class GroupDriver:
    """One shard; `member ids` are the client's name and a running number. ``pauses``: see `machine.Pause`."""

    def __init__(
        self, settings: GroupSettings | None = None, journal: FakeJournal | None = None, *, pauses: bool = False
    ) -> None:
        self.settings = settings or GroupSettings()
        self.journal = journal or FakeJournal()
        self.clock = clock_at(START_MS, SteppedClock if pauses else BrokerClock)
        self.ids = count(1)
        self.changes: list[str] = []
        self.shard = Shard(
            "__consumer_offsets-0",
            0,
            lambda: GroupMachine(self.settings, lambda: str(next(self.ids))),
            self.journal,
            self.clock,
            handle_effect=self._handle_effect,
        )
        self.shard.start()
        self.load()

    def _handle_effect(self, shard: Shard[Any], effect: Effect) -> None:
        self.changes.append(type(effect).__name__)

    def load(self) -> None:
        """Finish loading, as the shard's task does."""
        while self.shard.state is ShardState.LOADING:
            self.shard.load_slice()

    @property
    def machine(self) -> GroupMachine:
        machine = self.shard.machine
        assert isinstance(machine, GroupMachine)
        return machine

    def state(self, group_id: str = "g") -> str:
        group = self.machine.group(group_id)
        return "none" if group is None else group.state_name

    def submit(self, command: Command[Any]) -> ReplySlot[Any]:
        """Give a command, and let the shard see to what is due at once."""
        slot = submitted(self.shard, command)
        self.shard.fire_due()
        return slot

    def now(self, command: Command[Any]) -> Any:
        """The reply to a command that does not wait."""
        slot = self.submit(command)
        assert slot.done
        return slot.result()

    def error(self, command: Command[Any]) -> ErrorCode:
        """The error that a command is refused with."""
        from odradek.protocol.errors import KafkaError

        try:
            reply = self.shard.ask_now(command)
        except KafkaError as error:
            return error.code
        raise AssertionError(f"{command!r} was answered {reply!r}")

    def wait(self, **time: float) -> None:
        """Let time pass, a timer at a time."""
        end = self.clock.now_ms() + int(
            1000 * (time.get("seconds", 0) + 60 * time.get("minutes", 0) + 86400 * time.get("days", 0))
        )
        while (due := self.shard.timers.next_due_ms()) is not None and due <= end:
            self.clock.advance(max(0, due - self.clock.now_ms()) / 1000)
            self.shard.fire_due()
        self.clock.advance((end - self.clock.now_ms()) / 1000)
        self.shard.fire_due()

    # -- members

    def join(self, member_id: str = "", group_id: str = "g", **options: Any) -> ReplySlot[JoinGroupResponse]:
        """A consumer joins; ``version`` 3 = without being told its member id first."""
        names: Sequence[str] = options.pop("protocols", ("range",))
        protocols = options.pop("protocols_", tuple((name, SUBSCRIPTION) for name in names))
        return self.submit(join_group(group_id, member_id, protocols, host="/127.0.0.1", **options))

    def sync(
        self, member_id: str, generation: int, assignments: dict[str, bytes] | None = None, **options: Any
    ) -> ReplySlot[SyncGroupResponse]:
        """A consumer wants its assignment."""
        return self.submit(sync_group(options.pop("group_id", "g"), member_id, generation, assignments, **options))

    def beat(self, member_id: str, generation: int, instance_id: str | None = None, group_id: str = "g") -> ErrorCode:
        """A heartbeat's answer, errors included."""
        from odradek.protocol.errors import KafkaError

        try:
            request = HeartbeatRequest(group_id, generation, member_id, instance_id)
            return ErrorCode(self.shard.ask_now(Heartbeat(request)).error_code)
        except KafkaError as error:
            return error.code

    def leave(self, *member_ids: str, group_id: str = "g") -> list[ErrorCode]:
        return left(self.now(leave_group(group_id, [(member_id, None) for member_id in member_ids])))

    def commit(self, offset: int = 5, **options: Any) -> list[ErrorCode]:
        return self.shard.ask_now(self.commit_command(offset, **options))

    def commit_command(self, offset: int = 5, **options: Any) -> CommitOffsets:
        topic, partition = options.pop("topic", "t"), options.pop("partition", 0)
        metadata = options.pop("metadata", "")
        offsets = [OffsetToCommit(topic, ZERO_UUID, partition, offset, -1, metadata)]
        return commit_offsets(options.pop("group_id", "g"), offsets, **options)

    def stable(self, members: int = 1, **options: Any) -> list[str]:
        """A stable group of that many members; their ids, the leader first."""
        first = self.join(**options)
        if members > 1 and first.done:
            others = [self.join(**options) for _ in range(members - 1)]
            self.join(first.result().member_id, **options)
        else:
            others = [self.join(**options) for _ in range(members - 1)]
        group = self.machine.groups.find(options.get("group_id", "g"), ClassicGroup)
        assert group is not None
        assert all(slot.done for slot in others)
        ids = list(group.members)
        for member_id in [i for i in ids if i != group.leader]:
            self.sync(member_id, group.generation, group_id=group.group_id)
        assert group.leader is not None
        self.sync(group.leader, group.generation, {i: i.encode() for i in ids}, group_id=group.group_id)
        assert group.state.value == "Stable"
        return [group.leader, *(i for i in ids if i != group.leader)]


def left(response: LeaveGroupResponse) -> list[ErrorCode]:
    """The codes of those that a LeaveGroup names."""
    return [ErrorCode(member.error_code) for member in response.members]


def hard_state(machine: GroupMachine) -> tuple[Any, ...]:
    """All that the log must be able to rebuild."""
    stored = machine.stored
    return machine.classic.stored, stored.offsets, stored.pending


def rebuilt(journal: FakeJournal) -> GroupMachine:
    """The machine that another broker would load from this log."""
    return GroupDriver(journal=journal).machine
