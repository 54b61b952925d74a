"""The server-side assignors by name, as `group.consumer.assignors` and members use it, and the assignor `range`.

`range` gives each subscriber of a topic a run of its partitions, in the order of member ids. Static members come first,
by their instance ids, so that topics with equally many partitions are divided in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.broker.coordinator.group.assignment import Assignor, GroupSpec, MemberSpec, Partitions, partition_count
from odradek.broker.coordinator.group.consumer.uniform import assign_evenly, assign_mixed
from odradek.protocol.java_hash_table import HashTable, slots_to_hold
from odradek.protocol.java_maps import hash_of_uuid


class _Cut:
    """A topic that is being cut into runs."""

    __slots__ = ("_count", "_extra", "_next", "_run", "subscribers")

    def __init__(self, count: int) -> None:
        self._count = count
        self._next = 0
        self._run = self._extra = -1
        self.subscribers = 0

    def take(self) -> tuple[int, ...]:
        """The next run."""
        if self._run < 0:
            self._run, self._extra = divmod(self._count, self.subscribers)
        start = self._next
        self._next = min(start + self._run + (self._extra > 0), self._count)
        self._extra -= self._extra > 0
        return tuple(range(start, self._next))


def assign_ranges(spec: GroupSpec) -> dict[str, Partitions]:
    """A member of a group whose subscriptions differ shares a topic with its other subscribers only."""
    cuts: dict[bytes, _Cut] = {}
    ordered = sorted(spec.members.items(), key=_place)
    for _, member in ordered:
        for topic_id in member.topic_ids:
            if topic_id not in cuts:
                cuts[topic_id] = _Cut(partition_count(spec, topic_id))
            cuts[topic_id].subscribers += 1
    assigned: dict[str, Partitions] = {}
    for member_id, member in ordered:
        expected = len(member.topic_ids) if spec.homogeneous else member.topic_count
        assigned[member_id] = _runs(member, cuts, slots_to_hold(expected))
    return assigned


def _runs(member: MemberSpec, cuts: dict[bytes, _Cut], slots: int) -> Partitions:
    runs = {topic_id: cuts[topic_id].take() for topic_id in member.topic_ids}
    table = HashTable(hash_of_uuid, (topic_id for topic_id, run in runs.items() if run), slots)
    return {topic_id: runs[topic_id] for topic_id in table}


def _place(item: tuple[str, MemberSpec]) -> tuple[bool, bytes]:
    member_id, member = item
    name = member_id if member.instance_id is None else member.instance_id
    return member.instance_id is None, name.encode("utf-16-be", "surrogatepass")


def assign_uniform(spec: GroupSpec) -> dict[str, Partitions]:
    """The assignor `uniform`: all members equally loaded, few partitions moved."""
    if not spec.members:
        return {}
    return assign_evenly(spec) if spec.homogeneous else assign_mixed(spec)


ASSIGNORS: Mapping[str, Assignor] = {"uniform": assign_uniform, "range": assign_ranges}
