"""How a member gets from what it has to its target: it gives up tasks first, then takes up those that are free.

A task is free for a member when no process has it active (for an active task), and when its own process has it in no
other role: a process keeps the state of a task once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from odradek.broker.coordinator.group.streams.holders import Holders
from odradek.broker.coordinator.group.streams.member import Member, MemberState
from odradek.broker.coordinator.group.streams.tasks import NOTHING_HELD, Held, Owned, Target, Tasks
from odradek.protocol.errors import ErrorCode, KafkaError

IsTaken = Callable[[str, int], bool]


class _Parts(NamedTuple):
    """Tasks of one role: those that stay, those to give up, those to take up; ``waits``: some are not free yet."""

    stay: Tasks
    give_up: Tasks
    take_up: Tasks
    waits: bool


def reconcile(member: Member, epoch: int, target: Target, owned: Owned | None, holders: Holders) -> Member:
    """The member one step further towards its target of ``epoch``. ``owned``: None where it did not say."""
    if member.state is MemberState.STABLE:
        if member.epoch == epoch:
            return member
        return _next(member, member.epoch, epoch, target, owned, holders)
    if member.state is MemberState.UNREVOKED_TASKS:
        if owned is None or owned.any_of(member.revoking):
            return member
        return _next(member, member.epoch + 1, epoch, target, owned, holders)
    if member.state is MemberState.UNRELEASED_TASKS:
        return _next(member, member.epoch, epoch, target, owned, holders)
    if owned is None or owned.active or owned.standby or owned.warmup:
        text = "The streams group member is in a unknown state. The member must abandon all its tasks and rejoin."
        raise KafkaError(ErrorCode.FENCED_MEMBER_EPOCH, text)
    return _next(member, epoch, epoch, target, owned, holders)


def _next(
    member: Member, member_epoch: int, epoch: int, target: Target, owned: Owned | None, holders: Holders
) -> Member:
    process, has = member.process_id, member.assigned

    def has_copy(subtopology: str, partition: int) -> bool:
        return holders.has_copy(process, subtopology, partition)

    def active_taken(subtopology: str, partition: int) -> bool:
        return holders.active(subtopology, partition) is not None or has_copy(subtopology, partition)

    def copy_taken(subtopology: str, partition: int) -> bool:
        return holders.active(subtopology, partition) == process or has_copy(subtopology, partition)

    active = _compare(has.active, target.active, active_taken)
    standby = _compare(has.standby, target.standby, copy_taken)
    warmup = _compare(has.warmup, target.warmup, copy_taken)
    kept = _epochs_of(has, active.stay)
    revoking = Held(_epochs_of(has, active.give_up), standby.give_up, warmup.give_up)
    if not revoking.is_empty and (owned is None or owned.any_of(revoking)):
        assigned = Held(kept, standby.stay, warmup.stay)
        return _moved(member, MemberState.UNREVOKED_TASKS, member_epoch, assigned, revoking)
    for subtopology, partitions in active.take_up.items():
        kept[subtopology] = {**kept.get(subtopology, {}), **dict.fromkeys(partitions, epoch)}
    assigned = Held(kept, _joined(standby), _joined(warmup))
    waits = active.waits or standby.waits or warmup.waits
    state = MemberState.UNRELEASED_TASKS if waits else MemberState.STABLE
    return _moved(member, state, epoch, assigned, NOTHING_HELD)


def _moved(member: Member, state: MemberState, epoch: int, assigned: Held, revoking: Held) -> Member:
    return member._replace(state=state, epoch=epoch, previous_epoch=member.epoch, assigned=assigned, revoking=revoking)


def _compare(has: Mapping[str, Mapping[int, int] | frozenset[int]], target: Tasks, is_taken: IsTaken) -> _Parts:
    stay: dict[str, frozenset[int]] = {}
    give_up: dict[str, frozenset[int]] = {}
    take_up: dict[str, frozenset[int]] = {}
    waits = False
    for subtopology in {**target, **dict.fromkeys(has)}:
        present: frozenset[int] = frozenset(has.get(subtopology, ()))
        wanted: frozenset[int] = frozenset(target.get(subtopology, ()))
        new = wanted - present
        free = frozenset(partition for partition in new if not is_taken(subtopology, partition))
        waits |= len(free) < len(new)
        for parts, partitions in ((stay, present & wanted), (give_up, present - wanted), (take_up, free)):
            if partitions:
                parts[subtopology] = partitions
    return _Parts(stay, give_up, take_up, waits)


def _epochs_of(has: Held, tasks: Tasks) -> dict[str, dict[int, int]]:
    return {
        subtopology: {partition: has.active[subtopology][partition] for partition in partitions}
        for subtopology, partitions in tasks.items()
    }


def _joined(parts: _Parts) -> dict[str, frozenset[int]]:
    joined = dict(parts.stay)
    for subtopology, partitions in parts.take_up.items():
        joined[subtopology] = joined.get(subtopology, frozenset()) | partitions
    return joined
