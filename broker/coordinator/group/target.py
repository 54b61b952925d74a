"""Who is to have which partitions, as the log says it; changed by replay only."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from odradek.broker.coordinator.group.assignment import Partitions

NOTHING: Partitions = {}


class TargetAssignment:
    """The target assignments of a group's members, and whether a partition is part of any.

    Records of a new assignment come one member after the other: a partition that has moved belongs to whoever was
    written last.
    """

    __slots__ = ("_by_member", "_owners")

    def __init__(self) -> None:
        self._by_member: dict[str, Partitions] = {}
        self._owners: dict[bytes, dict[int, str]] = {}

    @property
    def by_member(self) -> Mapping[str, Partitions]:
        """The target of each member that has one."""
        return self._by_member

    def of(self, member_id: str) -> Partitions:
        """The target of a member, empty if it has none."""
        return self._by_member.get(member_id, NOTHING)

    def taken(self, topic_id: bytes) -> Collection[int]:
        """The partitions of a topic that are in anybody's target."""
        return self._owners.get(topic_id, ())

    def set(self, member_id: str, partitions: Partitions) -> None:
        """A member has got a target."""
        self._release(member_id, partitions)
        before = self._by_member.get(member_id, NOTHING)
        for topic_id, indexes in partitions.items():
            owners = self._owners.setdefault(topic_id, {})
            kept = set(before.get(topic_id, ()))
            for index in indexes:
                if index not in kept:
                    owners[index] = member_id
        self._by_member[member_id] = partitions

    def remove(self, member_id: str) -> None:
        """A member's target is gone."""
        self._release(member_id, NOTHING)
        self._by_member.pop(member_id, None)

    def _release(self, member_id: str, keeps: Partitions) -> None:
        """What the member has and does not keep belongs to nobody, unless it was given to another one meanwhile."""
        for topic_id, indexes in self._by_member.get(member_id, NOTHING).items():
            owners = self._owners.get(topic_id)
            if owners is None:
                continue
            kept = set(keeps.get(topic_id, ()))
            for index in indexes:
                if index not in kept and owners.get(index) == member_id:
                    del owners[index]
            if not owners:
                del self._owners[topic_id]
