"""Transactions whose end is decided and not yet stored: which of their markers are missing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from odradek.broker.coordinator.transaction.commands import GoOn, HoldReached, MarkersWritten, WriteMarkers
from odradek.broker.coordinator.transaction.holds import HoldBook, marker_point
from odradek.broker.coordinator.transaction.transaction import TopicPartition, Transaction
from odradek.broker.runtime.machine import Effect, Schedule
from odradek.protocol.native import mypyc_attr

MARKER_RETRY_MS = 100
"""The wait before a partition that refused its marker is tried again."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Ending:
    """Soft state of a transaction whose end is decided: the time of the decision, and the partitions that still lack
    the marker.
    """

    __slots__ = ("decided_ms", "waiting")

    def __init__(self, decided_ms: int, waiting: set[TopicPartition]) -> None:
        self.decided_ms = decided_ms
        self.waiting = waiting


class Endings:
    """The transactions of one partition that are ending, by id. Owner: its machine.

    Soft state: a reload writes all markers again. A hold can stop a transaction before any marker and after the last.
    """

    __slots__ = ("_by_id", "_holds")

    def __init__(self, holds: HoldBook) -> None:
        self._by_id: dict[str, Ending] = {}
        self._holds = holds

    def __contains__(self, transactional_id: str) -> bool:
        return transactional_id in self._by_id

    def get(self, transactional_id: str) -> Ending | None:
        """The markers that an id's transaction still lacks."""
        return self._by_id.get(transactional_id)

    def begin(self, prepared: Transaction, now_ms: int) -> list[Effect]:
        """Begin to write the markers, once the decision is stored."""
        self._by_id[prepared.transactional_id] = Ending(now_ms, set(prepared.partitions))
        return self.advance(prepared)

    def advance(self, prepared: Transaction) -> list[Effect]:
        """Write the markers that are missing and not held. The effect is needed without any, too, because it leads to
        the end.
        """
        waiting = self._by_id[prepared.transactional_id].waiting
        if self._holds.any:
            return self._advance_held(prepared, waiting)
        return [WriteMarkers(prepared, sorted(waiting))]

    def _advance_held(self, prepared: Transaction, waiting: Collection[TopicPartition]) -> list[Effect]:
        transactional_id = prepared.transactional_id
        if self._holds.stops(transactional_id, prepared.state.label):
            return [HoldReached(transactional_id, prepared.state.label)]
        ready: list[TopicPartition] = []
        effects: list[Effect] = []
        for partition in sorted(waiting):
            point = marker_point(partition)
            if self._holds.stops(transactional_id, point):
                effects.append(HoldReached(transactional_id, point))
            else:
                ready.append(partition)
        if ready or not waiting:
            effects.append(WriteMarkers(prepared, ready))
        return effects

    def held_before(self, done: Transaction) -> Effect | None:
        """The effects of a hold that keeps the end from being stored after all markers are written.

        None without a hold.
        """
        if not self._holds.any or not self._holds.stops(done.transactional_id, done.state.label):
            return None
        self._by_id[done.transactional_id].waiting.clear()
        return HoldReached(done.transactional_id, done.state.label)

    def over(self, transactional_id: str) -> Sequence[Effect]:
        """Forget a transaction whose end is stored."""
        del self._by_id[transactional_id]
        return ()

    def store_later(self, command: MarkersWritten) -> list[Effect]:
        """Try again later to store the end, after the markers are written."""
        ending = self._by_id.get(command.transactional_id)
        if ending is not None:
            ending.waiting.difference_update(command.partitions)
        return [retry(command.transactional_id)]

    def shown(self, transaction: Transaction) -> Transaction:
        """The transaction as clients see it: while it ends, it has the partitions that lack the marker, as in Kafka."""
        ending = self._by_id.get(transaction.transactional_id)
        return transaction if ending is None else transaction.with_partitions(frozenset(ending.waiting))

    def snapshot(self) -> dict[str, Ending]:
        return self._by_id

    def restore(self, snapshot: dict[str, Ending]) -> None:
        self._by_id = snapshot


def retry(transactional_id: str) -> Effect:
    """Continue the end of a transaction in a moment."""
    return Schedule(("markers", transactional_id), MARKER_RETRY_MS, GoOn(transactional_id))
