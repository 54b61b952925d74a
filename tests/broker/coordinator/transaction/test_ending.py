"""Which markers are written next, and which are missing."""

from __future__ import annotations

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.commands import HoldReached, MarkersWritten, WriteMarkers
from odradek.broker.coordinator.transaction.ending import MARKER_RETRY_MS, Endings
from odradek.broker.coordinator.transaction.holds import HoldBook
from odradek.broker.coordinator.transaction.states import TransactionState as S
from odradek.broker.coordinator.transaction.transaction import Transaction
from odradek.broker.runtime.machine import Effect, Schedule

A, B = ("a", 0), ("b", 1)
PREPARED = Transaction("t", 7, 1, 1000, S.PREPARE_COMMIT, frozenset({B, A}), 5, 6)


def shapes(effects: list[Effect]) -> list[object]:
    """Partitions that get markers; points where the transaction is held."""
    found: list[object] = []
    for effect in effects:
        if isinstance(effect, WriteMarkers):
            found.append(list(effect.partitions))
        else:
            assert isinstance(effect, HoldReached)
            found.append(effect.at)
    return found


def test_all_partitions_get_their_markers_in_order() -> None:
    endings = Endings(HoldBook())
    (effect,) = endings.begin(PREPARED, 10)
    assert isinstance(effect, WriteMarkers)
    assert (effect.producer_id, effect.producer_epoch, effect.commit, effect.partitions) == (7, 1, True, [A, B])
    assert "t" in endings
    assert endings.over("t") == ()
    assert "t" not in endings


def test_a_hold_keeps_some_markers_back() -> None:
    book = HoldBook()
    endings = Endings(book)
    hold = book.hold("t", "PrepareCommit")
    assert shapes(endings.begin(PREPARED, 10)) == ["PrepareCommit"]
    hold.release()
    hold = book.hold("t", "Marker:b-1")
    assert shapes(endings.advance(PREPARED)) == ["Marker:b-1", [A]]
    hold.release()
    assert shapes(endings.advance(PREPARED)) == [[A, B]]


def test_a_hold_keeps_the_end_back_when_no_marker_is_missing() -> None:
    book = HoldBook()
    endings = Endings(book)
    endings.begin(PREPARED, 10)
    done = decisions.complete(PREPARED, 10)
    assert endings.held_before(done) is None
    book.hold("t", "CompleteCommit")
    held = endings.held_before(done)
    assert isinstance(held, HoldReached)
    assert held.at == "CompleteCommit"
    assert shapes(endings.advance(PREPARED)) == [[]], "released, it goes on with no marker to write"


def test_what_is_missing_is_shown() -> None:
    endings = Endings(HoldBook())
    assert endings.shown(PREPARED) is PREPARED
    endings.begin(PREPARED, 10)
    (effect,) = endings.store_later(MarkersWritten("t", 7, 1, [A]))
    assert isinstance(effect, Schedule)
    assert effect.after_ms == MARKER_RETRY_MS
    shown = endings.shown(PREPARED)
    assert shown.partitions == {B}
    assert shown == PREPARED.with_partitions(frozenset({B}))
