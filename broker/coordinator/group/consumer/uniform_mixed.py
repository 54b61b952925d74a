"""The assignor `uniform` for members that subscribe to different topics: keep, fill up, then balance topic by topic."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.coordinator.group.assignment import GroupSpec, Partitions, partition_count
from odradek.broker.coordinator.group.consumer.load_order import NOBODY, LoadOrder
from odradek.broker.coordinator.group.holding import Holding
from odradek.protocol.java_hash_table import slots_to_hold

_FREE = -1
_MOST_ROUNDS = 16
"""After so many rounds over all topics the balance is good enough: each about halves what is uneven."""


def assign_mixed(spec: GroupSpec) -> dict[str, Partitions]:
    """Nobody gets a topic that it does not subscribe to; subscribers of a topic end up about equally loaded."""
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
        self._held = [Holding(spec.present.of(member_id)) for member_id in self._member_ids]
        self._loads = [0] * len(self._member_ids)

    def result(self) -> dict[str, Partitions]:
        return {member_id: self._held[number].result() for number, member_id in enumerate(self._member_ids)}

    # -- the three steps

    def keep(self, spec: GroupSpec) -> None:
        """Everybody keeps what it had of topics that it still subscribes to."""
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
        """What nobody has goes to the least loaded subscribers, scarce topics first."""
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
