"""Computes the target assignment of a consumer group when one of its members changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import final

from odradek.broker.coordinator.group.assignment import (
    GroupSpec,
    MemberSpec,
    Partitions,
    same_partitions,
    subscribed_ids,
)
from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.broker.coordinator.group.consumer.records import target_epoch_record, target_record
from odradek.broker.coordinator.group.target import Subscriptions, count_down, count_up
from odradek.broker.coordinator.group.topics import TopicSource
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import hash_of_text, java_order
from odradek.protocol.native import mypyc_attr


class LazySpecs:
    """See `MemberSpecs`.

    A member costs nothing until it is looked up. ``partition_counts``: of the topics of all members that were looked
    up.
    """

    def __init__(self, group: ConsumerGroup, changed: Member, order: Sequence[str], topics: TopicSource) -> None:
        self.partition_counts: dict[bytes, int] = {}
        self._group = group
        self._changed = changed
        self._order = order
        self._topics = topics
        self._resolved: dict[tuple[str, ...], Sequence[bytes]] = {}

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._order)

    def values(self) -> Iterable[MemberSpec]:
        """See `MemberSpecs`."""
        return map(self._spec, self._order)

    def items(self) -> Iterable[tuple[str, MemberSpec]]:
        """See `MemberSpecs`."""
        return zip(self._order, self.values(), strict=True)

    def _spec(self, member_id: str) -> MemberSpec:
        changed = self._changed
        member = changed if member_id == changed.member_id else self._group.members[member_id]
        names = self._group.topics_of(member) if member.regex else member.topics
        topic_ids = self._resolved.get(names)
        if topic_ids is None:
            topic_ids = self._resolved[names] = subscribed_ids(names, self.partition_counts, self._topics)
        return MemberSpec(member.instance_id, topic_ids, len(names))


@final
@mypyc_attr(acyclic=True)
class Target:
    """The target of one member, and the epoch in which it was decided."""

    __slots__ = ("epoch", "partitions")

    def __init__(self, epoch: int, partitions: Partitions) -> None:
        self.epoch = epoch
        self.partitions = partitions


@final
@mypyc_attr(acyclic=True)
class Change:
    """A member of a group before the change (None: it is new) and after it."""

    __slots__ = ("after", "before")

    def __init__(self, before: Member | None, after: Member) -> None:
        self.before = before
        self.after = after


def subscriptions_after(group: ConsumerGroup, change: Change) -> Subscriptions:
    """The group's topics once the change is stored."""
    after = group.subscriptions.copy()
    before, member = change.before, change.after
    if before is not None:
        count_down(after.by_name, before.topics)
        if before.regex and before.regex != member.regex and group.members_by_regex.get(before.regex) == 1:
            resolved = group.regexes.get(before.regex)
            if resolved is not None:
                count_down(after.by_regex, resolved.topics)
    count_up(after.by_name, member.topics)
    return after


def is_homogeneous(group: ConsumerGroup, change: Change, subscriptions: Subscriptions) -> bool:
    """Whether all members will subscribe to the same topics: by name, or all by the same single pattern."""
    before, member = change.before, change.after
    regexes = dict(group.members_by_regex)
    if before is not None and before.regex:
        count_down(regexes, (before.regex,))
    if member.regex:
        count_up(regexes, (member.regex,))
    joins = member.member_id not in group.members and member.instance_id not in group.static_ids
    members = len(group.members) + joins
    if not regexes:
        return subscriptions.all_name_the_same(members)
    return next(iter(regexes.values())) == members and subscriptions.all_match_one_regex()


def preferred_assignor(group: ConsumerGroup, change: Change | None = None) -> str | None:
    """The assignor that most members ask for; None if none does."""
    votes = dict(group.members_by_assignor)
    if change is not None:
        if change.before is not None and change.before.server_assignor is not None:
            count_down(votes, (change.before.server_assignor,))
        if change.after.server_assignor is not None:
            count_up(votes, (change.after.server_assignor,))
    if not votes:
        return None
    ranked = java_order(votes, hash_of_text)
    return max(ranked, key=lambda name: votes[name])


def compute_target(
    group: ConsumerGroup,
    change: Change,
    epoch: int,
    assignor: str,
    *,
    homogeneous: bool,
    topics: TopicSource,
    now_ms: int,
    counts_newcomers: bool,
) -> tuple[Target, list[NewRecord]]:
    """The changed member's new target, and the records of everybody's: of those whose target changes, and the epoch.

    `counts_newcomers`: see `Release`.
    """
    spec = _spec(group, change.after, homogeneous, topics, counts_newcomers)
    try:
        assigned = ASSIGNORS[assignor](spec)
    except KafkaError as error:
        text = f"Failed to compute a new target assignment for epoch {epoch}: {error.message}"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text) from error
    present = group.target.by_member
    records: list[NewRecord] = []
    in_order = len(assigned) < len(spec.members) and spec.present is group.target  # an heir has none yet
    for member_id in assigned if in_order else spec.members:
        if member_id not in assigned and member_id in present:
            continue
        partitions, before = assigned.get(member_id), present.get(member_id)
        if partitions is None:  # a member without a target gets one: an empty one, or that of the member it replaces
            partitions = assigned[member_id] = spec.present.of(member_id)
        if before is None or not same_partitions(partitions, before):
            records.append(target_record(group.group_id, member_id, partitions))
    records.append(target_epoch_record(group.group_id, epoch, now_ms))
    own = assigned.get(change.after.member_id)
    return Target(epoch, spec.present.of(change.after.member_id) if own is None else own), records


def last_target(group: ConsumerGroup, member: Member) -> Target:
    """The target that a member has, or takes over from the one that had its instance id."""
    holder = member.member_id if member.instance_id is None else group.static_ids.get(member.instance_id, "")
    return Target(group.assignment_epoch, group.target.of(holder))


def _spec(
    group: ConsumerGroup, changed: Member, homogeneous: bool, topics: TopicSource, counts_newcomers: bool
) -> GroupSpec:
    replaced = group.static_ids.get(changed.instance_id) if changed.instance_id is not None else None
    heir_of = replaced if replaced is not None and replaced != changed.member_id else None
    order = group.order.with_change(group.peak, changed.member_id, heir_of, as_member=counts_newcomers)
    present = group.target if heir_of is None else group.target.inherited(heir_of, changed.member_id)
    members = LazySpecs(group, changed, order, topics)
    newcomer = None if changed.member_id in present.sizes else changed.member_id
    return GroupSpec(members, homogeneous, members.partition_counts, present, newcomer)
