"""What groups with member epochs (consumer groups, streams groups) have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from odradek.broker.coordinator.group.group import ExpiryBasis
from odradek.broker.runtime.machine import Command, Effect, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

EMPTY, ASSIGNING, RECONCILING, STABLE = "Empty", "Assigning", "Reconciling", "Stable"

_FIRST_EPOCH = 1


class EpochMember(Protocol):
    """A member, as far as its epoch is concerned."""

    @property
    def epoch(self) -> int:
        """How far it has come."""

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long it may take to give something up."""

    def is_reconciled_to(self, target_epoch: int, /) -> bool:
        """Whether it has arrived at the target assignment of that epoch."""


M = TypeVar("M", bound=EpochMember)


@mypyc_attr(allow_interpreted_subclasses=True)
class EpochGroup(ABC, Generic[M]):
    """Members in their epochs, on their way to the target assignment of the group. Changed by replay only."""

    expires: ClassVar[bool] = True

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = _FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = _FIRST_EPOCH
        self.assignment_timestamp = 0
        self.members: dict[str, M] = {}
        self.peak = 1
        self._state: str | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.group_id!r}, {self.state_name}, epoch {self.epoch}, {list(self.members)})"

    # -- Group

    @property
    def state_name(self) -> str:
        """See `Group`."""
        if self._state is None:
            self._state = self._compute_state()
        return self._state

    @abstractmethod
    def _compute_state(self) -> str:
        """The state, which is remembered until something changes."""

    def _progress(self) -> str:
        """How far the group has come with its assignment."""
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        arrived = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return STABLE if arrived else RECONCILING

    @property
    def is_empty(self) -> bool:
        """See `Group`."""
        return not self.members

    def check_delete_offsets(self) -> None:
        """See `Group`: each topic is checked by itself."""

    def check_delete(self) -> None:
        """See `Group`."""
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP)

    def expiry_basis(self) -> ExpiryBasis | None:
        """See `Group`: the commit itself."""
        return lambda offset: offset.commit_timestamp

    # -- reading

    def member(self, member_id: str | None) -> M:
        """The member of that id; UNKNOWN_MEMBER_ID if there is none."""
        return known_member(self.group_id, self.members, member_id)

    # -- changing, from records

    def set_assignment(self, epoch: int, timestamp: int) -> None:
        """A target assignment is complete."""
        self.assignment_epoch = epoch
        self.assignment_timestamp = timestamp
        self._state = None


def known_member(group_id: str, members: Mapping[str, M], member_id: str | None) -> M:
    """The member of that id; UNKNOWN_MEMBER_ID if there is none."""
    member = None if member_id is None else members.get(member_id)
    if member is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group_id}.")
    return member


class MemberTimers(NamedTuple):
    """The timers of a kind's members, by group and member id, and what they do when they are due."""

    session_key: Callable[[str, str], Hashable]
    fence: Callable[[str, str], Command[Any]]
    rebalance_key: Callable[[str, str], Hashable]
    expire_revocation: Callable[[str, str, int], Command[Any]]


def resumed(
    group: EpochGroup[M], timers: MemberTimers, session_timeout_ms: int, gives_up: Callable[[M], bool]
) -> list[Effect]:
    """The timers of a group that was loaded: a whole session to show that one lives, and to give up what one has to.

    ``gives_up``: whether a member has partitions to give up.
    """
    group_id = group.group_id
    effects: list[Effect] = []
    for member_id, member in group.members.items():
        expiry = timers.fence(group_id, member_id)
        effects.append(Schedule(timers.session_key(group_id, member_id), session_timeout_ms, expiry))
        if gives_up(member):
            revocation = timers.expire_revocation(group_id, member_id, member.epoch)
            key = timers.rebalance_key(group_id, member_id)
            effects.append(Schedule(key, member.rebalance_timeout_ms, revocation))
    return effects
