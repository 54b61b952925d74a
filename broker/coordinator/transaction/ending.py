"""Transactions whose end is decided and not yet stored: which of their markers are missing.

Holds stop a coordinator in the middle of a transaction's end, so that tests can look at what is half done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

from odradek.broker.coordinator.transaction.states import ENDING, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    GoOn,
    HoldReached,
    MarkersWritten,
    TopicPartition,
    Transaction,
    WriteMarkers,
)
from odradek.broker.runtime.machine import Effect, Schedule
from odradek.protocol.native import mypyc_attr

PREPARED = frozenset(state.label for state in ENDING)
COMPLETED = frozenset({TransactionState.COMPLETE_COMMIT.label, TransactionState.COMPLETE_ABORT.label})
MARKER = "Marker:"


def marker_point(partition: TopicPartition) -> str:
    """The point before the marker of a partition is written: `Marker:topic-0`."""
    return f"{MARKER}{partition[0]}-{partition[1]}"


def check_point(at: str) -> None:
    """Raise ValueError unless `at` names a point where a transaction can be held."""
    topic, _, partition = at.removeprefix(MARKER).rpartition("-")
    if at in PREPARED or at in COMPLETED or (at.startswith(MARKER) and topic and partition.isdecimal()):
        return
    points = ", ".join(sorted(PREPARED | COMPLETED))
    raise ValueError(f"a transaction cannot be held at {at!r}: use {points} or {MARKER}topic-partition")


class Hold:
    """One transactional id, held at one point until `release`.

    `PrepareCommit` / `PrepareAbort`: the decision is stored, no marker is written yet. `Marker:topic-partition`:
    that partition does not get its marker, others do. `CompleteCommit` / `CompleteAbort`: all markers are written,
    but the coordinator does not know yet. `arrival` has a result once the transaction has come to the point.
    """

    __slots__ = ("_book", "arrival", "at", "transactional_id")

    def __init__(self, book: HoldBook, transactional_id: str, at: str) -> None:
        self._book = book
        self.transactional_id = transactional_id
        self.at = at
        self.arrival: Future[None] = Future()

    @property
    def reached(self) -> bool:
        """Whether the transaction has reached the point."""
        return self.arrival.done()

    def __repr__(self) -> str:
        return f"Hold({self.transactional_id!r}, at={self.at!r}, reached={self.reached})"

    def release(self) -> None:
        """Release the transaction. Idempotent."""
        self._book.release(self)


class HoldCopy(NamedTuple):
    """A hold, and whether it was reached when it was copied."""

    hold: Hold
    reached: bool


class HoldBook:
    """All holds of a cluster. It outlives the machines: a reloaded coordinator is held at the same points.

    `on_release(transactional_id)` is called when a hold that was reached is released.
    """

    __slots__ = ("_holds", "_on_release")

    def __init__(self, on_release: Callable[[str], None] | None = None) -> None:
        self._holds: dict[tuple[str, str], list[Hold]] = {}
        self._on_release = on_release

    def hold(self, transactional_id: str, at: str) -> Hold:
        """Hold the id at a point from now on; ValueError for an unknown point."""
        check_point(at)
        hold = Hold(self, transactional_id, at)
        self._holds.setdefault((transactional_id, at), []).append(hold)
        return hold

    def release(self, hold: Hold) -> None:
        place = hold.transactional_id, hold.at
        holds = self._holds.get(place, [])
        if hold not in holds:
            return
        holds.remove(hold)
        if not holds:
            del self._holds[place]
            if hold.reached and self._on_release is not None:
                self._on_release(hold.transactional_id)

    @property
    def any(self) -> bool:
        """Whether there are any holds."""
        return bool(self._holds)

    def stops(self, transactional_id: str, at: str) -> bool:
        """Whether the id must not pass the point now."""
        return (transactional_id, at) in self._holds

    def reached(self, transactional_id: str, at: str) -> None:
        """Notify the holds of an id that has reached the point."""
        for hold in self._holds.get((transactional_id, at), ()):
            if not hold.reached:
                hold.arrival.set_result(None)

    def copied(self) -> list[HoldCopy]:
        """The holds as they are now, for `go_on_with`."""
        return [HoldCopy(hold, hold.reached) for hold in self.active()]

    def go_on_with(self, copies: Iterable[HoldCopy]) -> None:
        """Restore the holds of an earlier time, and no others.

        The caller's holds stay the same objects; others are made again.
        """
        self._holds.clear()
        for other, reached in copies:
            hold = other if other._book is self else Hold(self, other.transactional_id, other.at)
            if hold.reached != reached:
                hold.arrival = Future()
                if reached:
                    hold.arrival.set_result(None)
            self._holds.setdefault((hold.transactional_id, hold.at), []).append(hold)

    def active(self) -> list[Hold]:
        """The holds that have not been released."""
        return [hold for holds in self._holds.values() for hold in holds]


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
        transactional_id = command.prepared.transactional_id
        ending = self._by_id.get(transactional_id)
        if ending is not None:
            ending.waiting.difference_update(command.partitions)
        return [retry(transactional_id)]

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
