"""What holds the end of a transaction back, which markers are written next, and which are missing."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.ending import MARKER_RETRY_MS, Endings, HoldBook, marker_point
from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    EndTransaction,
    HoldReached,
    InitProducerId,
    MarkersWritten,
    Transaction,
    WriteMarkers,
)
from odradek.broker.runtime.machine import Effect, Schedule
from odradek.protocol.errors import ErrorCode
from tests.fakes.transactions import FakeTransactionCoordinator, Marker

S = TransactionState
A0, B0 = ("a", 0), ("b", 0)


@pytest.fixture
def coordinator() -> FakeTransactionCoordinator:
    return FakeTransactionCoordinator()


def test_held_before_the_markers(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "PrepareCommit")
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    assert not hold.reached
    coordinator.end(producer, True)
    assert hold.reached
    assert coordinator.markers == {}
    assert coordinator.state("t").state is S.PREPARE_COMMIT
    for command in (EndTransaction("t", *producer, True), InitProducerId("t", 1000)):
        assert coordinator.code_of(command) is ErrorCode.CONCURRENT_TRANSACTIONS
    hold.release()
    assert coordinator.state("t").state is S.COMPLETE_COMMIT
    assert coordinator.markers == {A0: [Marker(0, 0, True)], B0: [Marker(0, 0, True)]}


def test_half_written_markers(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "Marker:b-0")
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    coordinator.end(producer, True)
    assert coordinator.markers == {A0: [Marker(0, 0, True)]}
    assert coordinator.state("t").partitions == {B0}
    hold.release()
    assert coordinator.markers == {A0: [Marker(0, 0, True)], B0: [Marker(0, 0, True)]}
    assert coordinator.state("t").state is S.COMPLETE_COMMIT


def test_held_before_the_completion(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "CompleteAbort")
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.end(producer, False)
    assert coordinator.markers == {A0: [Marker(0, 0, False)]}
    assert coordinator.state("t").state is S.PREPARE_ABORT
    hold.release()
    assert coordinator.state("t").state is S.COMPLETE_ABORT
    assert coordinator.markers == {A0: [Marker(0, 0, False)]}


def test_a_hold_outlives_a_reload(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "PrepareCommit")
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.end(producer, True)
    coordinator.reload()
    assert coordinator.markers == {}
    hold.release()
    assert coordinator.markers == {A0: [Marker(0, 0, True)]}


def test_the_other_outcome_and_other_ids_are_not_held(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "PrepareCommit")
    producer = coordinator.begin("u")
    coordinator.add(producer, A0, transactional_id="u")
    coordinator.end(producer, True, transactional_id="u")
    producer = coordinator.begin("t")
    coordinator.add(producer, A0)
    coordinator.end(producer, False)
    assert not hold.reached
    assert coordinator.state("u").state is S.COMPLETE_COMMIT
    assert coordinator.state("t").state is S.COMPLETE_ABORT


def test_two_holds_at_one_point_both_have_to_go(coordinator: FakeTransactionCoordinator) -> None:
    holds = [coordinator.holds.hold("t", "PrepareCommit") for _ in range(2)]
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.end(producer, True)
    holds[0].release()
    holds[0].release()
    assert coordinator.state("t").state is S.PREPARE_COMMIT
    holds[1].release()
    assert coordinator.state("t").state is S.COMPLETE_COMMIT


def test_a_fencing_abort_can_be_held_too(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "PrepareAbort")
    coordinator.add(coordinator.begin(), A0)
    assert coordinator.init() is None
    assert coordinator.code_of(InitProducerId("t", 1000)) is ErrorCode.CONCURRENT_TRANSACTIONS
    hold.release()
    assert coordinator.init() == (0, 2)


@pytest.mark.parametrize("at", ["", "Ongoing", "prepareCommit", "Marker:", "Marker:a", "Marker:-1", "Marker:a-x"])
def test_unknown_points_are_refused(at: str) -> None:
    with pytest.raises(ValueError, match="cannot be held"):
        HoldBook().hold("t", at)


def test_points_of_topics_with_dashes_and_digits() -> None:
    book = HoldBook()
    hold = book.hold("t", "Marker:a-b-1-0")
    assert book.stops("t", marker_point(("a-b-1", 0)))
    assert not hold.reached
    book.reached("t", marker_point(("a-b-1", 0)))
    assert hold.reached
    assert book.active() == [hold]


A, B = ("a", 0), ("b", 1)
PREPARED = Transaction("t", 7, 1, 1000, TransactionState.PREPARE_COMMIT, frozenset({B, A}), 5, 6)


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
    assert (effect.prepared.producer, effect.prepared.commits, effect.partitions) == ((7, 1), True, [A, B])
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
    (effect,) = endings.store_later(MarkersWritten(PREPARED, [A]))
    assert isinstance(effect, Schedule)
    assert effect.after_ms == MARKER_RETRY_MS
    shown = endings.shown(PREPARED)
    assert shown.partitions == {B}
    assert shown == PREPARED.with_partitions(frozenset({B}))
