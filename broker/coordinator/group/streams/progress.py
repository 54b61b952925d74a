"""Bringing a streams group and one of its members forward: a target assignment, and the member's way to it."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.streams.commands import EndInitialDelay, ExpireRevocation
from odradek.broker.coordinator.group.streams.configs import StreamsConfigs
from odradek.broker.coordinator.group.streams.configured import ConfiguredTopology
from odradek.broker.coordinator.group.streams.group import SoftState, StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member, MemberState
from odradek.broker.coordinator.group.streams.problems import Status, TopicStatus
from odradek.broker.coordinator.group.streams.reconciliation import reconcile
from odradek.broker.coordinator.group.streams.records import current_record
from odradek.broker.coordinator.group.streams.step import Step
from odradek.broker.coordinator.group.streams.targets import compute_targets
from odradek.broker.coordinator.group.streams.tasks import NO_TARGET, Owned, Target
from odradek.broker.coordinator.group.streams.timers import initial_delay_key, rebalance_key
from odradek.broker.runtime.machine import Cancel, Schedule


class Progress:
    """Owner: the streams kind."""

    def __init__(self, configs: StreamsConfigs) -> None:
        self._configs = configs

    def waits_for_first(self, step: Step) -> bool:
        """Whether the group waits for more first members; it begins to if it has none and is told to wait."""
        group = step.group
        if group.members or group.soft.waits_for_first:
            return group.soft.waits_for_first
        delay_ms = self._configs.initial_delay_ms(group.group_id)
        if delay_ms > 0:
            step.later.append(_wait_for_first)
            key = initial_delay_key(group.group_id)
            step.effects.append(Schedule(key, delay_ms, EndInitialDelay(group.group_id)))
        return delay_ms > 0

    def target(
        self, step: Step, member: Member, epoch: int, configured: ConfiguredTopology, configs: Mapping[str, str]
    ) -> tuple[int, Target]:
        """The epoch of the member's target and the target; computed anew if it is not of the group's epoch."""
        group = step.group
        if self.waits_for_first(step):
            text = "Assignment delayed due to the configured initial rebalance delay."
            step.statuses.append(Status(TopicStatus.ASSIGNMENT_DELAYED, text))
            return group.assignment_epoch, NO_TARGET
        if group.assignment_epoch >= epoch:
            return group.assignment_epoch, group.target_of(member.member_id)
        if not self.may_assign(group, step.now_ms):
            text = "Assignment delayed due to the configured assignment interval."
            step.statuses.append(Status(TopicStatus.ASSIGNMENT_DELAYED, text))
            return group.assignment_epoch, group.target_of(member.member_id)
        targets, records = compute_targets(group, member, epoch, configured, configs, step.now_ms)
        step.records += records
        return epoch, targets[member.member_id]

    def may_assign(self, group: StreamsGroup, now_ms: int) -> bool:
        """Whether the last assignment is old enough."""
        interval_ms = self._configs.assignment_interval_ms(group.group_id)
        last_ms = group.assignment_timestamp
        return last_ms == 0 or interval_ms == 0 or now_ms >= last_ms + interval_ms

    def reconciled(self, step: Step, member: Member, epoch: int, target: Target, owned: Owned | None) -> Member:
        """The member as far towards its target as it can get now; it has limited time to give tasks up."""
        if member.is_reconciled_to(epoch):
            return member
        group_id = step.group.group_id
        after = reconcile(member, epoch, target, owned, step.group.holders)
        if after == member:
            return member
        step.records.append(current_record(group_id, after))
        key = rebalance_key(group_id, member.member_id)
        if after.state is MemberState.UNREVOKED_TASKS:
            expiry = ExpireRevocation(group_id, member.member_id, after.epoch)
            step.effects.append(Schedule(key, after.rebalance_timeout_ms, expiry))
        else:
            step.effects.append(Cancel(key))
        return after


def _wait_for_first(soft: SoftState) -> None:
    soft.waits_for_first = True
