"""Holds stop a coordinator in the middle of a transaction's end, so that tests can look at what is half done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import NamedTuple

from odradek.broker.coordinator.transaction.states import ENDING, TransactionState
from odradek.broker.coordinator.transaction.transaction import TopicPartition

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

    `held`: by id and point. `on_release(transactional_id)` is called when a hold that was reached is released.
    """

    def __init__(self, on_release: Callable[[str], None] | None = None) -> None:
        self.held: dict[tuple[str, str], list[Hold]] = {}
        self._on_release = on_release

    def hold(self, transactional_id: str, at: str) -> Hold:
        """Hold the id at a point from now on; ValueError for an unknown point."""
        check_point(at)
        hold = Hold(self, transactional_id, at)
        self.held.setdefault((transactional_id, at), []).append(hold)
        return hold

    def release(self, hold: Hold) -> None:
        place = hold.transactional_id, hold.at
        holds = self.held.get(place, [])
        if hold not in holds:
            return
        holds.remove(hold)
        if not holds:
            del self.held[place]
            if hold.reached and self._on_release is not None:
                self._on_release(hold.transactional_id)

    def stops(self, transactional_id: str, at: str) -> bool:
        """Whether the id, which has reached the point, must not pass it now. Its holds are notified."""
        holds = self.held.get((transactional_id, at), ())
        for hold in holds:
            if not hold.reached:
                hold.arrival.set_result(None)
        return bool(holds)

    def copied(self) -> list[HoldCopy]:
        """The holds as they are now, for `go_on_with`."""
        return [HoldCopy(hold, hold.reached) for hold in self.active()]

    def go_on_with(self, copies: Iterable[HoldCopy]) -> None:
        """Restore the holds of an earlier time, and no others.

        The caller's holds stay the same objects; others are made again.
        """
        self.held.clear()
        for other, reached in copies:
            hold = other if other._book is self else Hold(self, other.transactional_id, other.at)
            if hold.reached != reached:
                hold.arrival = Future()
                if reached:
                    hold.arrival.set_result(None)
            self.held.setdefault((hold.transactional_id, hold.at), []).append(hold)

    def active(self) -> list[Hold]:
        """The holds that have not been released."""
        return [hold for holds in self.held.values() for hold in holds]
