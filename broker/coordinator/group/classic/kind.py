"""Groups of the classic protocol as one kind of groups; those of offsets alone ("simple" groups) are of it too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from odradek.broker.coordinator.group.classic import commands as c
from odradek.broker.coordinator.group.classic.classic_group import ClassicGroup
from odradek.broker.coordinator.group.classic.commands import join_refused
from odradek.broker.coordinator.group.classic.joining import Joining
from odradek.broker.coordinator.group.classic.members import Members
from odradek.broker.coordinator.group.classic.rebalance import Rebalance
from odradek.broker.coordinator.group.classic.records import StoredGroup, decode_group_key, decode_group_value
from odradek.broker.coordinator.group.commands import GroupType, MetadataChanged
from odradek.broker.coordinator.group.kinds import GroupChanged, KindContext, group_error
from odradek.broker.coordinator.group.stored_offsets import StoredOffsets
from odradek.broker.runtime.machine import Command, Effect, LogRecord, Outcome, make_outcome
from odradek.protocol.errors import KafkaError


class ClassicKind:
    """See `GroupKind` and `groups.Dormant`.

    `stored` has the last generation of each group as the log has it. A group is taken up from there, or from the
    offsets that name it, when something is first asked of it; from then on it takes each further record itself.
    """

    group_type: ClassVar[GroupType] = GroupType.CLASSIC

    def __init__(self, context: KindContext, offsets: StoredOffsets) -> None:
        self.stored: dict[str, StoredGroup] = {}
        self._offsets = offsets
        self._groups = context.groups
        rebalance = Rebalance(context.settings)
        joining = self._joining = Joining(rebalance, context.groups, context.new_id)
        members = self._members = Members(rebalance, joining, context.groups)
        self.decisions: Mapping[type[Command[Any]], Callable[[Any, int], Outcome[Any]]] = {
            c.JoinGroup: joining.join,
            c.SyncGroup: members.sync,
            c.Heartbeat: members.heartbeat,
            c.LeaveGroup: members.leave,
            c.ExpireMember: members.expire_member,
            c.EndJoinPhase: members.end_join_phase,
            c.EndJoinPhaseIfAll: members.end_join_phase_if_all,
            c.ExpireSync: members.expire_sync,
        }

    # -- GroupKind

    def replay(self, record_type: int, record: LogRecord) -> None:
        """See `GroupKind`."""
        group_id = decode_group_key(record.key)
        live = self._groups.find_live(group_id, ClassicGroup)
        if record.value is None:
            self.stored.pop(group_id, None)
            if live is not None:
                live.end()
                self._groups.remove(group_id, ClassicGroup)
            return
        stored = self.stored[group_id] = record.decoded or decode_group_value(record.value)
        if live is not None:
            live.take_stored(stored)
        else:
            self._groups.displace(group_id, ClassicGroup)

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """The client gets Kafka's error code. A group that has lost its last member is empty even so."""
        if isinstance(command, c.SyncGroup):
            return self._members.assignment_refused(command, group_error(error.code), now_ms)
        if isinstance(command, c.JoinGroup):
            return make_outcome(reply=join_refused("", group_error(error.code)))
        return make_outcome(reply=outcome.reply, effects=outcome.effects)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """See `ReplicatedMachine`: members whose assignment was not committed in time have to join again."""
        return self._members.assignment_late(command, now_ms) if isinstance(command, c.SyncGroup) else ()

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: members have a whole session to show that they live."""
        effects: list[Effect] = []
        for group_id, stored in self.stored.items():
            group = self._groups.find(group_id, ClassicGroup) if stored.members else None
            if group is not None:
                effects += self._members.resume(group, now_ms)
                effects.append(GroupChanged(group_id))
        return effects

    def on_metadata_changed(self, change: MetadataChanged, now_ms: int) -> Sequence[Effect]:
        """See `GroupKind`: the members look at topics themselves."""
        return ()

    def snapshot(self) -> dict[str, StoredGroup]:
        """See `GroupKind`."""
        return self.stored

    def restore(self, snapshot: dict[str, StoredGroup]) -> None:
        """See `GroupKind`: the tickets of members that wait must not be given again."""
        self.stored = snapshot
        groups = (group for group in self._groups.live().values() if isinstance(group, ClassicGroup))
        members = [member for group in groups for member in group.members.values()]
        self._joining.tickets_after(max((m.join_ticket or m.sync_ticket or 0 for m in members), default=0))

    # -- Dormant

    def take_up(self, group_id: str) -> ClassicGroup | None:
        """See `Dormant`."""
        stored = self.stored.get(group_id)
        if stored is not None:
            return ClassicGroup.from_stored(group_id, stored)
        if group_id in self._offsets.offsets or self._offsets.has_pending(group_id):
            return ClassicGroup(group_id, -1)
        return None

    def ids(self) -> Iterable[str]:
        """See `Dormant`."""
        return (*self.stored, *self._offsets.group_ids())
