"""Partitions are spread evenly over those who want them, and move no more than they have to."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.coordinator.group.share.spread import Spread
from odradek.protocol.java_maps import hash_of_number

Held = dict[int, list[int]]


def spread(held: Held, subscribers: list[int], partitions: int) -> Held:
    """What members have after the spread."""
    after = {member: list(had) for member, had in held.items()}
    work = Spread(hash_of_number, range(partitions), subscribers)
    for member in sorted(held):
        for partition in held[member]:
            work.hold(member, partition)
    for member, partition in work.losses():
        after[member].remove(partition)
    for member, partition in work.gains():
        assert partition not in after.setdefault(member, [])
        after[member].append(partition)
    return after


def check_even(given: Held, subscribers: list[int], partitions: int) -> None:
    times = Counter(partition for member in subscribers for partition in given.get(member, ()))
    assert times == dict.fromkeys(range(partitions), -(-len(subscribers) // partitions))
    sizes = [len(given.get(member, ())) for member in subscribers]
    assert max(sizes) - min(sizes) <= 1


@given(members=st.integers(1, 12), later=st.integers(0, 12), partitions=st.integers(1, 12))
def test_members_come(members: int, later: int, partitions: int) -> None:
    first = spread({}, list(range(members)), partitions)
    check_even(first, list(range(members)), partitions)
    everybody = list(range(members + later))
    second = spread(first, everybody, partitions)
    check_even(second, everybody, partitions)
    assert spread(second, everybody, partitions) == second


@given(st.sets(st.integers(0, 9), min_size=1), st.integers(1, 12))
def test_who_does_not_subscribe_gives_up_all(gone: set[int], partitions: int) -> None:
    first = spread({}, list(range(10)), partitions)
    rest = [member for member in range(10) if member not in gone]
    if not rest:
        return
    after = spread(first, rest, partitions)
    assert not any(after.get(member) for member in gone)


def test_nothing_to_give() -> None:
    assert spread({}, [0, 1], 0) == {}


def test_a_partition_that_is_no_longer_offered_counts_as_what_its_member_has() -> None:
    assert spread({0: [0, 1]}, [0], 1) == {0: [1]}  # Kafka takes the first of the member's table
