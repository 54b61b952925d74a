"""The `simple` assignor of share groups: members share partitions as evenly as whole partitions allow.

A partition goes to as many members as it takes for everybody to have one. Members keep what they have as far as that
goes. Who loses or gets a partition follows from the order in which Kafka walks its hash tables, so tables of the same
order are used here. Where all members subscribe to the same topics, all partitions are spread as one; else those of
each topic by themselves. Source: the observed behaviour of Kafka 4.3.1, told to ``tests/vectors``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from math import ceil
from typing import Any

from odradek.broker.coordinator.group.assignment import (
    NOTHING,
    GroupSpec,
    HeldPartitions,
    MemberSpec,
    Partitions,
    TargetAssignment,
    partition_count,
    subscribed_ids,
)
from odradek.broker.coordinator.group.share.group import ShareMember
from odradek.broker.coordinator.group.topics import TopicSource
from odradek.protocol.java_maps import HashTable, hash_of_number, hash_of_uuid, slots_to_hold

Assignable = Mapping[bytes, Set[int]]
"""The partitions that may be given out, by topic id."""
_Place = tuple[bytes, int]
"""A topic id and a partition."""

_INT = 0xFFFFFFFF


def assign(spec: GroupSpec, assignable: Assignable) -> dict[str, Partitions]:
    """The new target of each member. Raises KafkaError if a subscribed topic does not exist."""
    if not any(member.topic_ids for member in spec.members.values()):
        return dict.fromkeys(spec.members, NOTHING)
    holdings = {member_id: HeldPartitions(spec.present.of(member_id)) for member_id in spec.members}
    spread_out = _spread_as_one if spec.homogeneous else _spread_by_topic
    spread_out(spec, assignable, list(holdings.values()))
    return {member_id: holding.result() for member_id, holding in holdings.items()}


def _spread_as_one(spec: GroupSpec, assignable: Assignable, holdings: Sequence[HeldPartitions]) -> None:
    """Spread the partitions of all topics over all members."""
    topic_ids = next(iter(spec.members.values())).topic_ids
    offered = [(topic_id, index) for topic_id in topic_ids for index in _offered(spec, topic_id, assignable)]
    spread = Spread(_hash_of_place, offered, range(len(holdings)))
    subscribed = frozenset(topic_ids)
    for number, member_id in enumerate(spec.members):
        for topic_id, indexes in spec.present.of(member_id).items():
            if topic_id not in subscribed:
                holdings[number].drop(topic_id)
                continue
            for index in indexes:
                spread.hold(number, (topic_id, index))
    for number, (topic_id, index) in spread.losses():
        holdings[number].release(topic_id, index)
    for number, (topic_id, index) in spread.gains():
        holdings[number].add(topic_id, index)


def _spread_by_topic(spec: GroupSpec, assignable: Assignable, holdings: Sequence[HeldPartitions]) -> None:
    """Distribute each topic's partitions among its subscribers.

    As with Kafka, a member keeps a topic that has lost all subscribers in its target, until no topic has any
    subscriber.
    """
    subscribers: dict[bytes, list[int]] = {}
    for number, member in enumerate(spec.members.values()):
        for topic_id in member.topic_ids:
            subscribers.setdefault(topic_id, []).append(number)
    for topic_id in HashTable(hash_of_uuid, subscribers):
        spread = Spread(hash_of_number, _offered(spec, topic_id, assignable), subscribers[topic_id])
        for number, member_id in enumerate(spec.members):
            for index in spec.present.of(member_id).get(topic_id, ()):
                spread.hold(number, index)
        for number, index in spread.losses():
            holdings[number].release(topic_id, index)
        for number, index in spread.gains():
            holdings[number].add(topic_id, index)


def _offered(spec: GroupSpec, topic_id: bytes, assignable: Assignable) -> list[int]:
    """The partitions of a topic that may be given out."""
    may = assignable.get(topic_id, frozenset())
    return [index for index in range(partition_count(spec, topic_id)) if index in may]


def _hash_of_place(place: _Place) -> int:
    topic_id, index = place
    return (31 * hash_of_uuid(topic_id) + index) & _INT


class Spread:
    """Partitions, which are keys of any one type, and the numbers of the members that have them.

    In the end each of the `offered` partitions has as many members as it takes for everybody to have one, and each of
    the `subscribers` as many partitions as the others, give or take one. Tell first what is held, then ask for the
    losses, then for the gains. `hash_of`: the hash of a partition, by which Kafka's tables are walked.
    """

    def __init__(self, hash_of: Callable[[Any], int], offered: Sequence[Any], subscribers: Sequence[int]) -> None:
        self._hash_of = hash_of
        self._offered = offered
        self._sharing = -(-len(subscribers) // len(offered)) if offered else 0
        self._wanted = _parts(self._sharing * len(offered), subscribers)
        self._order = HashTable(hash_of, slots=slots_to_hold(len(offered) + 1))
        self._holders: dict[Any, set[int]] = {}
        self._arrived: dict[Any, list[int]] = {}
        self._held: dict[int, dict[Any, None]] = {member: {} for member in subscribers}

    def hold(self, member: int, partition: Any) -> None:
        """A member has a partition from before. Call it in the order of members, with their partitions as stored."""
        self._order.add_first(partition)
        self._give(member, partition)
        self._arrived.setdefault(partition, []).append(member)

    def losses(self) -> Iterator[tuple[int, Any]]:
        """Members and partitions that they give up, as they have too many, or the partition has too many members."""
        for member, held in self._held.items():
            excess = len(held) - self._wanted.get(member, 0)
            for partition in list(HashTable(self._hash_of, held))[:excess] if excess > 0 else ():
                yield self._take(member, partition)
        for partition, members in self._arrived.items():
            excess = len(self._holders[partition]) - self._sharing
            if excess > 0:
                present = [m for m in HashTable(hash_of_number, members) if m in self._holders[partition]]
                for member in present[:excess]:
                    yield self._take(member, partition)

    def gains(self) -> Iterator[tuple[int, Any]]:
        """Members and partitions that they get. Members that have too few take turns."""
        for partition in self._offered:
            self._order.add_first(partition)
        lacking = sorted(member for member, wanted in self._wanted.items() if len(self._held[member]) < wanted)
        turns, in_vain = iter(lacking), True
        for partition in self._order:
            holders = self._holders.setdefault(partition, set())
            while len(holders) < self._sharing:
                member = next(turns, -1)
                if member < 0 and in_vain:
                    break
                if member < 0:
                    lacking = [each for each in lacking if len(self._held[each]) < self._wanted[each]]
                    turns, in_vain = iter(lacking), True
                elif member not in holders:
                    in_vain = False
                    self._give(member, partition)
                    yield member, partition

    def _give(self, member: int, partition: Any) -> None:
        self._holders.setdefault(partition, set()).add(member)
        self._held.setdefault(member, {})[partition] = None

    def _take(self, member: int, partition: Any) -> tuple[int, Any]:
        self._holders[partition].discard(member)
        self._held[member].pop(partition, None)
        return member, partition


def _parts(total: int, members: Sequence[int]) -> dict[int, int]:
    """`total` in parts of whole numbers, the larger ones first."""
    each = total / len(members)
    return {member: ceil(each * (turn + 1)) - ceil(each * turn) for turn, member in enumerate(members)}


def group_spec(members: Mapping[str, ShareMember], target: TargetAssignment, topics: TopicSource) -> GroupSpec:
    """The group as it is going to be. ``members``: by id, in Kafka's order; topics that do not exist are left out."""
    counts: dict[bytes, int] = {}
    topic_ids: dict[frozenset[str], Sequence[bytes]] = {}
    for member in members.values():
        if member.topics not in topic_ids:
            topic_ids[member.topics] = subscribed_ids(sorted(member.topics), counts, topics)
    specs = {
        member_id: MemberSpec(None, topic_ids[member.topics], len(member.topics))
        for member_id, member in members.items()
    }
    return GroupSpec(specs, len(topic_ids) <= 1, counts, target)
