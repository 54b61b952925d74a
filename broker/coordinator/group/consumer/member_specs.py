"""A consumer group's members as an assignor sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from odradek.broker.coordinator.group.assignment import MemberSpec, subscribed_ids
from odradek.broker.coordinator.group.consumer.group import ConsumerGroup
from odradek.broker.coordinator.group.consumer.member import Member
from odradek.broker.coordinator.group.topic_source import TopicSource


class LazySpecs:
    """See `MemberSpecs`; a member that nobody looks at costs nothing.

    ``partition_counts``: of the topics of all members that were looked at.
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
        """See `MemberSpecs`."""
        return map(self._spec, self._order)

    def items(self) -> Iterable[tuple[str, MemberSpec]]:
        """See `MemberSpecs`."""
        return zip(self._order, self.values(), strict=True)

    def _spec(self, member_id: str) -> MemberSpec:
        changed = self._changed
        member = changed if member_id == changed.member_id else self._group.members[member_id]
        names = self._group.topics_of(member) if member.regex else member.topics
        topic_ids = self._resolved.get(names)
        if topic_ids is None:
            topic_ids = self._resolved[names] = subscribed_ids(names, self.partition_counts, self._topics)
        return MemberSpec(member.instance_id, topic_ids, len(names))
