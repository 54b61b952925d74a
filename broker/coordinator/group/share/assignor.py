"""The `simple` assignor of share groups: members share partitions as evenly as whole partitions allow.

A partition goes to as many members as it takes for everybody to have one. Members keep what they have as far as that
goes. Who loses or gets a partition follows from the order in which Kafka walks its hash tables, so tables of the same
order are used here. Where all members subscribe to the same topics, all partitions are spread as one; else those of
each topic by themselves. Source: the observed behaviour of Kafka 4.3.1, told to ``tests/vectors``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from odradek.broker.coordinator.group.assignment import NOTHING, GroupSpec, Partitions, partition_count
from odradek.broker.coordinator.group.holding import Holding
from odradek.broker.coordinator.group.share.spread import Spread
from odradek.protocol.java_hash_table import HashTable
from odradek.protocol.java_maps import hash_of_number, hash_of_uuid

Assignable = Mapping[bytes, Set[int]]
"""The partitions that may be given out, by topic id."""
_Place = tuple[bytes, int]
"""A topic id and a partition."""

_INT = 0xFFFFFFFF


def assign(spec: GroupSpec, assignable: Assignable) -> dict[str, Partitions]:
    """What each member is to have. KafkaError if a subscribed topic has vanished."""
    if not any(member.topic_ids for member in spec.members.values()):
        return dict.fromkeys(spec.members, NOTHING)
    holdings = {member_id: Holding(spec.present.of(member_id)) for member_id in spec.members}
    spread_out = _spread_as_one if spec.homogeneous else _spread_by_topic
    spread_out(spec, assignable, list(holdings.values()))
    return {member_id: holding.result() for member_id, holding in holdings.items()}


def _spread_as_one(spec: GroupSpec, assignable: Assignable, holdings: Sequence[Holding]) -> None:
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


def _spread_by_topic(spec: GroupSpec, assignable: Assignable, holdings: Sequence[Holding]) -> None:
    """Spread each topic's partitions over those who subscribe to it.

    Whoever has a topic that nobody subscribes to any more keeps it in its target, as with Kafka, until nobody
    subscribes to any topic.
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
