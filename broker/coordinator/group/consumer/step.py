"""What one command makes of a consumer group, gathered until it is carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.coordinator.group.commands import Visible
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.kinds import GroupChanged
from odradek.broker.runtime.machine import Effect, NewRecord, Outcome, R, make_outcome


class Step:
    """``group`` is read only: the group itself, or for one that comes into being the group that ``records`` will make.

    ``later``: changes of soft state, made once the records are stored; they get the group that then lives.
    ``visible``: which of some topics the client may see that asks; None for all.
    """

    __slots__ = ("effects", "group", "later", "now_ms", "records", "visible")

    def __init__(
        self,
        group: ConsumerGroup,
        now_ms: int,
        records: Sequence[NewRecord] = (),
        *,
        visible: Visible | None = None,
    ) -> None:
        self.group = group
        self.now_ms = now_ms
        self.records: list[NewRecord] = list(records)
        self.effects: list[Effect] = []
        self.later: list[Callable[[ConsumerGroup], None]] = []
        self.visible = visible

    def outcome(self, reply: R, live: Callable[[], ConsumerGroup | None]) -> Outcome[R]:
        """The outcome; ``live`` finds the group once the records are replayed."""
        if self.records:
            self.effects.append(GroupChanged(self.group.group_id))
        if not self.later:
            return make_outcome(self.records, reply=reply, effects=self.effects)

        def settle() -> Sequence[Effect]:
            group = live()
            if group is not None:
                for change in self.later:
                    change(group)
            return ()

        return make_outcome(self.records, reply=reply, effects=self.effects, then=settle)
