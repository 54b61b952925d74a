"""The `simple` assignor of share groups: members share partitions as evenly as whole partitions allow.

A partition is given to as many members as it takes for everybody to have one; nobody gets more than their part. What
members have already, they keep as far as that goes. Source: KIP-932 and the observed behaviour of Kafka 4.3.1, but for
the order within one round, which there is that of hash tables over random ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from odradek.broker.coordinator.group.assignment import Partitions

Place = tuple[bytes, int]


def assign(
    members: Mapping[str, Sequence[bytes]], current: Mapping[str, Partitions], assignable: Mapping[bytes, Iterable[int]]
) -> dict[str, Partitions]:
    """What each member is to have.

    ``members``: the topics each subscribes to; ``current``: what it was to have; ``assignable``: the partitions that
    may be given out, by topic.
    """
    topics = {frozenset(subscribed) for subscribed in members.values()}
    if len(topics) <= 1:
        places = [(topic, index) for topic in next(iter(topics), ()) for index in sorted(assignable.get(topic, ()))]
        return _as_partitions(members, _share(list(members), places, current))
    given: dict[str, list[Place]] = {member: [] for member in members}
    for topic in dict.fromkeys(topic for subscribed in members.values() for topic in subscribed):
        places = [(topic, index) for index in sorted(assignable.get(topic, ()))]
        subscribers = [member for member, subscribed in members.items() if topic in subscribed]
        for member, part in _share(subscribers, places, current).items():
            given[member] += part
    return _as_partitions(members, given)


def _share(
    members: Sequence[str], places: Sequence[Place], current: Mapping[str, Partitions]
) -> dict[str, list[Place]]:
    """Give each place to the same number of members, and members their parts of all that is to be given."""
    given: dict[str, list[Place]] = {member: [] for member in members}
    if not places:
        return given
    sharing = -(-len(members) // len(places))
    wanted = _parts(sharing * len(places), members)
    holders: dict[Place, int] = dict.fromkeys(places, 0)
    for member in members:
        for topic, indexes in current.get(member, {}).items():
            for index in indexes:
                place = (topic, index)
                if holders.get(place, sharing) < sharing and len(given[member]) < wanted[member]:
                    given[member].append(place)
                    holders[place] += 1
    _fill(given, wanted, holders, sharing)
    return given


def _parts(total: int, members: Sequence[str]) -> dict[str, int]:
    """``total`` in whole parts, the larger ones first."""
    count = len(members)
    ends = [-(-total * number // count) for number in range(count + 1)]
    return {member: ends[number + 1] - ends[number] for number, member in enumerate(members)}


def _fill(given: dict[str, list[Place]], wanted: Mapping[str, int], holders: dict[Place, int], sharing: int) -> None:
    """Give the places that have too few members to those who have too little, in turns."""
    unfilled = [member for member in given if len(given[member]) < wanted[member]]
    turn = 0
    for place in holders:
        tried = 0
        while holders[place] < sharing and unfilled and tried < len(unfilled):
            turn %= len(unfilled)
            member = unfilled[turn]
            if place in given[member]:
                turn += 1
                tried += 1
                continue
            given[member].append(place)
            holders[place] += 1
            tried = 0
            if len(given[member]) >= wanted[member]:
                unfilled.pop(turn)
            else:
                turn += 1


def _as_partitions(members: Iterable[str], given: Mapping[str, Sequence[Place]]) -> dict[str, Partitions]:
    result: dict[str, Partitions] = {}
    for member in members:
        by_topic: dict[bytes, list[int]] = {}
        for topic, index in given[member]:
            by_topic.setdefault(topic, []).append(index)
        result[member] = {topic: tuple(sorted(indexes)) for topic, indexes in by_topic.items()}
    return result
