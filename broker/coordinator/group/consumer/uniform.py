"""The assignor `uniform` for members that all subscribe to the same topics: equal shares, few moves.

Everybody keeps what it has up to its share; what is over, or nobody has, goes to those with less, in order.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from odradek.broker.coordinator.group.assignment import (
    NOTHING,
    GroupSpec,
    MemberSpec,
    Partitions,
    grown_order,
    partition_count,
)
from odradek.broker.coordinator.group.holding import Holding
from odradek.protocol.java_hash_table import HashTable, slots_of_copy
from odradek.protocol.java_maps import hash_of_uuid

_Place = tuple[bytes, int]
_TOO_MANY = 1 << 62


def assign_evenly(spec: GroupSpec) -> dict[str, Partitions]:
    """Shares differ by one partition at most. Whoever keeps the target that it has is not in the result."""
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
        holding = kept.get(member_id) or Holding(had)
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
) -> tuple[dict[str, Holding], list[tuple[str, int]]]:
    """Take from each member what it may not keep, which is added to ``free``.

    Returns what those keep, and who shall still get how many. All of them, and who has no target yet, are put into
    ``touched``, in the members' order.

    The same share is for all, and one more for some of them (``extra``). Who has not used its extra partition leaves
    it to a later member, while there are enough of those (``left``).
    """
    present = spec.present
    left = len(spec.members)
    share, extra = divmod(total, left)
    limit = share + 1 if extra else share
    sizes = _sizes(spec, topics)
    moved = _moved(spec, share, extra) if sizes is present.sizes else None
    if moved is not None:
        return _settle_few(spec, topics, share, moved, free, touched)
    changed: dict[str, Holding] = {}
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
    """Whose target changes where all have the share or one more: the usual case of a join. None where that is not so.

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
            if member_id != newcomer:  # there is a target of nobody in its place
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
) -> tuple[dict[str, Holding], list[tuple[str, int]]]:
    """`_settle` where it is known whose target changes."""
    changed: dict[str, Holding] = {}
    wanting: list[tuple[str, int]] = []
    for member_id in moved:
        touched[member_id] = NOTHING
        if member_id != spec.newcomer:
            changed[member_id], _ = _cut(spec.present.of(member_id), topics, share, free)
        elif share:
            wanting.append((member_id, share))
    return changed, wanting


def _sizes(spec: GroupSpec, topics: Collection[bytes]) -> dict[str, int]:
    """How many partitions each member has that has a target; more than it may have if it has to give up a topic."""
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


def _cut(had: Partitions, topics: Collection[bytes], room: int, free: list[_Place]) -> tuple[Holding, int]:
    """Reduce a member to its share; returns what it keeps, and the room left. What it loses is added to ``free``."""
    if len(had) == 1:
        ((topic_id, partitions),) = had.items()
        if topic_id in topics and room:
            free += [(topic_id, partition) for partition in partitions[room:]]
            return Holding({topic_id: partitions[:room]}), 0
    holding = Holding(had)
    return holding, _keep(holding, had, topics, room, free)


def _keep(holding: Holding, had: Partitions, topics: Collection[bytes], room: int, free: list[_Place]) -> int:
    """Reduce a member to its share; returns the room left. What it loses is added to ``free``."""
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
