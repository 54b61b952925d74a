"""The topics that a group's members subscribe to, and the target assignments of its members."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import TypeVar

from odradek.broker.coordinator.group.assignment import NOTHING, Partitions
from odradek.protocol.native import mypyc_attr

_Counts = dict[str, int]
Key = TypeVar("Key", bound=Hashable)


def count_up(counts: dict[Key, int], keys: Iterable[Key]) -> None:
    """One more of each."""
    for key in keys:
        counts[key] = counts.get(key, 0) + 1


def count_down(counts: dict[Key, int], keys: Iterable[Key]) -> None:
    """Count each down by one; entries at zero are removed."""
    for key in keys:
        left = counts.get(key, 0) - 1
        if left > 0:
            counts[key] = left
        else:
            counts.pop(key, None)


@mypyc_attr(allow_interpreted_subclasses=True)
class Subscriptions:
    """The topics of a group: how many members name each, and how many of the group's patterns match it.

    `by_name`: members by topic name. `by_regex`: resolved patterns by topic name.
    """

    __slots__ = ("by_name", "by_regex")

    def __init__(self, by_name: _Counts | None = None, by_regex: _Counts | None = None) -> None:
        self.by_name: _Counts = by_name or {}
        self.by_regex: _Counts = by_regex or {}

    def __contains__(self, topic: str) -> bool:
        return topic in self.by_name or topic in self.by_regex

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics())

    def topics(self) -> list[str]:
        """All of them: those that are named, then those that are only matched."""
        by_name = self.by_name
        topics = list(by_name)
        if self.by_regex:
            topics += [topic for topic in self.by_regex if topic not in by_name]
        return topics

    def copy(self) -> Subscriptions:
        """One to try out changes on."""
        return Subscriptions(dict(self.by_name), dict(self.by_regex))

    def all_name_the_same(self, members: int) -> bool:
        """Whether each of these many members names each of the topics, and no pattern adds any."""
        by_name = self.by_name
        for count in by_name.values():
            if count != members:
                return False
        return self.by_regex.keys() <= by_name.keys()

    def all_match_one_regex(self) -> bool:
        """Whether the topics come from one pattern alone."""
        return not self.by_name and all(count == 1 for count in self.by_regex.values())


@mypyc_attr(allow_interpreted_subclasses=True)
class TargetAssignment:
    """The target assignments of a group's members, and the owner of each partition.

    The records of a new assignment arrive one member at a time, so a partition that moves belongs to the member written
    last.
    """

    __slots__ = ("_by_member", "_by_size", "_holders", "_owners", "_sizes")

    def __init__(self) -> None:
        self._by_member: dict[str, Partitions] = {}
        self._owners: dict[bytes, dict[int, str]] = {}
        self._sizes: dict[str, int] = {}
        self._by_size: dict[int, int] = {}
        self._holders: dict[bytes, int] = {}  # how many members have partitions of a topic

    @property
    def by_member(self) -> dict[str, Partitions]:
        """The target of each member that has one. Not to be changed."""
        return self._by_member

    @property
    def sizes(self) -> dict[str, int]:
        """The number of partitions of each member with a target. Do not change it."""
        return self._sizes

    @property
    def members_by_size(self) -> dict[int, int]:
        """How many members with a target have this many partitions. Do not change it."""
        return self._by_size

    @property
    def topic_ids(self) -> Collection[bytes]:
        """The topics of which any member has partitions."""
        return self._holders.keys()

    def of(self, member_id: str) -> Partitions:
        """The target of a member, empty if it has none."""
        return self._by_member.get(member_id, NOTHING)

    def taken(self, topic_id: bytes) -> Collection[int]:
        """The partitions of a topic that are in any member's target."""
        return self._owners.get(topic_id, ())

    def set(self, member_id: str, partitions: Partitions) -> None:
        """Set a member's target."""
        before = self._by_member.get(member_id, NOTHING)
        self._by_member[member_id] = partitions
        size = self._change(member_id, before, partitions)
        size_before = self._sizes.get(member_id)
        if size_before != size:
            self._sizes[member_id] = size
            self._by_size[size] = self._by_size.get(size, 0) + 1
            self._one_less(size_before)

    def remove(self, member_id: str) -> None:
        """Remove a member's target."""
        self._change(member_id, self._by_member.pop(member_id, NOTHING), NOTHING)
        self._one_less(self._sizes.pop(member_id, None))

    def inherited(self, old: str, new: str) -> TargetAssignment:
        """The same, with the target of one member given to another."""
        after = TargetAssignment()
        for member_id, partitions in self._by_member.items():
            if member_id not in (old, new):
                after.set(member_id, partitions)
        after.set(new, self.of(old))
        return after

    def _one_less(self, size: int | None) -> None:
        """A member with this many partitions has another number now, or has left."""
        if size is not None:
            members = self._by_size.pop(size) - 1
            if members:
                self._by_size[size] = members

    def _change(self, member_id: str, before: Partitions, after: Partitions) -> int:
        """Note the owner of the partitions; returns their number after the change."""
        for topic_id, had in before.items():
            kept = after.get(topic_id)
            if kept is None:
                count_down(self._holders, (topic_id,))
                self._release(member_id, topic_id, had)
            elif kept != had:
                self._release(member_id, topic_id, _without(had, kept))
        size = 0
        for topic_id, indexes in after.items():
            size += len(indexes)
            present = before.get(topic_id)
            if present is None:
                count_up(self._holders, (topic_id,))
                self._take(member_id, topic_id, indexes)
            elif present != indexes:
                self._take(member_id, topic_id, _without(indexes, present))
        return size

    def _take(self, member_id: str, topic_id: bytes, gained: Collection[int]) -> None:
        if gained:
            owners = self._owners.get(topic_id)
            if owners is None:
                owners = self._owners[topic_id] = {}
            for index in gained:
                owners[index] = member_id

    def _release(self, member_id: str, topic_id: bytes, lost: Collection[int]) -> None:
        """Release partitions, except those that another member has meanwhile."""
        owners = self._owners.get(topic_id)
        if owners is None:
            return
        for index in lost:
            if owners.get(index) == member_id:
                del owners[index]
        if not owners:
            del self._owners[topic_id]


def _without(some: tuple[int, ...], others: tuple[int, ...]) -> Collection[int]:
    """The partitions in `some` that are not in `others`. The fast path: one is a prefix of the other."""
    size = min(len(some), len(others))
    if some[:size] == others[:size]:
        return some[size:]
    return set(some).difference(others)


@mypyc_attr(allow_interpreted_subclasses=True)
class TopicGroups:
    """Group ids by topic name. Owner: a kind of groups, which keeps it up to date in `replay`."""

    def __init__(self) -> None:
        self._groups: dict[str, set[str]] = {}

    def update(self, group_id: str, before: Iterable[str], after: Iterable[str]) -> None:
        """A group that subscribed to the topics `before` now subscribes to those `after`."""
        old, new = set(before), set(after)
        for topic in new - old:
            self._groups.setdefault(topic, set()).add(group_id)
        for topic in old - new:
            groups = self._groups.get(topic)
            if groups is not None:
                groups.discard(group_id)
                if not groups:
                    del self._groups[topic]

    def subscribed_to(self, topics: Iterable[str]) -> set[str]:
        """The ids of the groups that subscribe to any of these topics."""
        found: set[str] = set()
        for topic in topics:
            found |= self._groups.get(topic, set())
        return found
