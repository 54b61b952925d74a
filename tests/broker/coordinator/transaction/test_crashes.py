"""The coordinator dies after each record that it writes; a client that repeats its last request gets through.

What a client was not told it asks again, with the same arguments. None of these requests may be refused for good, be it
by a coordinator that has the records of the request, by one that has some of them, or by one that has none.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.coordinator.transaction.transaction import EndTransaction, ProducerIdentity
from odradek.protocol.errors import ErrorCode
from tests.fakes.journal import FakeJournal
from tests.fakes.transactions import FakeTransactionCoordinator

A0, B0 = ("a", 0), ("b", 0)

Request = Callable[[FakeTransactionCoordinator, ProducerIdentity], ProducerIdentity]


def session(version: int, outcomes: list[bool]) -> list[Request]:
    """The requests of one producer: transactions over two partitions, ended as told."""

    def add(place: tuple[str, int]) -> Request:
        def ask(coordinator: FakeTransactionCoordinator, producer: ProducerIdentity) -> ProducerIdentity:
            coordinator.add(producer, place, version=version)
            return producer

        return ask

    def end(commit: bool) -> Request:
        def ask(coordinator: FakeTransactionCoordinator, producer: ProducerIdentity) -> ProducerIdentity:
            following = coordinator.end(producer, commit, version=version)
            return following if version == 2 else producer

        return ask

    return [request for commit in outcomes for request in (add(A0), add(B0), end(commit))]


def survivor(journal: FakeJournal, batches: int, compacted: bool) -> FakeJournal:
    """What is left of a log after a death: its first batches."""
    left = FakeJournal()
    left.batches = journal.batches[:batches]
    left.end_offset = left.batches[-1].next_offset
    return left.compacted() if compacted else left


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("outcomes", [[True, True], [False, True], [True, False], [False, False]])
def test_a_repeated_request_gets_through(version: int, outcomes: list[bool], compacted: bool) -> None:
    requests = session(version, outcomes)
    for number, request in enumerate(requests):
        died_at = 0
        while True:
            coordinator = FakeTransactionCoordinator()
            producer = coordinator.begin()
            for earlier in requests[:number]:
                producer = earlier(coordinator, producer)
            known = len(coordinator.journal.batches)
            request(coordinator, producer)
            written = len(coordinator.journal.batches) - known
            coordinator.reload(survivor(coordinator.journal, known + died_at, compacted))
            for repeated in requests[number:]:
                producer = repeated(coordinator, producer)
            check_end(coordinator, version, outcomes)
            died_at += 1
            if died_at > written:
                break


def check_end(coordinator: FakeTransactionCoordinator, version: int, outcomes: list[bool]) -> None:
    """All transactions have ended as told; a partition may have got a marker again, but never the other one."""
    last = coordinator.state("t")
    assert last.state.label == ("CompleteCommit" if outcomes[-1] else "CompleteAbort")
    assert last.producer_epoch == (len(outcomes) if version == 2 else 0)
    for markers in coordinator.markers.values():
        if version == 2:
            epochs = [marker.producer_epoch for marker in markers]
            assert epochs == sorted(epochs)
            ended = {marker.producer_epoch: marker.commit for marker in markers}
            assert ended == {number + 1: commit for number, commit in enumerate(outcomes)}
            assert all(ended[marker.producer_epoch] == marker.commit for marker in markers)
        else:
            assert markers[0].commit == outcomes[0]
            assert markers[-1].commit == outcomes[-1]


@pytest.mark.parametrize(("version", "code"), [(0, ErrorCode.INVALID_TXN_STATE), (2, ErrorCode.NONE)])
def test_an_abort_of_what_the_broker_never_got(version: int, code: ErrorCode) -> None:
    """AddPartitions died with the broker and the client aborts: only KIP-890 allows that, in Kafka as here."""
    coordinator = FakeTransactionCoordinator()
    producer = coordinator.begin()
    coordinator.add(producer, A0, version=version)
    producer = coordinator.end(producer, True, version=version)
    coordinator.reload()
    assert coordinator.code_of(EndTransaction("t", *producer, False, version)) is code
