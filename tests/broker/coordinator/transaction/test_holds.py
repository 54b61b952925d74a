"""Holds: where the end of a transaction stops, and what is done and missing then."""

from __future__ import annotations

import pytest

from odradek.broker.coordinator.transaction.holds import HoldBook, marker_point
from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import EndTransaction, InitProducerId
from odradek.protocol.errors import ErrorCode
from tests.fakes.transactions import FakeTransactionCoordinator, Marker

S = TransactionState
A0, B0 = ("a", 0), ("b", 0)


@pytest.fixture
def coordinator() -> FakeTransactionCoordinator:
    return FakeTransactionCoordinator()


def test_hold_before_the_markers_keeps_a_transaction_prepared(coordinator: FakeTransactionCoordinator) -> None:
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


def test_hold_at_a_marker_keeps_that_marker_back(coordinator: FakeTransactionCoordinator) -> None:
    hold = coordinator.holds.hold("t", "Marker:b-0")
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    coordinator.end(producer, True)
    assert coordinator.markers == {A0: [Marker(0, 0, True)]}
    assert coordinator.state("t").partitions == {B0}
    hold.release()
    assert coordinator.markers == {A0: [Marker(0, 0, True)], B0: [Marker(0, 0, True)]}
    assert coordinator.state("t").state is S.COMPLETE_COMMIT


def test_hold_before_the_completion_keeps_a_transaction_prepared(coordinator: FakeTransactionCoordinator) -> None:
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
def test_hold_at_an_unknown_point_is_refused(at: str) -> None:
    with pytest.raises(ValueError, match="cannot be held"):
        HoldBook().hold("t", at)


def test_points_of_topics_with_dashes_and_digits() -> None:
    book = HoldBook()
    hold = book.hold("t", "Marker:a-b-1-0")
    assert not book.stops("t", marker_point(("a-b", 1)))
    assert not hold.reached
    assert book.stops("t", marker_point(("a-b-1", 0)))
    assert hold.reached
    assert book.active() == [hold]


def test_holds_of_an_earlier_time_come_back() -> None:
    book = HoldBook()
    kept, reached = book.hold("t", "PrepareCommit"), book.hold("u", "PrepareAbort")
    book.stops("u", "PrepareAbort")
    copies = book.copied()
    book.stops("t", "PrepareCommit")
    later = book.hold("v", "PrepareCommit")
    reached.release()
    book.go_on_with(copies)
    assert book.active() == [kept, reached]
    assert (kept.reached, reached.reached, later in book.active()) == (False, True, False)
    other = HoldBook()
    other.go_on_with(copies)
    assert [(each.transactional_id, each.at, each.reached) for each in other.active()] == [
        ("t", "PrepareCommit", False),
        ("u", "PrepareAbort", True),
    ]
    assert not set(other.active()) & {kept, reached}
    assert (bool(other.held), bool(HoldBook().held)) == (True, False)


def test_who_is_released_is_told_if_it_was_held() -> None:
    told: list[str] = []
    book = HoldBook(told.append)
    never = book.hold("t", "PrepareCommit")
    never.release()
    assert told == []
    for _ in range(2):
        book.hold("u", "PrepareCommit")
    assert book.stops("u", "PrepareCommit")
    for hold in book.active():
        hold.release()
    assert told == ["u"]
