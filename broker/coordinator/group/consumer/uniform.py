"""The assignor `uniform` for members that all subscribe to the same topics: equal shares, few moves.

Everybody keeps what it has up to its share; what is over, or nobody has, goes to those with less, in order.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from odradek.broker.coordinator.group.assignment import GroupSpec, MemberSpec, Partitions, partition_count
from odradek.broker.coordinator.group.consumer.holding import Holding
from odradek.protocol.java_hash_table import HashTable, slots_of_copy
from odradek.protocol.java_maps import hash_of_uuid

_Place = tuple[bytes, int]


def assign_evenly(spec: GroupSpec) -> dict[str, Partitions]:
    """Shares differ by one partition at most."""
    first = next(iter(spec.members.values()))
    topics = dict.fromkeys(HashTable(hash_of_uuid, first.topic_ids, slots_of_copy(first.topic_count)))
    if not topics:
        return {}
    free: list[_Place] = []
    total = 0
    for topic_id in topics:
        count = partition_count(spec, topic_id)
        total += count
        taken = spec.taken(topic_id)
        free += [(topic_id, p) for p in range(count) if p not in taken]
    held: dict[str, Holding] = {}
    wanting: list[tuple[Holding, int]] = []
    shares = _Shares(total, len(spec.members))
    for member_id, member in spec.members.items():
        holding = held[member_id] = Holding(member.assigned)
        room = shares.settle(_keep(holding, member, topics, shares.next_share(), free))
        if room:
            wanting.append((holding, room))
    rest = iter(free)
    for holding, room in wanting:
        for topic_id, partition in islice(rest, room):
            holding.add(topic_id, partition)
    return {member_id: holding.result() for member_id, holding in held.items()}


class _Shares:
    """How many partitions each member may have: the same for all, and one more for some of them."""

    def __init__(self, total: int, members: int) -> None:
        self._share, self._extra = divmod(total, members)
        self._left = members
        self._offered = False

    def next_share(self) -> int:
        """The largest share that the next member may have."""
        self._offered = self._extra > 0
        return self._share + self._offered

    def settle(self, room: int) -> int:
        """The member has ``room`` left in that share; returns what it shall still get.

        One that has not used its extra partition leaves it to a later member, while there are enough of those.
        """
        if room and self._offered and self._left > self._extra:
            room -= 1
            self._offered = False
        self._left -= 1
        self._extra -= self._offered
        return room


def _keep(holding: Holding, member: MemberSpec, topics: Collection[bytes], room: int, free: list[_Place]) -> int:
    """Reduce a member to its share; returns the room left. What it loses is added to ``free``."""
    for topic_id, partitions in member.assigned.items():
        if topic_id not in topics:
            holding.drop(topic_id)
            continue
        if len(partitions) <= room:
            room -= len(partitions)
            continue
        for partition in partitions[room:]:
            holding.remove(topic_id, partition)
            free.append((topic_id, partition))
        room = 0
    return room
