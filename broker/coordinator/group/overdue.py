"""Members of groups with epochs whose time is over."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from odradek.broker.coordinator.group.commands import MemberCommand, MemberInEpochCommand
from odradek.broker.coordinator.group.epoch_group import EpochMember
from odradek.broker.runtime.machine import Outcome, make_outcome


class WithMembers(Protocol):
    """A group with epochs."""

    @property
    def members(self) -> Mapping[str, EpochMember]:
        """The members by their ids."""


G = TypeVar("G", bound=WithMembers)


class Overdue(ABC, Generic[G]):
    """Puts members out. Owner: the kind. ``find(group_id)``: the group, None if the kind has none of that id."""

    def __init__(self, find: Callable[[str], G | None]) -> None:
        self._find = find

    @abstractmethod
    def _put_out(self, group: G, member: Any, now_ms: int) -> Outcome[None]:
        """Take the member out; the group goes on without it."""

    def fence(self, command: MemberCommand, now_ms: int) -> Outcome[None]:
        """A member has been silent for too long."""
        group = self._find(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        if group is None or member is None:
            return make_outcome()
        return self._put_out(group, member, now_ms)

    def expire_revocation(self, command: MemberInEpochCommand, now_ms: int) -> Outcome[None]:
        """A member has not given up in time what it has to: it is still in the epoch it was in then."""
        group = self._find(command.group_id)
        member = None if group is None else group.members.get(command.member_id)
        if group is None or member is None or member.epoch != command.member_epoch:
            return make_outcome()
        return self._put_out(group, member, now_ms)
