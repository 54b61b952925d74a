"""The input and output of assignors (members, subscriptions, partitions by topic id), in the orders of Kafka's hash
tables.

Kafka iterates over a group's members in the order of its versioned hash table (`timeline_order`) and copies them into a
`HashMap`. `member_order` computes that order from scratch. `MemberOrder` keeps the sorted list while members join and
leave: another member costs one search, and only a table that grows is sorted again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeVar, final

from odradek.broker.coordinator.group.topics import TopicSource
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.java_maps import (
    CROWDED,
    DEFAULT_SLOTS,
    TREES_FROM,
    HashTable,
    hash_of_number,
    hash_of_text,
    hash_of_uuid,
    in_set_order,
    java_order,
    slots_for,
    slots_of_copy,
    slots_of_map,
    spread,
    timeline_bits,
    timeline_hash,
    timeline_order,
)
from odradek.protocol.native import mypyc_attr

Partitions = dict[bytes, tuple[int, ...]]
"""Partitions by topic id, in the order in which Kafka iterates over them."""

NOTHING: Final[Partitions] = {}

_SPREAD_FROM: Final = 1 << 16
"""Java mixes the upper half of a hash into the lower half, so a smaller number keeps its own slot."""


@final
@mypyc_attr(acyclic=True)
class MemberSpec:
    """A member as an assignor sees it.

    `topic_ids`: of the topics that it subscribes to and that exist, in Kafka's order. `topic_count`: how many names it
    subscribes to, those of missing topics included.
    """

    __slots__ = ("instance_id", "topic_count", "topic_ids")

    def __init__(self, instance_id: str | None, topic_ids: Sequence[bytes], topic_count: int) -> None:
        self.instance_id = instance_id
        self.topic_ids = topic_ids
        self.topic_count = topic_count


class MemberSpecs(Protocol):
    """The members of a group by id, in Kafka's order (see `member_order`)."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def __reversed__(self) -> Iterator[str]: ...

    def values(self) -> Iterable[MemberSpec]:
        """The members."""

    def items(self) -> Iterable[tuple[str, MemberSpec]]:
        """Ids and members."""


def subscribed_ids(names: Iterable[str], counts: dict[bytes, int], topics: TopicSource) -> list[bytes]:
    """The ids of the topics that exist, in Kafka's order. Their partition counts are put into `counts`."""
    topic_ids: list[bytes] = []
    for name in in_set_order(names):
        facts = topics.named(name)
        if facts is not None:
            topic_ids.append(facts.topic_id)
            counts[facts.topic_id] = facts.partitions
    return topic_ids


@final
class GroupSpec:
    """A group as an assignor sees it.

    `homogeneous`: all members subscribe to the same topics. `newcomer`: the member that joins and has no target yet.
    """

    def __init__(
        self,
        members: MemberSpecs,
        homogeneous: bool,
        partition_counts: Mapping[bytes, int],
        present: TargetAssignment,
        newcomer: str | None = None,
    ) -> None:
        self.members = members
        self.homogeneous = homogeneous
        self.partition_counts = partition_counts
        self.present = present
        self.newcomer = newcomer


Assignor = Callable[[GroupSpec], dict[str, Partitions]]
"""Assigns partitions to members. Raises `KafkaError` if it cannot.

The result has the members in the order given. It contains every member without a target, and may leave out members that
keep their target in the same order.
"""


def same_partitions(one: Partitions, other: Partitions) -> bool:
    """Whether both have the same partitions of the same topics, in any order."""
    if one is other or one == other:
        return True
    if len(one) != len(other):
        return False
    for topic_id, partitions in one.items():
        others = other.get(topic_id)
        if others is None or len(others) != len(partitions) or set(others) != set(partitions):
            return False
    return True


def stored_order(by_topic: Mapping[bytes, Sequence[int]]) -> Partitions:
    """A stored assignment, partitions by topic id, as Kafka walks it once it has read it."""
    if len(by_topic) < 2:
        return {topic_id: _in_set_order(partitions) for topic_id, partitions in by_topic.items()}
    return {topic_id: _in_set_order(by_topic[topic_id]) for topic_id in HashTable(hash_of_uuid, by_topic)}


def order_once_stored(assigned: Partitions) -> Partitions:
    """`stored_order` of an assignment that is about to be stored, in which no partition comes twice."""
    if len(assigned) == 1:
        for partitions in assigned.values():
            if len(partitions) < CROWDED and _is_by_slot(partitions):
                return assigned
    return stored_order(assigned)


def _is_by_slot(partitions: tuple[int, ...]) -> bool:
    """Whether a few distinct partitions are in the order of their slots in the smallest table."""
    last = 0
    for partition in partitions:
        slot = partition & (DEFAULT_SLOTS - 1)
        if slot < last or partition >= _SPREAD_FROM:
            return False
        last = slot
    return True


def _in_set_order(partitions: Sequence[int]) -> tuple[int, ...]:
    """Partitions in the order of `new HashSet<>(list)`."""
    size = len(partitions)
    if size < 2:
        return tuple(partitions)
    largest = max(partitions)
    slots = DEFAULT_SLOTS if size < CROWDED else slots_of_copy(size)
    roomy = size < CROWDED or slots >= TREES_FROM or largest < slots * (CROWDED - 1)
    if roomy and largest < _SPREAD_FROM and len(set(partitions)) == size:
        return tuple(sorted(partitions)) if largest < slots else _by_slot(partitions, slots)
    return tuple(HashTable(hash_of_number, partitions, slots))


def grown_order(partitions: Sequence[int]) -> tuple[int, ...]:
    """Distinct partitions in the order of a `HashSet` to which they were added one by one."""
    size = len(partitions)
    if size < 2:
        return tuple(partitions)
    largest = max(partitions)
    if size < CROWDED and largest < _SPREAD_FROM:
        return _by_slot(partitions, DEFAULT_SLOTS)
    slots = slots_of_map(size)
    if largest < slots and largest < _SPREAD_FROM:
        return tuple(sorted(partitions))  # each has a slot of its own, however the table has grown
    if largest < DEFAULT_SLOTS * (CROWDED - 1):
        return _by_slot(partitions, slots)  # no slot was ever crowded, so the table has grown as any does
    return tuple(HashTable(hash_of_number, partitions))


def _by_slot(partitions: Sequence[int], slots: int) -> tuple[int, ...]:
    """Partitions below 65,536, each once, by their slot; those of one slot in the order in which they are."""
    return tuple(sorted(partitions, key=(slots - 1).__and__))


def member_order(present: Sequence[str], peak: int, more: Iterable[str] = (), without: Iterable[str] = ()) -> list[str]:
    """Member ids as Kafka hands them to an assignor: those `present` in the group, then `more`, not `without`.

    For `present` and `peak` see `timeline_order`.
    """
    gone = set(without)
    ordered = java_order((*timeline_order(present, peak), *more), hash_of_text)
    return [member_id for member_id in ordered if member_id not in gone] if gone else ordered


def partition_count(spec: GroupSpec, topic_id: bytes) -> int:
    """The number of partitions of a subscribed topic. If the topic is missing, the assignor fails."""
    count = spec.partition_counts.get(topic_id)
    if count is None:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "a subscribed topic is missing in the topic metadata")
    return count


_HASH_BITS: Final = 32
"""Of the 64 bits of the versioned table's hash: more than any table has slots for."""
_TURN_BITS: Final = 33
_TURNS: Final = (1 << _TURN_BITS) - 1


@mypyc_attr(allow_interpreted_subclasses=True)
class MemberOrder:
    """Owner: the group, which reports members that join and leave.

    `_hashes`: each member's hashes for the two tables, and its turn: the latest member has the smallest. `_places`, for
    the members in `_ids`: slot in the hash map, slot in the versioned table and turn, as one number.
    """

    def __init__(self) -> None:
        self._hashes: dict[str, tuple[int, int, int]] = {}
        self._turn = _TURNS
        self._bits = self._slots = 0
        self._places: list[int] = []
        self._ids: list[str] = []

    def add(self, member_id: str) -> None:
        """Add a new member."""
        self._turn -= 1
        in_map, in_timeline = spread(hash_of_text(member_id)), timeline_hash(member_id) >> _HASH_BITS
        self._hashes[member_id] = in_map, in_timeline, self._turn
        if self._slots:
            place = self._place(member_id)
            at = bisect_left(self._places, place)
            self._places.insert(at, place)
            self._ids.insert(at, member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member."""
        if self._slots:
            at = bisect_left(self._places, self._place(member_id))
            del self._places[at], self._ids[at]
        del self._hashes[member_id]

    def with_change(self, peak: int, more: str, without: str | None, *, as_member: bool = False) -> list[str]:
        """See `member_order`: the members, with `more` if it is none of them yet, and not `without`.

        `as_member`: `more` is walked as a member of the group; else it comes last of its slot in the hash map.
        """
        joins = more not in self._hashes
        members = len(self._hashes) + joins
        self._make_room(max(peak, members) if as_member else peak, members)
        ordered = self._ids.copy()
        if joins:
            in_map = spread(hash_of_text(more))
            if as_member:
                place = self._placed(in_map, timeline_hash(more) >> _HASH_BITS, self._turn - 1)
            else:
                place = (in_map & (self._slots - 1)) + 1 << self._bits + _TURN_BITS
            ordered.insert(bisect_left(self._places, place), more)
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
        return self._placed(*self._hashes[member_id])

    def _placed(self, in_map: int, in_timeline: int, turn: int) -> int:
        slots = (in_map & (self._slots - 1)) << self._bits | in_timeline >> (_HASH_BITS - self._bits)
        return slots << _TURN_BITS | turn


class HeldPartitions:
    """A member's partitions. The first change copies them; without one the result is the given object."""

    __slots__ = ("_given", "_sets", "_topics")

    def __init__(self, given: Partitions) -> None:
        self._given = given
        self._topics: HashTable | None = None
        self._sets: dict[bytes, HashTable] = {}

    def add(self, topic_id: bytes, partition: int, slots: int = DEFAULT_SLOTS) -> None:
        """``slots``: of the set that the first partition of a topic opens."""
        self._copied().add_first(topic_id)
        if topic_id not in self._sets:
            self._sets[topic_id] = HashTable(hash_of_number, slots=slots)
        self._sets[topic_id].add(partition)

    def remove(self, topic_id: bytes, partition: int) -> None:
        """Give up one partition, and with the last one the topic."""
        self.release(topic_id, partition)
        if not self._sets[topic_id]:
            self.drop(topic_id)

    def release(self, topic_id: bytes, partition: int) -> None:
        """Give up one partition; the topic stays, even without partitions."""
        self._copied()
        self._sets[topic_id].discard(partition)

    def drop(self, topic_id: bytes) -> None:
        """Give up all partitions of a topic."""
        self._copied().discard(topic_id)
        self._sets.pop(topic_id, None)

    def result(self) -> Partitions:
        """The partitions, in Kafka's order."""
        if self._topics is None:
            return self._given
        return {topic_id: tuple(self._sets[topic_id]) for topic_id in self._topics}

    def _copied(self) -> HashTable:
        if self._topics is None:
            self._topics = HashTable(hash_of_uuid, self._given, slots_for(len(self._given)))
            for topic_id, partitions in self._given.items():
                self._sets[topic_id] = HashTable(hash_of_number, partitions, slots_of_copy(len(partitions)))
        return self._topics


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

    `by_member`: the target of each member that has one. `sizes`: how many partitions are in it. `members_by_size`: how
    many members have this many.
    """

    def __init__(self) -> None:
        self.by_member: dict[str, Partitions] = {}
        self._owners: dict[bytes, dict[int, str]] = {}
        self.sizes: dict[str, int] = {}
        self.members_by_size: dict[int, int] = {}
        self._holders: dict[bytes, int] = {}  # how many members have partitions of a topic

    @property
    def topic_ids(self) -> Collection[bytes]:
        """The topics of which any member has partitions."""
        return self._holders.keys()

    def of(self, member_id: str) -> Partitions:
        """The target of a member, empty if it has none."""
        return self.by_member.get(member_id, NOTHING)

    def taken(self, topic_id: bytes) -> Collection[int]:
        """The partitions of a topic that are in any member's target."""
        return self._owners.get(topic_id, ())

    def set(self, member_id: str, partitions: Partitions) -> None:
        """Set a member's target."""
        before = self.by_member.get(member_id, NOTHING)
        self.by_member[member_id] = partitions
        size = self._change(member_id, before, partitions)
        size_before = self.sizes.get(member_id)
        if size_before != size:
            self.sizes[member_id] = size
            self.members_by_size[size] = self.members_by_size.get(size, 0) + 1
            self._one_less(size_before)

    def remove(self, member_id: str) -> None:
        """Remove a member's target."""
        self._change(member_id, self.by_member.pop(member_id, NOTHING), NOTHING)
        self._one_less(self.sizes.pop(member_id, None))

    def inherited(self, old: str, new: str) -> TargetAssignment:
        """The same, with the target of one member given to another."""
        after = TargetAssignment()
        for member_id, partitions in self.by_member.items():
            if member_id not in (old, new):
                after.set(member_id, partitions)
        after.set(new, self.of(old))
        return after

    def _one_less(self, size: int | None) -> None:
        """A member with this many partitions has another number now, or has left."""
        if size is not None:
            members = self.members_by_size.pop(size) - 1
            if members:
                self.members_by_size[size] = members

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
