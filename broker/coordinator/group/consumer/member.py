"""A member of a consumer group: what it said of itself, and how far it has come with its assignment.

Members are values. Whoever decides makes a new one from the old; only a replayed record puts it into the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from odradek.broker.coordinator.group.assignment import Partitions

Epochs = dict[bytes, dict[int, int]]
"""Partitions by topic id, each with the member epoch in which the member got it."""

LEAVING = -1
"""The member epoch of a request that leaves the group."""
AWAY = -2
"""The member epoch of a static member that has left for a while; its place is kept for the session timeout."""


class MemberState(IntEnum):
    """How far a member is on its way to its target, numbered as stored."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


STABLE: Final = MemberState.STABLE
UNREVOKED_PARTITIONS: Final = MemberState.UNREVOKED_PARTITIONS
UNRELEASED_PARTITIONS: Final = MemberState.UNRELEASED_PARTITIONS
"""The same states, without a look into the class of an `Enum` for each, which takes as long as ten small calls."""


class ClassicMember(NamedTuple):
    """What a member that speaks the classic protocol has joined with."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class Member(NamedTuple):
    """One member.

    ``topics``: the names it subscribes to, sorted. ``regex``: "" for none. ``assigned``: what it owns or has just been
    given; ``revoking``: what it shall give up and has not yet. ``classic``: None for a member of the consumer protocol.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMember | None = None
    epoch: int = 0
    previous_epoch: int = -1
    state: MemberState = STABLE
    assigned: Epochs = {}  # noqa: RUF012 - never changed, like every part of a member
    revoking: Epochs = {}  # noqa: RUF012

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it has arrived at the target assignment of that epoch."""
        return self.state is STABLE and self.epoch == target_epoch


# Functions, not methods: compiled, a method of a NamedTuple costs three times as much as its work.

_member = tuple.__new__
"""What `_make` and `_replace` do in the end: members change with every step of a rebalance."""
_EPOCH: Final = 10
"""The place of `epoch`. Before it stands what a member says of itself, from there on how far it has come."""
assert Member._fields[_EPOCH] == "epoch"
_NEW: Final = Member("")


def as_far_as(member: Member, other: Member) -> Member:
    """A member with what another one has, in its epochs."""
    return _member(Member, member[:_EPOCH] + other[_EPOCH:])


def say_the_same(one: Member, other: Member) -> bool:
    """Whether two members differ at most in what they have."""
    return one[:_EPOCH] == other[:_EPOCH]


def before_all(member: Member) -> Member:
    """What a member says of itself; it has not got anything yet."""
    return as_far_as(member, _NEW)


def in_epoch(member: Member, epoch: int, state: MemberState, assigned: Epochs, revoking: Epochs) -> Member:
    """A member after a step of its reconciliation."""
    return _member(Member, (*member[:_EPOCH], epoch, member.epoch, state, assigned, revoking))


def sorted_names(topics: Iterable[str]) -> tuple[str, ...]:
    """The names that a member subscribes to, each once: members with the same subscription share the object."""
    return _shared(tuple(sorted(set(topics))))


@lru_cache(maxsize=1 << 10)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    return names


def without_epochs(epochs: Epochs) -> Partitions:
    """The partitions alone."""
    return {topic_id: tuple(partitions) for topic_id, partitions in epochs.items()}


def with_epoch(partitions: Partitions, epoch: int) -> Epochs:
    """Partitions that were all given in one epoch."""
    return {topic_id: dict.fromkeys(indexes, epoch) for topic_id, indexes in partitions.items()}
