"""Which members lose and which gain partitions of a share group, so that all have their part of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any

from odradek.protocol.java_hash_table import HashTable, slots_to_hold
from odradek.protocol.java_maps import hash_of_number


class Spread:
    """Partitions, which are keys of any one type, and the numbers of the members that have them.

    In the end each of the `offered` partitions has as many members as it takes for everybody to have one, and each of
    the `subscribers` as many partitions as the others, give or take one. Tell first what is held, then ask for the
    losses, then for the gains. `hash_of`: the hash of a partition, by which Kafka's tables are walked.
    """

    __slots__ = ("_arrived", "_hash_of", "_held", "_holders", "_offered", "_order", "_sharing", "_wanted")

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
        """A member has a partition from before. Members are told in order, their partitions as they are stored."""
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
