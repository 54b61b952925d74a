"""Members that leave a streams group, or are taken out of it."""

from __future__ import annotations

from odradek.broker.coordinator.group.overdue import Overdue
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.coordinator.group.streams.commands import HeartbeatReply, StreamsGroupHeartbeat
from odradek.broker.coordinator.group.streams.group import StreamsGroup
from odradek.broker.coordinator.group.streams.member import Member
from odradek.broker.coordinator.group.streams.records import epoch_record, member_tombstones
from odradek.broker.coordinator.group.streams.step import Step
from odradek.broker.coordinator.group.streams.timers import member_timers
from odradek.broker.runtime.machine import Cancel, Outcome, R
from odradek.protocol.errors import ErrorCode, KafkaError


class Departures(Overdue[StreamsGroup]):
    """Takes members out of groups. Owner: the streams kind."""

    def __init__(self, groups: Groups) -> None:
        super().__init__(lambda group_id: groups.find(group_id, StreamsGroup))
        self._groups = groups

    def leave(self, command: StreamsGroupHeartbeat, now_ms: int) -> Outcome[HeartbeatReply]:
        """A member leaves; on its way out it may ask for the end of the application."""
        group = self._groups.existing(command.group_id)
        if not isinstance(group, StreamsGroup):
            raise not_streams(command.group_id)
        if command.shutdown and group.soft.shutdown_by is None:
            group.soft.shutdown_by = command.member_id
        member = group.member(command.member_id)
        return self._remove(group, member, HeartbeatReply(command.member_id, command.member_epoch), now_ms)

    def _put_out(self, group: StreamsGroup, member: Member, now_ms: int) -> Outcome[None]:
        return self._remove(group, member, None, now_ms)

    def _remove(self, group: StreamsGroup, member: Member, reply: R, now_ms: int) -> Outcome[R]:
        """The group goes on in its next epoch; others get the tasks when they are heard of."""
        group_id = group.group_id
        step = Step(group, now_ms)
        step.records += member_tombstones(group_id, member.member_id)
        step.records.append(
            epoch_record(
                group_id,
                group.epoch + 1,
                group.metadata_hash,
                group.validated_topology_epoch,
                group.assignment_configs,
            )
        )
        step.effects += [Cancel(key) for key in member_timers(group_id, member.member_id)]
        return step.outcome(reply, self._groups)


def not_streams(group_id: str) -> KafkaError:
    """The group is of another kind."""
    return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
