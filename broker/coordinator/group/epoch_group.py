"""Groups whose members have epochs: what consumer groups and streams groups share.

A member may commit with an older epoch for partitions that it has had since then (KIP-1251). A fetch has to name the
present epoch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from odradek.broker.coordinator.group.commands import (
    CommitOffsets,
    MemberCommand,
    MemberInEpochCommand,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.groups import ExpiryBasis
from odradek.broker.runtime.machine import Command, Effect, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

AWAY = -2
"""The member epoch of a static member that has left for a while; its place is kept for the session timeout."""

FIRST_EPOCH = 1
"""The epoch of a group before its first member, since 4.3; see `Release.first_group_epoch`."""


class EpochMember(Protocol):
    """The part of a member that concerns its epoch."""

    @property
    def epoch(self) -> int:
        """Its progress in reconciling its assignment."""

    def is_reconciled_to(self, target_epoch: int, /) -> bool:
        """Whether it has arrived at the target assignment of that epoch."""


class RevokingMember(EpochMember, Protocol):
    """A member that may have to revoke partitions."""

    @property
    def rebalance_timeout_ms(self) -> int:
        """The time that it has for that."""


class StaticMember(EpochMember, Protocol):
    """A member that may have an instance id."""

    @property
    def member_id(self) -> str:
        """The id that it has in the group."""

    @property
    def instance_id(self) -> str | None:
        """The id of the instance of the application; None for a dynamic member."""


M = TypeVar("M", bound=EpochMember)
R = TypeVar("R", bound=RevokingMember)
S = TypeVar("S", bound=StaticMember)

EPOCHS_FROM = 9
"""OffsetCommit versions that know member epochs."""
TXN_ERRORS_FROM = 6
"""The version of TxnOffsetCommit from which a missing group and a stale epoch have errors of their own."""


@mypyc_attr(allow_interpreted_subclasses=True)
class EpochGroup(ABC):
    """Members in their epochs, on their way to the target assignment of the group. Changed by replay only.

    Subclasses have the members, in `_by_id`. `static_ids`: the id of the member with each instance id.
    """

    expires: ClassVar[bool] = True
    protocol_type: ClassVar[str]

    def __init__(self, group_id: str, first_epoch: int = FIRST_EPOCH) -> None:
        self.group_id = group_id
        self.epoch = first_epoch
        self.metadata_hash = 0
        self.assignment_epoch = first_epoch
        self.assignment_timestamp = 0
        self.peak = 1
        self.static_ids: dict[str, str] = {}
        self._state: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.group_id!r}, {self.state_name}, epoch {self.epoch}, {list(self._by_id())})"

    # -- Group

    @property
    def state_name(self) -> str:
        """See `Group`."""
        if self._state is None:
            self._state = self._compute_state()
        return self._state

    @abstractmethod
    def _by_id(self) -> Mapping[str, EpochMember]:
        """The members by their ids."""

    @abstractmethod
    def _compute_state(self) -> str:
        """The state, which is remembered until something changes."""

    def _progress(self) -> str:
        """The group's progress with its assignment."""
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        arrived = all(member.is_reconciled_to(self.assignment_epoch) for member in self._by_id().values())
        return STABLE if arrived else RECONCILING

    @property
    def is_described(self) -> bool:
        """See `Group`."""
        return False

    @property
    def is_empty(self) -> bool:
        """See `Group`."""
        return not self._by_id()

    def is_in_state(self, names: Collection[str]) -> bool:
        """See `Group`."""
        return self.state_name.lower() in names

    def check_commit(self, command: CommitOffsets) -> Sequence[Effect]:
        """See `Group`. A commit is no heartbeat here."""
        member = self._committing(command)
        if member is None:
            return ()
        if command.api_version < EPOCHS_FROM and not self._is_classic(member):
            who = f"members using the {self.protocol_type} group protocol"
            text = f"OffsetCommit version 9 or above must be used by {who}"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, text)
        if command.generation_id != member.epoch:
            self._check_age(member, command)
        return ()

    def check_transactional_commit(self, command: TxnOffsetCommit) -> None:
        """See `Group`. Producers that name no member are trusted."""
        if command.generation_id == -1 and not command.member_id and command.instance_id is None:
            return
        member = self._committing(command)
        if member is None or command.generation_id == member.epoch:
            return
        try:
            self._check_age(member, command)
        except KafkaError as error:
            if command.api_version >= TXN_ERRORS_FROM:
                raise
            raise KafkaError(ErrorCode.ILLEGAL_GENERATION) from error

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """See `Group`."""
        if member_id is None and member_epoch < 0:
            return
        member = known_member(self.group_id, self._by_id(), member_id)
        if member_epoch == member.epoch:
            return
        if self._is_classic(member):
            code, named = ErrorCode.ILLEGAL_GENERATION, "generation id"
        else:
            code, named = ErrorCode.STALE_MEMBER_EPOCH, "member epoch"
        text = f"The received {named} {member_epoch} does not match the expected member epoch {member.epoch}."
        raise KafkaError(code, text)

    def _committing(self, command: CommitOffsets | TxnOffsetCommit) -> EpochMember | None:
        """The member that commits; None if an administrator commits for a group without members."""
        members = self._by_id()
        if command.generation_id < 0 and not members:
            return None
        return known_member(self.group_id, members, command.member_id)

    def _is_classic(self, member: Any) -> bool:
        """Whether the member uses the classic protocol, so that its epoch is a generation."""
        return False

    @abstractmethod
    def _check_age(self, member: Any, command: CommitOffsets | TxnOffsetCommit) -> None:
        """Raise unless the member may commit all this with the command's epoch, which is not its own."""

    def check_delete_offsets(self) -> None:  # noqa: B027 - not for a subclass to fill
        """See `Group`. Each topic is checked separately."""

    def check_delete(self) -> None:
        """See `Group`."""
        if not self.is_empty:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: the commit itself."""
        return lambda offset: offset.commit_timestamp

    # -- changing, from records

    def note_static(self, member: StaticMember) -> None:
        """Register the instance id of a member that was put, if it is static."""
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id

    def forget_static(self, member: StaticMember | None) -> None:
        """Unregister the instance id of a member that was removed, if it is still its own."""
        instance_id = None if member is None else member.instance_id
        if member is not None and instance_id is not None and self.static_ids.get(instance_id) == member.member_id:
            del self.static_ids[instance_id]

    def set_assignment(self, epoch: int, timestamp: int) -> None:
        """Note that a target assignment is complete."""
        self.assignment_epoch = epoch
        self.assignment_timestamp = timestamp
        self._state = None


def known_member(group_id: str, members: Mapping[str, M], member_id: str | None) -> M:
    """The member with that id; raises UNKNOWN_MEMBER_ID without one."""
    member = None if member_id is None else members.get(member_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")
    return member


def known_static(member: S | None, instance_id: str) -> S:
    """The member found by that instance id; raises UNKNOWN_MEMBER_ID if there is none."""
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    return member


def check_instance(member: StaticMember, member_id: str) -> None:
    """FENCED_INSTANCE_ID for anybody but the member that has the instance id."""
    if member.member_id != member_id:
        text = (
            f"Static member {member_id} with instance id {member.instance_id} was fenced by member {member.member_id}."
        )
        raise KafkaError(ErrorCode.FENCED_INSTANCE_ID, text)


def check_released(member: StaticMember, member_id: str) -> None:
    """UNRELEASED_INSTANCE_ID while the member that has the instance id has not left for a while."""
    if member.epoch != AWAY:
        text = (
            f"Static member {member_id} with instance id {member.instance_id} cannot join the group because the "
            f"instance id is owned by {member.member_id} member."
        )
        raise KafkaError(ErrorCode.UNRELEASED_INSTANCE_ID, text)


def fenced(protocol: str, how: str, epoch: int, member: EpochMember) -> KafkaError:
    """The error for a member whose heartbeat has an epoch that is not its own. ``how``: "greater" or "smaller"."""
    return KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {protocol} group member has a {how} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


class MemberTimers(NamedTuple):
    """The timers of a kind's members by group and member id, and their commands."""

    session_key: Callable[[str, str], Hashable]
    fence: Callable[[str, str], Command[Any]]
    rebalance_key: Callable[[str, str], Hashable]
    expire_revocation: Callable[[str, str, int], Command[Any]]


def resumed(
    group_id: str,
    members: Mapping[str, R],
    timers: MemberTimers,
    session_timeout_ms: int,
    gives_up: Callable[[R], bool],
) -> list[Effect]:
    """The timers of a loaded group.

    Each member gets a whole session timeout, and a whole rebalance timeout to revoke partitions. ``gives_up``: whether
    a member has partitions to revoke.
    """
    effects: list[Effect] = []
    for member_id, member in members.items():
        expiry = timers.fence(group_id, member_id)
        effects.append(Schedule(timers.session_key(group_id, member_id), session_timeout_ms, expiry))
        if gives_up(member):
            revocation = timers.expire_revocation(group_id, member_id, member.epoch)
            key = timers.rebalance_key(group_id, member_id)
            effects.append(Schedule(key, member.rebalance_timeout_ms, revocation))
    return effects


@mypyc_attr(allow_interpreted_subclasses=True)
class MemberExpiry(ABC):
    """Removes members whose time is up.

    Owner: the kind. ``find(group_id)``: the group, None without one of the kind.
    """

    def __init__(self, find: Callable[[str], Any]) -> None:
        self._find = find

    @abstractmethod
    def _expire(self, group: Any, member: Any, now_ms: int) -> Outcome[None]:
        """Remove the member from the group."""

    def fence(self, command: MemberCommand, now_ms: int) -> Outcome[None]:
        """Remove a member that has sent no heartbeat for its session timeout."""
        group = self._find(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        if group is None or member is None:
            return make_outcome()
        return self._expire(group, member, now_ms)

    def expire_revocation(self, command: MemberInEpochCommand, now_ms: int) -> Outcome[None]:
        """Remove a member that has not revoked its partitions in time, so that it is still in the command's epoch."""
        group = self._find(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        if group is None or member is None or member.epoch != command.member_epoch:
            return make_outcome()
        return self._expire(group, member, now_ms)
