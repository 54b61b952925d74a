"""Appends that coordinators hold back until the answers of their turn leave, so that many of them are one batch.

A real Kafka gathers what its coordinators write likewise (`group.coordinator.append.linger.ms`). Here nothing is held
longer than the answers, and whoever looks at the log finds the records in it. What follows from an append that is done,
in Kafka, is never in one batch with it, so two appends of one request are not in one here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition


@final
class HeldAppends:
    """Whether appends may be held back now, and the partitions that they are for.

    Owner: the cluster. A poller begins a turn, counts its requests, writes before it sends answers, and ends the turn;
    outside of a turn nothing is held back. The partition itself sees to it that nobody finds its log without them
    (`Partition.held`).
    """

    __slots__ = ("_partitions", "in_turn", "request")

    def __init__(self) -> None:
        self.in_turn = False
        self.request = 0
        self._partitions: list[Partition] = []

    def begin_turn(self) -> None:
        """Requests follow one another from now on, and are answered later."""
        self.in_turn = True

    def note(self, partition: Partition) -> None:
        """Somebody holds back what belongs to a partition."""
        self._partitions.append(partition)

    def write(self) -> None:
        """Append all that is held back: answers are about to leave."""
        if self._partitions:
            partitions, self._partitions = self._partitions, []
            for partition in partitions:
                partition.write_held()

    def end_turn(self) -> None:
        """Nothing is held back from now on."""
        self.in_turn = False
        self.write()
