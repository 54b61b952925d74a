"""The consequences of a member that has joined or changed: its topics, the group's target, its own assignment."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from odradek.broker.coordinator.group.consumer.commands import ExpireRevocation, ResolveRegexes
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup, Step, rebalance_key
from odradek.broker.coordinator.group.consumer.group_epochs import GroupEpochs
from odradek.broker.coordinator.group.consumer.member import UNREVOKED_PARTITIONS, Member, MemberState
from odradek.broker.coordinator.group.consumer.reconciliation import Goal, Owned, reconcile
from odradek.broker.coordinator.group.consumer.records import (
    current_record,
    member_record,
    partition_metadata_tombstone,
    regex_tombstone,
)
from odradek.broker.coordinator.group.consumer.regexes import check_regex
from odradek.broker.coordinator.group.consumer.targets import (
    Change,
    Target,
    compute_target,
    is_homogeneous,
    last_target,
    preferred_assignor,
    subscriptions_after,
)
from odradek.broker.coordinator.group.settings import ConsumerConfigs
from odradek.broker.coordinator.group.target import count_down, count_up
from odradek.broker.coordinator.group.topics import TopicCache
from odradek.broker.runtime.machine import Cancel, Schedule

_LOOK_AGAIN_MS = (1 << 31) - 1
_REGEX_PAUSE_MS = 10_000
"""The least time between two resolutions of a group's patterns."""


class RegexChange(Enum):
    """The effect of a heartbeat on the member's pattern."""

    NONE = 0
    UNRESOLVED = 1
    RESOLVED = 2


class Progress:
    """Moves groups on, a member at a time. Owner: the consumer kind.

    ``topics_version`` grows with each change of the cluster's topics.
    """

    def __init__(self, configs: ConsumerConfigs, topics: TopicCache, epochs: GroupEpochs) -> None:
        self.configs = configs
        self.topics = topics
        self.epochs = epochs
        self.topics_version = 0

    def advance(self, step: Step, change: Change, owned: Owned | None, *, bump_unresolved: bool) -> Member:
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

    def store_member(self, step: Step, change: Change) -> bool:
        """Store a member. Returns whether it subscribes to other topics than before."""
        before, after = change.before, change.after
        if after is before or after == before:
            return False
        step.records.append(member_record(step.group.group_id, after))
        return before is None or before.topics != after.topics

    # -- patterns

    def update_regexes(self, step: Step, change: Change) -> RegexChange:
        """Store a member's new pattern, and decide whether the group's patterns must be resolved again.

        They are resolved together, so that the group rebalances once.
        """
        group = step.group
        before = (change.before.regex if change.before is not None else "") or ""
        after = change.after.regex or ""
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

    def _resolve_if_due(self, step: Step, before: str, after: str, is_new: bool) -> None:
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
            or group.checked_topics_version < self.topics_version
            or last is None
            or step.now_ms > last.timestamp + self.configs.regex_refresh_interval_ms
        )
        if due and wanted:
            command = ResolveRegexes(group.group_id, list(wanted), step.visible)
            step.effects.append(Schedule(("consumer regexes", group.group_id), 0, command))
            step.later.append(_set_resolving)

    # -- topics and the group's epoch

    def check_topics(self, step: Step, change: Change, bump: bool) -> tuple[int, bool | None]:
        """Check the topics if they or the group have changed.

        Returns the group's epoch, and whether it is homogeneous (None: as it was).
        """
        group = step.group
        if not bump and not group.must_check_topics(step.now_ms):
            return group.epoch, None
        subscriptions = subscriptions_after(group, change)
        homogeneous = is_homogeneous(group, change, subscriptions)
        epoch, records = self.epochs.next(group, subscriptions, bump=bump)
        step.records += records
        if group.stored_topics is not None and not self.epochs.stores_topics:
            step.records.append(partition_metadata_tombstone(group.group_id))
        until_ms = step.now_ms + _LOOK_AGAIN_MS
        step.later.append(lambda live: live.topics_checked(until_ms, epoch))
        return epoch, homogeneous

    # -- the target

    def new_target(self, step: Step, change: Change, epoch: int, homogeneous: bool | None) -> Target:
        """Compute a new target assignment if the group's epoch is ahead of it and the interval has passed."""
        group = step.group
        if group.assignment_epoch >= epoch or not self._may_assign(group, step.now_ms):
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

    def _may_assign(self, group: ConsumerGroup, now_ms: int) -> bool:
        interval_ms = self.configs.assignment_interval_ms(group.group_id)
        before = group.assignment_timestamp
        return before == 0 or interval_ms == 0 or now_ms >= before + interval_ms

    # -- the member's assignment

    def reconcile(
        self, step: Step, member: Member, target: Target, owned: Owned | None, *, subscription_changed: bool
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
        if after.classic is None:
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

    def _limit_revocation(self, step: Step, before: MemberState, member: Member) -> None:
        group_id = step.group.group_id
        key = rebalance_key(group_id, member.member_id)
        if member.state is UNREVOKED_PARTITIONS:
            command = ExpireRevocation(group_id, member.member_id, member.epoch)
            step.effects.append(Schedule(key, member.rebalance_timeout_ms, command))
        elif before is UNREVOKED_PARTITIONS:
            step.effects.append(Cancel(key))


def _set_resolving(group: ConsumerGroup) -> None:
    group.resolving = True
