"""Watching a group until a condition holds; looked at whenever its coordinator does something, without polling."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from odradek.broker.coordinator.group.classic.states import STABLE
from odradek.broker.facade.group_info import GroupInfo
from odradek.broker.facade.group_lag import named

if TYPE_CHECKING:
    from odradek.broker.facade.groups import GroupView

Condition = Callable[[GroupInfo], bool]


class GroupWatch:
    """A ``with`` block in which ``reached`` gets the first picture of the group for which the condition holds."""

    def __init__(self, group: GroupView, condition: Condition) -> None:
        self.reached: Future[GroupInfo] = Future()
        self._group = group
        self._condition = condition

    def __enter__(self) -> Future[GroupInfo]:
        self._group.watch(self.reached, self._consider)
        return self.reached

    def __exit__(self, *_: object) -> None:
        self._group.unwatch(self.reached)

    def _consider(self) -> None:
        """In the broker's thread."""
        if self.reached.done():
            return
        try:
            info = self._group.info
            fulfilled = self._condition(info)
        except Exception as error:
            self.reached.set_exception(error)
            return
        if fulfilled and not self.reached.done():  # looking may load the coordinator: then watchers look meanwhile
            self.reached.set_result(info)


def is_stable(members: int | None, partitions: int | None) -> Condition:
    """Whether a group is stable with so many members, and so many partitions assigned, or all of them."""

    def stable(info: GroupInfo) -> bool:
        if info.state != STABLE.value or members not in (None, len(info.members)):
            return False
        return not info.unassigned if partitions is None else len(info.assignments) == partitions

    return stable


def late(info: GroupInfo, timeout_s: float) -> TimeoutError:
    """The error of a wait that was in vain, which says how the group stands."""
    members = ", ".join(member.member_id for member in info.members) or "none"
    return TimeoutError(
        f"group {info.group_id!r} after {timeout_s:g} s: {info.state}, generation {info.generation}, "
        f"members: {members}, assigned: {named(info.assignments) or 'none'}, "
        f"missing: {named(info.unassigned) or 'none'}"
    )
