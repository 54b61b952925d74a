"""The server-side assignors `uniform` and `range`, by the names that `group.consumer.assignors` and members use.

`uniform`: equal shares, few moves. Everybody keeps what it has up to its share; what is over, or nobody has, goes to
those with less, in order. `range` gives each subscriber of a topic a run of its partitions, in the order of member ids.
Static members come first, by their instance ids, so that topics with equally many partitions are divided in the same
way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice

from odradek.broker.coordinator.group.assignment import (
    NOTHING,
    Assignor,
    GroupSpec,
    HeldPartitions,
    MemberSpec,
    Partitions,
    grown_order,
    partition_count,
)
from odradek.protocol.java_maps import HashTable, hash_of_uuid, slots_of_copy, slots_to_hold

_Place = tuple[bytes, int]
_TOO_MANY = 1 << 62


def assign_evenly(spec: GroupSpec) -> dict[str, Partitions]:
    """Shares differ by one partition at most. Members that keep their target are not in the result."""
    first = next(iter(spec.members.values()))
    topics = _in_order(first)
    if not topics:
        return {member_id: {} for member_id in spec.members}
    free: list[_Place] = []
    total = 0
    for topic_id in topics:
        count = partition_count(spec, topic_id)
        total += count
        taken = spec.present.taken(topic_id)
        if len(taken) < count:  # a topic never shrinks
            free += [(topic_id, p) for p in sorted(set(range(count)).difference(taken))]
    result: dict[str, Partitions] = {}
    kept, wanting = _settle(spec, topics, total, free, result)
    rest = iter(free)
    for member_id, room in wanting:
        places = list(islice(rest, room))
        had = spec.present.of(member_id)
        if places and not had and (len(topics) == 1 or len(places) == 1):
            result[member_id] = {places[0][0]: grown_order([partition for _, partition in places])}
            continue
        holding = kept.get(member_id) or HeldPartitions(had)
        for topic_id, partition in places:
            holding.add(topic_id, partition)
        kept[member_id] = holding
    for member_id, holding in kept.items():
        result[member_id] = holding.result()
    return result


def _in_order(member: MemberSpec) -> Collection[bytes]:
    """The topics in the order of the set that Kafka makes of them."""
    if len(member.topic_ids) < 2:
        return member.topic_ids
    return dict.fromkeys(HashTable(hash_of_uuid, member.topic_ids, slots_of_copy(member.topic_count)))


def _settle(
    spec: GroupSpec, topics: Collection[bytes], total: int, free: list[_Place], touched: dict[str, Partitions]
) -> tuple[dict[str, HeldPartitions], list[tuple[str, int]]]:
    """Take from each member the partitions that it may not keep, and add them to ``free``.

    Returns the kept partitions of these members, and the number that each still gets. All of them, and who has no
    target yet, are put into ``touched``, in the members' order.

    The same share is for all, and one more for some of them (``extra``). A member that has not used its extra partition
    leaves it to a later member, while there are enough of those (``left``).
    """
    present = spec.present
    left = len(spec.members)
    share, extra = divmod(total, left)
    limit = share + 1 if extra else share
    sizes = _sizes(spec, topics)
    moved = _moved(spec, share, extra) if sizes is present.sizes else None
    if moved is not None:
        return _settle_few(spec, topics, share, moved, free, touched)
    changed: dict[str, HeldPartitions] = {}
    wanting: list[tuple[str, int]] = []
    for member_id in spec.members:
        left -= 1
        if member_id in sizes:
            size = sizes[member_id]
        else:
            size, touched[member_id] = 0, NOTHING
        if size != limit:
            if size == share and extra <= left:
                continue
            touched[member_id] = NOTHING
            room = limit - size
            if room < 0:
                changed[member_id], room = _cut(present.of(member_id), topics, limit, free)
            saves_extra = room > 0 and 0 < extra <= left
            if room > saves_extra:
                wanting.append((member_id, room - saves_extra))
            if saves_extra:
                continue
        if extra:
            extra -= 1
            if not extra:
                limit = share
    return changed, wanting


def _moved(spec: GroupSpec, share: int, extra: int) -> list[str] | None:
    """The members whose target changes if all have the share or one more, the usual case of a join; None in other
    cases.

    The last of those that are too many with one more give it up, and the newcomer gets the share. So most members are
    not looked at.
    """
    present, newcomer = spec.present, spec.newcomer
    sizes, by_size = present.sizes, present.members_by_size
    with_extra = by_size.get(share + 1, 0)
    is_level = by_size.get(share, 0) + with_extra == len(sizes)
    over = with_extra - extra
    if not is_level or over < 0 or len(sizes) + (newcomer is not None) != len(spec.members):
        return None
    moved: list[str] = []  # from the last to the first
    for member_id in reversed(spec.members):
        if not over:
            break
        try:
            size = sizes[member_id]
        except KeyError:
            if member_id != newcomer:  # a target without a member is replaced
                return None
            moved.append(member_id)
            continue
        if size > share:
            moved.append(member_id)
            over -= 1
    if newcomer is not None and newcomer not in moved:
        moved.append(newcomer)
    moved.reverse()
    return moved


def _settle_few(
    spec: GroupSpec,
    topics: Collection[bytes],
    share: int,
    moved: list[str],
    free: list[_Place],
    touched: dict[str, Partitions],
) -> tuple[dict[str, HeldPartitions], list[tuple[str, int]]]:
    """`_settle` for the usual case, in which it is known whose target changes."""
    changed: dict[str, HeldPartitions] = {}
    wanting: list[tuple[str, int]] = []
    for member_id in moved:
        touched[member_id] = NOTHING
        if member_id != spec.newcomer:
            changed[member_id], _ = _cut(spec.present.of(member_id), topics, share, free)
        elif share:
            wanting.append((member_id, share))
    return changed, wanting


def _sizes(spec: GroupSpec, topics: Collection[bytes]) -> dict[str, int]:
    """The number of partitions of each member with a target.

    It is more than allowed if the member has to give up a topic.
    """
    present = spec.present
    for topic_id in present.topic_ids:
        if topic_id not in topics:
            break
    else:
        return present.sizes
    return {
        member_id: size if all(topic_id in topics for topic_id in present.of(member_id)) else _TOO_MANY
        for member_id, size in present.sizes.items()
    }


def _cut(had: Partitions, topics: Collection[bytes], room: int, free: list[_Place]) -> tuple[HeldPartitions, int]:
    """Reduce a member to its share; returns the partitions that it keeps, and the room left. The others are added to
    ``free``.
    """
    if len(had) == 1:
        ((topic_id, partitions),) = had.items()
        if topic_id in topics and room:
            free += [(topic_id, partition) for partition in partitions[room:]]
            return HeldPartitions({topic_id: partitions[:room]}), 0
    holding = HeldPartitions(had)
    return holding, _keep(holding, had, topics, room, free)


def _keep(holding: HeldPartitions, had: Partitions, topics: Collection[bytes], room: int, free: list[_Place]) -> int:
    """Reduce a member to its share; returns the room left. The partitions that it loses are added to ``free``."""
    for topic_id, partitions in had.items():
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


_FREE = -1
_MOST_ROUNDS = 16
"""After this many rounds over all topics the balance is good enough: each round about halves the imbalance."""


def assign_mixed(spec: GroupSpec) -> dict[str, Partitions]:
    """No member gets a topic that it does not subscribe to. Subscribers of a topic end up about equally loaded."""
    plan = _Plan(spec)
    if not plan.subscribers:
        return {member_id: {} for member_id in spec.members}
    plan.keep(spec)
    plan.fill()
    plan.balance()
    return plan.result()


class _Plan:
    """The assignment in the making. Members are numbered in the order in which they are given."""

    def __init__(self, spec: GroupSpec) -> None:
        self._member_ids = list(spec.members)
        self.subscribers: dict[bytes, list[int]] = {}
        self._owners: dict[bytes, list[int]] = {}
        for number, member in enumerate(spec.members.values()):
            for topic_id in member.topic_ids:
                if topic_id not in self._owners:
                    self._owners[topic_id] = [_FREE] * partition_count(spec, topic_id)
                    self.subscribers[topic_id] = []
                self.subscribers[topic_id].append(number)
        self._held = [HeldPartitions(spec.present.of(member_id)) for member_id in self._member_ids]
        self._loads = [0] * len(self._member_ids)

    def result(self) -> dict[str, Partitions]:
        return {member_id: self._held[number].result() for number, member_id in enumerate(self._member_ids)}

    # -- the three steps

    def keep(self, spec: GroupSpec) -> None:
        """Keep the partitions of topics that their members still subscribe to."""
        for number, (member_id, member) in enumerate(spec.members.items()):
            subscribed = set(member.topic_ids)
            for topic_id, partitions in spec.present.of(member_id).items():
                if topic_id not in subscribed:
                    self._held[number].drop(topic_id)
                    continue
                self._loads[number] += len(partitions)
                owners = self._owners[topic_id]
                for partition in partitions:
                    owners[partition] = number

    def fill(self) -> None:
        """Give partitions without an owner to the least loaded subscribers, scarce topics first."""
        free = {
            topic_id: [partition for partition, owner in enumerate(owners) if owner == _FREE]
            for topic_id, owners in self._owners.items()
        }
        for topic_id in self._sorted(topic_id for topic_id, partitions in free.items() if partitions):
            order = LoadOrder(self._loads, self.subscribers[topic_id])
            for partition in free[topic_id]:
                self._give(topic_id, partition, order.next_least())

    def balance(self) -> None:
        """Move partitions from the most to the least loaded, until a round over all topics has moved nothing."""
        topics = self._sorted(topic_id for topic_id, members in self.subscribers.items() if len(members) > 1)
        last_moved: bytes | None = None
        for _ in range(_MOST_ROUNDS):
            for topic_id in topics:
                if topic_id == last_moved:
                    return
                if self._balance_topic(topic_id) or last_moved is None:
                    last_moved = topic_id

    # -- parts of them

    def _balance_topic(self, topic_id: bytes) -> bool:
        """Even out the load of a topic's subscribers with its partitions; tells whether any has moved."""
        order = LoadOrder(self._loads, self.subscribers[topic_id])
        if order.imbalance <= 1:
            return False
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(self._owners[topic_id]):
            held.setdefault(owner, []).append(partition)
        moved = False
        while True:
            giver = order.next_most()
            while giver != NOBODY and not held.get(giver):
                order.exclude_most()
                giver = order.next_most()
            if giver == NOBODY:
                break
            partition = held[giver].pop()
            taker = order.next_least()
            if order.is_balanced:
                break
            self._give(topic_id, partition, taker)
            moved = True
        return moved

    def _give(self, topic_id: bytes, partition: int, number: int) -> None:
        owners = self._owners[topic_id]
        before = owners[partition]
        if before != _FREE:
            self._held[before].remove(topic_id, partition)
            self._loads[before] -= 1
        share = -(-len(owners) // len(self.subscribers[topic_id]))
        self._held[number].add(topic_id, partition, slots_to_hold(share))
        self._loads[number] += 1
        owners[partition] = number

    def _sorted(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        """Topics with the most partitions for each subscriber first; then those with fewer subscribers."""

        def place(topic_id: bytes) -> tuple[float, int, int, int]:
            subscribers = len(self.subscribers[topic_id])
            high = int.from_bytes(topic_id[:8], "big", signed=True)
            low = int.from_bytes(topic_id[8:], "big", signed=True)
            return -(len(self._owners[topic_id]) / subscribers), subscribers, high, low

        return sorted(topic_ids, key=place)


NOBODY = -1


class LoadOrder:
    """The members of one topic, by how many partitions they have.

    At the lower end stands a range of members that are filled up together: each gets one partition, then the level
    rises, and members that have as many join the range. At the upper end stands its mirror image. ``loads`` is read
    while the caller changes it, as members are met for the first time.
    """

    def __init__(self, loads: Sequence[int], members: Iterable[int]) -> None:
        self._loads = loads
        self._members = sorted(members, key=lambda number: (loads[number], number))
        size = len(self._members)
        lowest, highest = loads[self._members[0]], loads[self._members[-1]]
        self.imbalance = highest - lowest
        self._least = self._least_end = 0
        self._least_level = lowest - 1
        self._most = size - 1
        self._most_start = self._most_end = size
        self._most_level = highest + 1

    @property
    def is_balanced(self) -> bool:
        """Whether the levels of both ranges differ by one at most."""
        return self._most_level - self._least_level <= 1

    def next_least(self) -> int:
        """The member that shall get the next partition."""
        if self._least >= self._least_end:
            self._least_level += 1
            while self._least_end < len(self._members) and self._load_at(self._least_end) == self._least_level:
                self._least_end += 1
            self._least = 0
        self._least += 1
        return self._members[self._least - 1]

    def next_most(self) -> int:
        """The member that shall lose the next partition, `NOBODY` when none is left."""
        if self._most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_level = self._load_at(self._most_start - 1)
            else:
                self._most_level -= 1
            while self._most_start > 0 and self._load_at(self._most_start - 1) == self._most_level:
                self._most_start -= 1
            self._most = self._most_end - 1
        if self._most < 0:
            return NOBODY
        self._most -= 1
        return self._members[self._most + 1]

    def exclude_most(self) -> None:
        """The member that `next_most` gave last has nothing to lose: leave it out from now on."""
        members = self._members
        place, last = self._most + 1, self._most_end - 1
        members[place], members[last] = members[last], members[place]
        self._most_end -= 1

    def _load_at(self, place: int) -> int:
        return self._loads[self._members[place]]


class _Cut:
    """A topic that is being cut into runs."""

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
