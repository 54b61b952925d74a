"""A member's way from its assignment to its target: give up first, then take what is free (KIP-848).

```
            target ahead, nothing to give up                 all partitions were free
STABLE ----------------------------------------> (next epoch) ----------------------> STABLE
   |                                                  | ^
   | partitions to give up                            | | some are still held by others, and come free later
   v                                                  v |
UNREVOKED_PARTITIONS -- the member owns them no more  UNRELEASED_PARTITIONS
```

A member that has to give up partitions stays in its epoch until its heartbeat no longer lists them as owned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import final

from odradek.broker.coordinator.group.assignment import Partitions
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Epochs,
    Member,
    in_epoch,
)
from odradek.broker.coordinator.group.epoch_group import fenced
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

Owned = Mapping[bytes, Collection[int]]
"""The partitions that a heartbeat lists as owned."""


@final
@mypyc_attr(acyclic=True)
class Goal:
    """The goal of a member.

    ``subscribed``: the existing topics that it subscribes to, of those in its partitions or its target. ``holders``: by
    topic id and partition, how many members still have it. ``owned``: None if the heartbeat does not list them.
    """

    __slots__ = ("epoch", "holders", "owned", "subscribed", "target")

    def __init__(
        self,
        epoch: int,
        target: Partitions,
        subscribed: Collection[bytes],
        holders: Mapping[bytes, Mapping[int, int]],
        owned: Owned | None,
    ) -> None:
        self.epoch = epoch
        self.target = target
        self.subscribed = subscribed
        self.holders = holders
        self.owned = owned


def reconcile(member: Member, goal: Goal, *, subscription_changed: bool) -> Member:
    """The member after the next step, or the same one if it cannot take any.

    ``subscription_changed``: partitions of topics that it no longer subscribes to are revoked at once.
    """
    if member.state is STABLE:
        if member.epoch != goal.epoch:
            return _next(member, member.epoch, goal)
        return _drop_unsubscribed(member, goal) if subscription_changed else member
    if member.state is UNREVOKED_PARTITIONS:
        if not _owns_any(member.revoking, goal.owned):
            return _next(member, member.epoch, goal)
        return _drop_unsubscribed(member, goal) if subscription_changed else member
    if member.state is UNRELEASED_PARTITIONS:
        return _next(member, member.epoch, goal)
    if goal.owned is None or goal.owned:
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin.",
        )
    return _next(member, goal.epoch, goal)


def _has_all(member: Member, goal: Goal) -> bool:
    """Whether a member with nothing to revoke has exactly its target."""
    assigned = member.assigned
    return (
        not member.revoking
        and assigned.keys() == goal.target.keys()
        and all(
            assigned[topic_id].keys() == set(partitions) and topic_id in goal.subscribed
            for topic_id, partitions in goal.target.items()
        )
    )


def _next(member: Member, epoch: int, goal: Goal) -> Member:
    if _has_all(member, goal):
        return in_epoch(member, goal.epoch, STABLE, member.assigned, member.revoking)
    kept: Epochs = {}
    lost: Epochs = {}
    gained: Epochs = {}
    unreleased = False
    for topic_id in _topics(goal.target, member.assigned):
        target: Sequence[int] = goal.target.get(topic_id, ()) if topic_id in goal.subscribed else ()
        missing = target
        current = member.assigned.get(topic_id)
        if current:
            wanted = set(target)
            _put(kept, topic_id, {p: since for p, since in current.items() if p in wanted})
            _put(lost, topic_id, {p: since for p, since in current.items() if p not in wanted})
            missing = [p for p in target if p not in current]
        if missing:
            own, held = member.revoking.get(topic_id, ()), goal.holders.get(topic_id, ())
            free = [p for p in missing if p in own or p not in held]
            unreleased = unreleased or len(free) < len(missing)
            _put(gained, topic_id, dict.fromkeys(free, goal.epoch))
    if lost and _owns_any(lost, goal.owned):
        return in_epoch(member, epoch, UNREVOKED_PARTITIONS, kept, lost)
    for topic_id, partitions in gained.items():
        kept[topic_id] = {**kept.get(topic_id, {}), **partitions}
    state = UNRELEASED_PARTITIONS if unreleased else STABLE
    return in_epoch(member, goal.epoch, state, kept, {})


def _topics(target: Partitions, assigned: Epochs) -> Iterable[bytes]:
    """The partitions of the target, then the others that the member has."""
    others = [topic_id for topic_id in assigned if topic_id not in target]
    return (*target, *others) if others else target


def _drop_unsubscribed(member: Member, goal: Goal) -> Member:
    """Revoke only partitions of topics that the member no longer subscribes to; it stays in its epoch."""
    gone = {t: partitions for t, partitions in member.assigned.items() if t not in goal.subscribed}
    if not gone:
        return member
    kept = {t: partitions for t, partitions in member.assigned.items() if t not in gone}
    revoking = dict(member.revoking)
    for topic_id, partitions in gone.items():
        revoking[topic_id] = {**revoking.get(topic_id, {}), **partitions}
    if _owns_any(revoking, goal.owned):
        return in_epoch(member, member.epoch, UNREVOKED_PARTITIONS, kept, revoking)
    return in_epoch(member, member.epoch, member.state, kept, member.revoking)


def _owns_any(partitions: Epochs, owned: Owned | None) -> bool:
    """Whether the member still owns any of these; if it does not list its partitions, it does."""
    if owned is None:
        return True
    return any(index in partitions.get(topic_id, ()) for topic_id, indexes in owned.items() for index in indexes)


def _put(epochs: Epochs, topic_id: bytes, partitions: dict[int, int]) -> None:
    if partitions:
        epochs[topic_id] = partitions


def check_room(group: ConsumerGroup, member_id: str, limit: int) -> None:
    """Raise GROUP_MAX_SIZE_REACHED for a new member in a full group."""
    if len(group.members) >= limit and member_id not in group.members:
        text = f"The consumer group has reached its maximum capacity of {limit} members."
        raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)


def check_epoch(member: Member, epoch: int, owned: Owned | None, *, rejoins: bool) -> None:
    """FENCED_MEMBER_EPOCH unless the epoch is the member's, or with `rejoins` 0 to join again.

    Its previous epoch is accepted while it owns only partitions that it was given, because the answer with the new
    epoch may be lost.
    """
    if epoch == member.epoch or (rejoins and epoch == 0):
        return
    if epoch > member.epoch:
        raise fenced("consumer", "greater", epoch, member)
    if epoch != member.previous_epoch or not _is_part_of(owned, member.assigned):
        raise fenced("consumer", "smaller", epoch, member)


def _is_part_of(owned: Owned | None, assigned: Epochs) -> bool:
    if owned is None:
        return False
    for topic_id, partitions in owned.items():
        given = assigned.get(topic_id)
        if given is None or any(partition not in given for partition in partitions):
            return False
    return True
