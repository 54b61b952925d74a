"""What becomes of groups of the consumer, share and streams kind, told in the log at INFO.

Imported when somebody listens. A command's step is told by comparing the group before it with the group after it, once
its records are stored; so a refused step is not told. Classic groups tell their own story.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from odradek.broker.coordinator.group.commands import GroupCommand
from odradek.broker.coordinator.group.kinds import Group
from odradek.broker.runtime.machine import Effect, Outcome

_log = logging.getLogger("odradek.broker.coordinator.group")
_GONE = "Dead"


class _Standing(NamedTuple):
    """Where a group stands."""

    kind: str
    state: str
    epoch: int
    assignment_epoch: int
    members: frozenset[str]


def follow(find: Callable[[str], Group | None], command: GroupCommand, outcome: Outcome[Any]) -> None:
    """Tell of a command's step when its records are stored. `find` gives the group of an id as it is then."""
    before, then = _standing(find(command.group_id)), outcome.then

    def told() -> Sequence[Effect]:
        effects = () if then is None else then()
        _tell(command, before, _standing(find(command.group_id)))
        return effects

    outcome.then = told


def _standing(group: Group | None) -> _Standing:
    if group is None:
        return _Standing("", _GONE, 0, 0, frozenset())
    epoch, assigned = getattr(group, "epoch", 0), getattr(group, "assignment_epoch", 0)
    members = frozenset(getattr(group, "members", ()))
    return _Standing(group.group_type.value, group.state_name, epoch, assigned, members)


def _tell(command: GroupCommand, before: _Standing, after: _Standing) -> None:
    group_id = command.group_id
    if before.kind and after.kind and before.kind != after.kind:
        _log.info("group %s: the %s group becomes a %s group", group_id, before.kind, after.kind)
    for member_id in sorted(after.members - before.members):
        _log.info("group %s: member %s joins", group_id, member_id)
    for member_id in sorted(before.members - after.members):
        _log.info("group %s: member %s %s", group_id, member_id, command.why_members_go)
    if after.epoch > before.epoch:
        _log.info("group %s: epoch %d, %d members", group_id, after.epoch, len(after.members))
    if after.assignment_epoch > before.assignment_epoch and after.assignment_epoch > 1:
        _log.info("group %s: target assignment of epoch %d", group_id, after.assignment_epoch)
    if after.state != before.state:
        _log.info("group %s: from %s to %s", group_id, before.state, after.state)
