"""Who is to have which partitions, as the log says it; changed by replay only."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from odradek.broker.coordinator.group.assignment import NOTHING, Partitions
from odradek.broker.coordinator.group.subscriptions import count_down, count_up
from odradek.protocol.native import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class TargetAssignment:
    """The target assignments of a group's members, and whether a partition is part of any.

    Records of a new assignment come one member after the other: a partition that has moved belongs to whoever was
    written last.
    """

    __slots__ = ("_by_member", "_holders", "_owners", "_sizes")

    def __init__(self) -> None:
        self._by_member: dict[str, Partitions] = {}
        self._owners: dict[bytes, dict[int, str]] = {}
        self._sizes: dict[str, int] = {}
        self._holders: dict[bytes, int] = {}  # how many members have partitions of a topic

    @property
    def by_member(self) -> Mapping[str, Partitions]:
        """The target of each member that has one."""
        return self._by_member

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many partitions each member has that has any."""
        return self._sizes

    @property
    def topic_ids(self) -> Collection[bytes]:
        """The topics of which any member has partitions."""
        return self._holders.keys()

    def of(self, member_id: str) -> Partitions:
        """The target of a member, empty if it has none."""
        return self._by_member.get(member_id, NOTHING)

    def taken(self, topic_id: bytes) -> Collection[int]:
        """The partitions of a topic that are in anybody's target."""
        return self._owners.get(topic_id, ())

    def set(self, member_id: str, partitions: Partitions) -> None:
        """A member has got a target."""
        before = self._by_member.get(member_id, NOTHING)
        if before:
            self._release(member_id, before, partitions)
        for topic_id, indexes in partitions.items():
            had = before.get(topic_id)
            gained = indexes if had is None else set(indexes).difference(had)
            if gained:
                self._owners.setdefault(topic_id, {}).update(dict.fromkeys(gained, member_id))
        self._by_member[member_id] = partitions
        self._count(member_id, before, partitions)

    def remove(self, member_id: str) -> None:
        """A member's target is gone."""
        before = self._by_member.pop(member_id, NOTHING)
        self._release(member_id, before, NOTHING)
        self._count(member_id, before, NOTHING)

    def inherited(self, old: str, new: str) -> TargetAssignment:
        """The same, with the target of one member in the hands of another."""
        after = TargetAssignment()
        for member_id, partitions in self._by_member.items():
            if member_id not in (old, new):
                after.set(member_id, partitions)
        after.set(new, self.of(old))
        return after

    def _count(self, member_id: str, before: Partitions, after: Partitions) -> None:
        if before.keys() != after.keys():
            count_down(self._holders, before)
            count_up(self._holders, after)
        if after:
            self._sizes[member_id] = sum(map(len, after.values()))
        else:
            self._sizes.pop(member_id, None)

    def _release(self, member_id: str, before: Partitions, keeps: Partitions) -> None:
        """What the member had and does not keep belongs to nobody, unless it was given to another one meanwhile."""
        for topic_id, indexes in before.items():
            owners = self._owners.get(topic_id)
            if owners is None:
                continue
            kept = keeps.get(topic_id)
            for index in indexes if kept is None else set(indexes).difference(kept):
                if owners.get(index) == member_id:
                    del owners[index]
            if not owners:
                del self._owners[topic_id]
