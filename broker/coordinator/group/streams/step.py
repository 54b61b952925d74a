"""What one heartbeat makes of a streams group, gathered until it is carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.coordinator.group.registry import Groups
from odradek.broker.coordinator.group.streams.group import SoftState, StreamsGroup
from odradek.broker.coordinator.group.streams.problems import Status
from odradek.broker.runtime.machine import Effect, NewRecord, Outcome, R, make_outcome


class Step:
    """``group`` is the live group, or for one that comes into being (``is_new``) what ``records`` will make.

    ``epoch``: of the group once the records are stored. ``later``: changes of soft state that belong to the records:
    made once they are stored, on the group that then lives. Other soft state is changed at once; that of a new group
    ends with the step.
    """

    __slots__ = ("effects", "epoch", "group", "is_new", "later", "now_ms", "records", "statuses")

    def __init__(self, group: StreamsGroup, now_ms: int, *, is_new: bool = False) -> None:
        self.group = group
        self.epoch = group.epoch
        self.now_ms = now_ms
        self.is_new = is_new
        self.records: list[NewRecord] = []
        self.effects: list[Effect] = []
        self.statuses: list[Status] = []
        self.later: list[Callable[[SoftState], None]] = []

    def outcome(self, reply: R, groups: Groups) -> Outcome[R]:
        """The outcome with all that was gathered."""
        group_id, later = self.group.group_id, self.later
        if self.records:
            self.effects.append(GroupChanged(group_id))
        if not later:
            return make_outcome(self.records, reply=reply, effects=self.effects)

        def settle() -> Sequence[Effect]:
            group = groups.find_live(group_id, StreamsGroup)
            if group is not None:
                for change in later:
                    change(group.soft)
            return ()

        return make_outcome(self.records, reply=reply, effects=self.effects, then=settle)
