"""The members of a group in the order in which Kafka hands them to an assignor, kept while they come and go.

Kafka walks the members of a group as its versioned hash table has them (`assignment.timeline_order`) and copies them
into a `HashMap`, which `assignment.member_order` computes from nothing. Here the sorted list is kept: another member
costs one search. Only a table that grows sorts all of them anew.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from odradek.broker.coordinator.group.assignment import timeline_bits, timeline_hash
from odradek.protocol.java_maps import hash_of_text, slots_of_map, spread
from odradek.protocol.native import mypyc_attr

_HASH_BITS: Final = 32
"""Of the 64 bits of the versioned table's hash: more than any table has slots for."""
_TURN_BITS: Final = 33
_TURNS: Final = (1 << _TURN_BITS) - 1


@mypyc_attr(allow_interpreted_subclasses=True)
class MemberOrder:
    """Owner: the group, which tells of members that come and go.

    `_hashes`: of each member its hashes for the two tables, and its turn: the latest has the smallest. `_places`, of
    the members in `_ids`: slot in the hash map, slot in the versioned table, and turn, as one number.
    """

    __slots__ = ("_bits", "_hashes", "_ids", "_places", "_slots", "_turn")

    def __init__(self) -> None:
        self._hashes: dict[str, tuple[int, int, int]] = {}
        self._turn = _TURNS
        self._bits = self._slots = 0
        self._places: list[int] = []
        self._ids: list[str] = []

    def add(self, member_id: str) -> None:
        """A member has come that was not there."""
        self._turn -= 1
        in_map, in_timeline = spread(hash_of_text(member_id)), timeline_hash(member_id) >> _HASH_BITS
        self._hashes[member_id] = in_map, in_timeline, self._turn
        if self._slots:
            place = self._place(member_id)
            at = bisect_left(self._places, place)
            self._places.insert(at, place)
            self._ids.insert(at, member_id)

    def remove(self, member_id: str) -> None:
        """A member is gone."""
        if self._slots:
            at = bisect_left(self._places, self._place(member_id))
            del self._places[at], self._ids[at]
        del self._hashes[member_id]

    def with_change(self, peak: int, more: str, without: str | None) -> list[str]:
        """See `member_order`: the members, with `more` if it is none of them yet, and not `without`."""
        joins = more not in self._hashes
        self._make_room(peak, len(self._hashes) + joins)
        ordered = self._ids.copy()
        if joins:
            next_slot = (spread(hash_of_text(more)) & (self._slots - 1)) + 1
            ordered.insert(bisect_left(self._places, next_slot << self._bits + _TURN_BITS), more)
        if without is not None:
            ordered.remove(without)
        return ordered

    def _make_room(self, peak: int, members: int) -> None:
        bits, slots = timeline_bits(peak), slots_of_map(members)
        if bits == self._bits and slots == self._slots:
            return
        self._bits, self._slots = bits, slots
        by_place = {self._place(member_id): member_id for member_id in self._hashes}
        self._places = sorted(by_place)
        self._ids = list(map(by_place.__getitem__, self._places))

    def _place(self, member_id: str) -> int:
        in_map, in_timeline, turn = self._hashes[member_id]
        slots = (in_map & (self._slots - 1)) << self._bits | in_timeline >> (_HASH_BITS - self._bits)
        return slots << _TURN_BITS | turn
