"""The consequences of a member that has joined or changed: the group's epoch, its target, the member's own assignment.

`Progress` decides on the epoch, `compute_target` on the target assignment, `reconcile` on the member's next step.
A member gives up partitions first, then takes what is free (KIP-848):

```
            target ahead, nothing to give up                 all partitions were free
STABLE ----------------------------------------> (next epoch) ----------------------> STABLE
   |                                                  | ^
   | partitions to give up                            | | some are still held by others, and come free later
   v                                                  v |
UNREVOKED_PARTITIONS -- the member owns them no more  UNRELEASED_PARTITIONS
```

A member that has to give up partitions stays in its epoch until its heartbeat no longer lists them as owned.

Patterns of topics are matched by `odradek.protocol.patterns`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import final

from odradek.broker.coordinator.group.assignment import (
    GroupSpec,
    MemberSpec,
    Partitions,
    Subscriptions,
    count_down,
    count_up,
    same_partitions,
    subscribed_ids,
)
from odradek.broker.coordinator.group.consumer.assignors import ASSIGNORS
from odradek.broker.coordinator.group.consumer.group import (
    RECORDS,
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerGroup,
    ConsumerStep,
    Epochs,
    Member,
    MemberState,
    ResolveRegexes,
    current_record,
    epoch_record,
    member_record,
    partition_metadata_record,
    partition_metadata_tombstone,
    regex_tombstone,
    target_record,
)
from odradek.broker.coordinator.group.epoch_group import rebalance_key, revocation
from odradek.broker.coordinator.group.settings import ConsumerConfigs
from odradek.broker.coordinator.group.topics import TopicCache, TopicSource
from odradek.broker.runtime.machine import Cancel, NewRecord, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import HashTable, hash_of_text, java_order, slots_for
from odradek.protocol.native import mypyc_attr
from odradek.protocol.patterns import LONGEST_PATTERN, Pattern, PatternError, compile_pattern, names_a_group_without_p


def check_regex(regex: str, *, named_groups: bool = True) -> None:
    """INVALID_REGULAR_EXPRESSION with Kafka's message for an invalid pattern.

    `named_groups`: groups may be named without a P.
    """
    _compiled(regex)
    if not named_groups and names_a_group_without_p(regex):
        raise _invalid(regex, "invalid or unsupported Perl syntax")


def matching(regex: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole names match the pattern."""
    fullmatch = _compiled(regex).fullmatch
    return frozenset(topic for topic in topics if fullmatch(topic) is not None)


def _compiled(regex: str) -> Pattern:
    try:
        return compile_pattern(regex)
    except PatternError as error:
        raise _invalid(regex, str(error)) from None


def _invalid(regex: str, reason: str) -> KafkaError:
    shown = regex if len(regex) <= LONGEST_PATTERN else f"{regex[:100]}..."
    text = f"SubscribedTopicRegex `{shown}` is not a valid regular expression: {reason}."
    return KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, text)


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
        return map(self._spec, self._order)

    def items(self) -> Iterable[tuple[str, MemberSpec]]:
        return zip(self._order, self.values(), strict=True)

    def _spec(self, member_id: str) -> MemberSpec:
        changed = self._changed
        member = changed if member_id == changed.member_id else self._group.members[member_id]
        metadata = member.metadata
        names = self._group.topics_of(member) if metadata.regex else metadata.topics
        topic_ids = self._resolved.get(names)
        if topic_ids is None:
            topic_ids = self._resolved[names] = subscribed_ids(names, self.partition_counts, self._topics)
        return MemberSpec(metadata.instance_id, topic_ids, len(names))


@final
@mypyc_attr(acyclic=True)
class Target:
    """The target of one member, and the epoch in which it was decided."""

    def __init__(self, epoch: int, partitions: Partitions) -> None:
        self.epoch = epoch
        self.partitions = partitions


@final
@mypyc_attr(acyclic=True)
class Change:
    """A member of a group before the change (None: it is new) and after it."""

    def __init__(self, before: Member | None, after: Member) -> None:
        self.before = before
        self.after = after


def subscriptions_after(group: ConsumerGroup, change: Change) -> Subscriptions:
    """The group's topics once the change is stored."""
    after = group.subscriptions.copy()
    before, member = change.before, change.after
    if before is not None:
        count_down(after.by_name, before.metadata.topics)
        if (
            before.metadata.regex
            and before.metadata.regex != member.metadata.regex
            and group.members_by_regex.get(before.metadata.regex) == 1
        ):
            resolved = group.regexes.get(before.metadata.regex)
            if resolved is not None:
                count_down(after.by_regex, resolved.topics)
    count_up(after.by_name, member.metadata.topics)
    return after


def is_homogeneous(group: ConsumerGroup, change: Change, subscriptions: Subscriptions) -> bool:
    """Whether all members will subscribe to the same topics: by name, or all by the same single pattern."""
    before, member = change.before, change.after
    regexes = dict(group.members_by_regex)
    if before is not None and before.metadata.regex:
        count_down(regexes, (before.metadata.regex,))
    if member.metadata.regex:
        count_up(regexes, (member.metadata.regex,))
    joins = member.member_id not in group.members and member.metadata.instance_id not in group.static_ids
    members = len(group.members) + joins
    if not regexes:
        return subscriptions.all_name_the_same(members)
    return next(iter(regexes.values())) == members and subscriptions.all_match_one_regex()


def preferred_assignor(group: ConsumerGroup, change: Change | None = None) -> str | None:
    """The assignor that most members ask for; None if none does."""
    votes = dict(group.members_by_assignor)
    if change is not None:
        if change.before is not None and change.before.metadata.server_assignor is not None:
            count_down(votes, (change.before.metadata.server_assignor,))
        if change.after.metadata.server_assignor is not None:
            count_up(votes, (change.after.metadata.server_assignor,))
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
    records.append(RECORDS.target_epoch(group.group_id, epoch, now_ms))
    own = assigned.get(change.after.member_id)
    return Target(epoch, spec.present.of(change.after.member_id) if own is None else own), records


def last_target(group: ConsumerGroup, member: Member) -> Target:
    """The target that a member has, or takes over from the one that had its instance id."""
    instance_id = member.metadata.instance_id
    holder = member.member_id if instance_id is None else group.static_ids.get(instance_id, "")
    return Target(group.assignment_epoch, group.target.of(holder))


def _spec(
    group: ConsumerGroup, changed: Member, homogeneous: bool, topics: TopicSource, counts_newcomers: bool
) -> GroupSpec:
    replaced = group.static_ids.get(changed.metadata.instance_id) if changed.metadata.instance_id is not None else None
    heir_of = replaced if replaced is not None and replaced != changed.member_id else None
    order = group.order.with_change(group.peak, changed.member_id, heir_of, as_member=counts_newcomers)
    present = group.target if heir_of is None else group.target.inherited(heir_of, changed.member_id)
    members = LazySpecs(group, changed, order, topics)
    newcomer = None if changed.member_id in present.sizes else changed.member_id
    return GroupSpec(members, homogeneous, members.partition_counts, present, newcomer)


Owned = Mapping[bytes, Collection[int]]
"""The partitions that a heartbeat lists as owned."""


@final
@mypyc_attr(acyclic=True)
class Goal:
    """The goal of a member.

    ``subscribed``: the existing topics that it subscribes to, of those in its partitions or its target. ``holders``: by
    topic id and partition, how many members still have it. ``owned``: None if the heartbeat does not list them.
    """

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
        return member.in_epoch(goal.epoch, STABLE, member.assigned, member.revoking)
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
        return member.in_epoch(epoch, UNREVOKED_PARTITIONS, kept, lost)
    for topic_id, partitions in gained.items():
        kept[topic_id] = {**kept.get(topic_id, {}), **partitions}
    state = UNRELEASED_PARTITIONS if unreleased else STABLE
    return member.in_epoch(goal.epoch, state, kept, {})


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
        return member.in_epoch(member.epoch, UNREVOKED_PARTITIONS, kept, revoking)
    return member.in_epoch(member.epoch, member.state, kept, member.revoking)


def _owns_any(partitions: Epochs, owned: Owned | None) -> bool:
    """Whether the member still owns any of these; if it does not list its partitions, it does."""
    if owned is None:
        return True
    return any(index in partitions.get(topic_id, ()) for topic_id, indexes in owned.items() for index in indexes)


def _put(epochs: Epochs, topic_id: bytes, partitions: dict[int, int]) -> None:
    if partitions:
        epochs[topic_id] = partitions


def is_part_of(owned: Owned | None, assigned: Epochs) -> bool:
    """Whether a member lists its partitions, and all of them were assigned to it."""
    if owned is None:
        return False
    for topic_id, partitions in owned.items():
        given = assigned.get(topic_id)
        if given is None or any(partition not in given for partition in partitions):
            return False
    return True


_LOOK_AGAIN_MS = (1 << 31) - 1
_REGEX_PAUSE_MS = 10_000
"""The least time between two resolutions of a group's patterns."""


class RegexChange(Enum):
    """The effect of a heartbeat on the member's pattern."""

    NONE = 0
    UNRESOLVED = 1
    RESOLVED = 2


class Progress:
    """Moves groups on, a member at a time. Owner: the consumer kind."""

    def __init__(self, configs: ConsumerConfigs, topics: TopicCache) -> None:
        self.configs = configs
        self.topics = topics

    def advance(self, step: ConsumerStep, change: Change, owned: Owned | None, *, bump_unresolved: bool) -> Member:
        """Store the changes of a member, and move it as far towards its target as it can go now.

        ``bump_unresolved``: a new pattern counts as a change of the group's topics before it is resolved.
        """
        if change.after is change.before and step.group.rests(change.after, step.now_ms):
            return change.after
        names_changed = self.store_member(step, change)
        regex_change = self.update_regexes(step, change)
        bump = (
            names_changed
            or regex_change is RegexChange.RESOLVED
            or (bump_unresolved and regex_change is RegexChange.UNRESOLVED)
            or self._prefers_another(step.group, change)
            or step.group.epoch == 0  # see `Release.first_group_epoch`
        )
        epoch, homogeneous = self.check_topics(step, change, bump)
        target = self.new_target(step, change, epoch, homogeneous)
        changed = names_changed or regex_change is not RegexChange.NONE
        return self.reconcile(step, change.after, target, owned, subscription_changed=changed)

    def _prefers_another(self, group: ConsumerGroup, change: Change) -> bool:
        """Whether the change makes the group use another assignor, if the release considers that."""
        if not self.configs.release.counts_assignors:
            return False
        first = self.configs.first_assignor
        return (preferred_assignor(group) or first) != (preferred_assignor(group, change) or first)

    # -- the member

    def store_member(self, step: ConsumerStep, change: Change) -> bool:
        """Store a member. Returns whether it subscribes to other topics than before."""
        before, after = change.before, change.after
        if after is before or after == before:
            return False
        step.records.append(member_record(step.group.group_id, after))
        return before is None or before.metadata.topics != after.metadata.topics

    # -- patterns

    def update_regexes(self, step: ConsumerStep, change: Change) -> RegexChange:
        """Store a member's new pattern, and decide whether the group's patterns must be resolved again.

        They are resolved together, so that the group rebalances once.
        """
        group = step.group
        before = (change.before.metadata.regex if change.before is not None else "") or ""
        after = change.after.metadata.regex or ""
        if before == after and not group.members_by_regex:
            return RegexChange.NONE
        status = RegexChange.NONE
        is_new = False
        if before != after:
            status = RegexChange.UNRESOLVED
            if before and group.members_by_regex.get(before) == 1:
                step.records.append(regex_tombstone(group.group_id, before))
            is_new = bool(after) and after not in group.members_by_regex
            if is_new:
                check_regex(after, named_groups=self.configs.release.knows_named_groups)
            elif after in group.regexes or (not after and self.configs.release.counts_dropped_patterns):
                status = RegexChange.RESOLVED
        if is_new or group.members_by_regex:
            self._resolve_if_due(step, before, after, is_new)
        return status

    def _resolve_if_due(self, step: ConsumerStep, before: str, after: str, is_new: bool) -> None:
        group = step.group
        if group.resolving:
            return
        last = next(iter(group.regexes.values()), None)
        if last is not None and step.now_ms <= last.timestamp + _REGEX_PAUSE_MS:
            return
        wanted = dict(group.members_by_regex)
        if before:
            count_down(wanted, (before,))
        if after:
            count_up(wanted, (after,))
        due = (
            is_new
            or len(wanted) != len(group.regexes)
            or group.checked_topics_version < self.topics.version
            or last is None
            or step.now_ms > last.timestamp + self.configs.regex_refresh_interval_ms
        )
        if due and wanted:
            command = ResolveRegexes(group.group_id, list(wanted), step.visible)
            step.effects.append(Schedule(("consumer regexes", group.group_id), 0, command))
            step.later.append(_set_resolving)

    # -- topics and the group's epoch

    def check_topics(self, step: ConsumerStep, change: Change, bump: bool) -> tuple[int, bool | None]:
        """Check the topics if they or the group have changed.

        Returns the group's epoch, and whether it is homogeneous (None: as it was).
        """
        group = step.group
        if not bump and not group.must_check_topics(step.now_ms):
            return group.epoch, None
        subscriptions = subscriptions_after(group, change)
        homogeneous = is_homogeneous(group, change, subscriptions)
        epoch, records = self.next_epoch(group, subscriptions, bump=bump)
        step.records += records
        if group.stored_topics is not None and not self.stores_topics:
            step.records.append(partition_metadata_tombstone(group.group_id))
        until_ms = step.now_ms + _LOOK_AGAIN_MS
        step.later.append(lambda live: live.topics_checked(until_ms, epoch))
        return epoch, homogeneous

    @property
    def stores_topics(self) -> bool:
        """Whether groups store their topics, not a hash of them."""
        return self.configs.release.stores_topics_of_groups

    def next_epoch(self, group: ConsumerGroup, subscribed: Iterable[str], *, bump: bool) -> tuple[int, list[NewRecord]]:
        """The group's epoch, and the records of another one: `bump` begins one, and so do changed topics."""
        if self.stores_topics:
            return self._next_of_topics(group, list(subscribed), bump)
        metadata_hash = self.topics.hash_of(subscribed)
        if not bump and metadata_hash == group.metadata_hash:
            return group.epoch, []
        return group.epoch + 1, [epoch_record(group.group_id, group.epoch + 1, metadata_hash)]

    def _next_of_topics(self, group: ConsumerGroup, subscribed: list[str], bump: bool) -> tuple[int, list[NewRecord]]:
        topics: dict[str, tuple[bytes, int]] = {}
        for name in HashTable(hash_of_text, subscribed, slots_for(len(subscribed))):
            facts = self.topics.named(name)
            if facts is not None:
                topics[name] = facts.topic_id, facts.partitions
        records: list[NewRecord] = []
        if topics != (group.stored_topics or {}):
            records.append(partition_metadata_record(group.group_id, topics))
        if not bump and not records:
            return group.epoch, []
        return group.epoch + 1, [*records, epoch_record(group.group_id, group.epoch + 1, 0)]

    # -- the target

    def new_target(self, step: ConsumerStep, change: Change, epoch: int, homogeneous: bool | None) -> Target:
        """Compute a new target assignment if the group's epoch is ahead of it and the interval has passed."""
        group = step.group
        if group.assignment_epoch >= epoch or not self.configs.may_assign(
            group.group_id, group.assignment_timestamp, step.now_ms
        ):
            return last_target(group, change.after)
        if homogeneous is None:
            homogeneous = group.is_homogeneous
        assignor = preferred_assignor(group, change) or self.configs.first_assignor
        target, records = compute_target(
            group,
            change,
            epoch,
            assignor,
            homogeneous=homogeneous,
            topics=self.topics,
            now_ms=step.now_ms,
            counts_newcomers=self.configs.release.counts_newcomers,
        )
        step.records += records
        return target

    # -- the member's assignment

    def reconcile(
        self, step: ConsumerStep, member: Member, target: Target, owned: Owned | None, *, subscription_changed: bool
    ) -> Member:
        """The member after its next step towards the target. It must revoke partitions within its timeout."""
        subscription_changed = subscription_changed and self.configs.release.reconciles_by_subscription
        if not subscription_changed and member.is_reconciled_to(target.epoch):
            return member
        group = step.group
        goal = Goal(target.epoch, target.partitions, self._subscribed(group, member, target), group.holders, owned)
        after = reconcile(member, goal, subscription_changed=subscription_changed)
        if after == member:
            return member
        step.records.append(current_record(group.group_id, after))
        if after.metadata.classic is None:
            self._limit_revocation(step, member.state, after)
        return after

    def _subscribed(self, group: ConsumerGroup, member: Member, target: Target) -> list[bytes]:
        """The existing topics that a member subscribes to, of those in its partitions or its target."""
        if not self.configs.release.reconciles_by_subscription:
            return [*target.partitions, *member.assigned]
        names = group.topics_of(member)
        found = [topic_id for topic_id in target.partitions if self._is_among(topic_id, names)]
        found += [topic_id for topic_id in member.assigned if self._is_among(topic_id, names)]
        return found

    def _is_among(self, topic_id: bytes, names: Collection[str]) -> bool:
        facts = self.topics.by_id(topic_id)
        return facts is not None and facts.name in names

    def _limit_revocation(self, step: ConsumerStep, before: MemberState, member: Member) -> None:
        if member.state is UNREVOKED_PARTITIONS:
            step.effects.append(revocation(step.group.group_id, member))
        elif before is UNREVOKED_PARTITIONS:
            step.effects.append(Cancel(rebalance_key(step.group.group_id, member.member_id)))


def _set_resolving(group: ConsumerGroup) -> None:
    group.resolving = True


def replace_static(step: ConsumerStep, old: Member, member_id: str) -> Member:
    """A static member has rejoined with another member id: it replaces the old member."""
    group_id = step.group.group_id
    new = Member(member_id, old.metadata, 0, 0, old.state, old.assigned, old.revoking)
    step.records += [
        *RECORDS.member_tombstones(group_id, old.member_id),
        member_record(group_id, new),
        target_record(group_id, member_id, step.group.target.of(old.member_id)),
        current_record(group_id, new),
    ]
    return new
