"""Computing the target assignment of a streams group."""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.assignment import member_order
from odradek.broker.coordinator.group.streams.configs import STANDBYS
from odradek.broker.coordinator.group.streams.configured import ConfiguredTopology
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.records import target_epoch_record, target_record
from odradek.broker.coordinator.group.streams.sticky import MemberSpec, SubtopologySpec, assign
from odradek.broker.coordinator.group.streams.tasks import NO_TARGET, Target
from odradek.broker.runtime.machine import NewRecord


def compute_targets(
    group: StreamsGroup,
    changed: Member | None,
    epoch: int,
    configured: ConfiguredTopology,
    configs: Mapping[str, str],
    now_ms: int,
) -> tuple[dict[str, Target], list[NewRecord]]:
    """The targets of all members, and the records of those that are new or change, and of the epoch.

    ``changed``: a member as it is going to be. Nobody has tasks while the topology is not ready.
    """
    more = () if changed is None else (changed.member_id,)
    specs: dict[str, MemberSpec] = {}
    for member_id in member_order(list(group.members), group.peak, more):
        member = changed if changed is not None and changed.member_id == member_id else group.members[member_id]
        specs[member_id] = MemberSpec(member.process_id, group.target_of(member_id))
    targets = _assigned(specs, configured, configs)
    records: list[NewRecord] = []
    for member_id, target in targets.items():
        if group.targets.get(member_id) != target:
            records.append(target_record(group.group_id, member_id, target))
    records.append(target_epoch_record(group.group_id, epoch, now_ms))
    return targets, records


def _assigned(
    specs: dict[str, MemberSpec], configured: ConfiguredTopology, configs: Mapping[str, str]
) -> dict[str, Target]:
    if not configured.is_ready or configured.subtopologies is None:
        return dict.fromkeys(specs, NO_TARGET)
    shape = {name: SubtopologySpec(each.tasks, each.is_stateful) for name, each in configured.subtopologies.items()}
    return assign(specs, shape, int(configs.get(STANDBYS, 0)))
