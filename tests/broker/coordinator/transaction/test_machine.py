"""The coordinator's answers, request by request, and the records that it leaves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from odradek.broker.coordinator.transaction.machine import TransactionMachine
from odradek.broker.coordinator.transaction.states import RULES, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    AbortTimedOut,
    AbortTransaction,
    AddPartitions,
    EndTransaction,
    ExpireIds,
    InitProducerId,
    ProducerIdentity,
    Transaction,
    VerifyPartitions,
    record_key,
    record_value,
)
from odradek.broker.runtime.machine import Effect, LogRecord, NewRecord, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.fakes.journal import FakeJournal
from tests.fakes.transactions import START_MS, FakeTransactionCoordinator, Marker

S = TransactionState
A0, A1, B0 = ("a", 0), ("a", 1), ("b", 0)


@pytest.fixture
def coordinator() -> FakeTransactionCoordinator:
    return FakeTransactionCoordinator()


def states(coordinator: FakeTransactionCoordinator, transactional_id: str = "t") -> list[TransactionState | None]:
    return [stored and stored.state for stored in coordinator.stored(transactional_id)]


def given(coordinator: FakeTransactionCoordinator, transaction: Transaction) -> None:
    """Start from a stored state."""
    journal = FakeJournal()
    journal.append([NewRecord(record_key(transaction.transactional_id), record_value(transaction, 2))], START_MS, None)
    coordinator.reload(journal)


# -- InitProducerId


def test_a_new_id_gets_a_new_producer(coordinator: FakeTransactionCoordinator) -> None:
    assert coordinator.init("t", 5000) == (0, 0)
    assert coordinator.init("u") == (1, 0)
    assert coordinator.stored("t") == [
        Transaction("t", 0, 0, 5000, last_update_ms=START_MS, previous_producer_id=0),
    ]


def test_each_new_producer_gets_the_next_epoch(coordinator: FakeTransactionCoordinator) -> None:
    assert [coordinator.init() for _ in range(3)] == [(0, 0), (0, 1), (0, 2)]


def test_the_older_producer_is_fenced(coordinator: FakeTransactionCoordinator) -> None:
    older = coordinator.begin()
    coordinator.begin()
    assert coordinator.code_of(AddPartitions("t", *older, [A0])) is ErrorCode.PRODUCER_FENCED
    assert coordinator.code_of(VerifyPartitions("t", *older, [A0])) is ErrorCode.PRODUCER_FENCED
    assert coordinator.code_of(EndTransaction("t", *older, True)) is ErrorCode.PRODUCER_FENCED
    assert coordinator.code_of(EndTransaction("t", *older, True, 2)) is ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize(
    ("transaction_version", "after_abort"),
    [(2, (0, 1)), (1, (0, 1)), (0, (0, 1))],
)
def test_an_open_transaction_is_aborted_first(
    coordinator: FakeTransactionCoordinator, transaction_version: int, after_abort: tuple[int, int]
) -> None:
    coordinator.transaction_version = transaction_version
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    assert coordinator.init() is None, "the producer must come back"
    aborted = coordinator.state("t")
    assert (aborted.state, aborted.producer_id, aborted.producer_epoch) == (S.COMPLETE_ABORT, *after_abort)
    assert coordinator.markers == {A0: [Marker(0, 1, False)]}
    assert coordinator.init() == (0, 2)


def test_a_producer_that_shows_its_identity_goes_on(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.begin()
    assert coordinator.init(expected=(0, 0)) == (0, 1)
    # the answer was lost: the same request gets the same answer (KIP-360)
    assert coordinator.init(expected=(0, 0)) == (0, 1)
    assert coordinator.init(expected=(0, 1)) == (0, 2)


def test_a_producer_that_shows_an_old_identity_is_fenced(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.begin()
    coordinator.begin()
    assert coordinator.code_of(InitProducerId("t", 1000, ProducerIdentity(0, 0))) is ErrorCode.PRODUCER_FENCED
    assert coordinator.code_of(InitProducerId("t", 1000, ProducerIdentity(99, 1))) is ErrorCode.PRODUCER_FENCED


def test_an_identity_shown_for_an_unknown_id_gets_a_new_producer(coordinator: FakeTransactionCoordinator) -> None:
    assert coordinator.init(expected=(77, 3)) == (0, 0)


def test_used_up_epochs_give_a_new_producer_id(coordinator: FakeTransactionCoordinator) -> None:
    given(coordinator, Transaction("t", 50, 32766, 1000, S.COMPLETE_COMMIT, last_update_ms=START_MS))
    assert coordinator.init() == (0, 0)
    assert coordinator.state("t").previous_producer_id == 50


def test_used_up_epochs_shown_with_an_older_one_are_an_unknown_server_error(
    coordinator: FakeTransactionCoordinator,
) -> None:
    given(coordinator, Transaction("t", 50, 32766, 1000, last_update_ms=START_MS, previous_producer_id=50))
    older = InitProducerId("t", 1000, ProducerIdentity(50, 1))
    assert coordinator.code_of(older) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_used_up_epochs_shown_give_a_new_producer_id_once(coordinator: FakeTransactionCoordinator) -> None:
    given(coordinator, Transaction("t", 50, 32766, 1000, last_update_ms=START_MS))
    assert coordinator.init(expected=(50, 32766)) == (0, 0)
    assert coordinator.init(expected=(50, 32766)) == (0, 0)
    stranger = InitProducerId("t", 1000, ProducerIdentity(5, 32766))
    assert coordinator.code_of(stranger) is ErrorCode.PRODUCER_FENCED


# -- AddPartitions, VerifyPartitions


def test_add_partitions_to_txn_adds_to_those_that_are_in(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.advance(1)
    coordinator.add(producer, A0)
    coordinator.advance(1)
    coordinator.add(producer, A0, B0)
    transaction = coordinator.state("t")
    assert transaction.partitions == {A0, B0}
    assert (transaction.start_ms, transaction.last_update_ms) == (START_MS + 1000, START_MS + 2000)


def test_partitions_that_are_in_already_are_not_stored_again(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0, A1)
    coordinator.add(producer, A1)
    assert states(coordinator) == [S.EMPTY, S.ONGOING]


def test_verify_tells_which_are_in(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    assert coordinator.verify(producer, A0) == {A0: ErrorCode.TRANSACTION_ABORTABLE}
    coordinator.add(producer, A0)
    assert coordinator.verify(producer, A0, A1) == {A0: ErrorCode.NONE, A1: ErrorCode.TRANSACTION_ABORTABLE}
    coordinator.end(producer, True)
    assert coordinator.verify(producer, A0) == {A0: ErrorCode.TRANSACTION_ABORTABLE}


@pytest.mark.parametrize(
    ("producer_id", "epoch", "code"),
    [(9, 0, ErrorCode.INVALID_PRODUCER_ID_MAPPING), (0, 1, ErrorCode.PRODUCER_FENCED)],
)
def test_transaction_requests_with_a_wrong_identity_are_refused(
    coordinator: FakeTransactionCoordinator, producer_id: int, epoch: int, code: ErrorCode
) -> None:
    coordinator.add(coordinator.begin(), A0)
    for command in (
        AddPartitions("t", producer_id, epoch, [A0]),
        VerifyPartitions("t", producer_id, epoch, [A0]),
        EndTransaction("t", producer_id, epoch, True),
        EndTransaction("t", producer_id, epoch + 1, False, 2),
    ):
        assert coordinator.code_of(command) is code, command


def test_transaction_requests_of_an_unknown_id_are_refused(coordinator: FakeTransactionCoordinator) -> None:
    for command in (
        AddPartitions("nobody", 0, 0, [A0]),
        VerifyPartitions("nobody", 0, 0, [A0]),
        EndTransaction("nobody", 0, 0, True),
        EndTransaction("nobody", 0, 0, True, 2),
    ):
        assert coordinator.code_of(command) is ErrorCode.INVALID_PRODUCER_ID_MAPPING


# -- EndTransaction


@pytest.mark.parametrize("commit", [True, False])
def test_version_1_keeps_the_epoch(coordinator: FakeTransactionCoordinator, commit: bool) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    assert coordinator.end(producer, commit) == producer
    decided, done = (S.PREPARE_COMMIT, S.COMPLETE_COMMIT) if commit else (S.PREPARE_ABORT, S.COMPLETE_ABORT)
    assert states(coordinator) == [S.EMPTY, S.ONGOING, decided, done]
    assert coordinator.markers == {A0: [Marker(0, 0, commit)], B0: [Marker(0, 0, commit)]}
    assert coordinator.state("t").partitions == frozenset()
    coordinator.add(producer, A0)


@pytest.mark.parametrize("commit", [True, False])
def test_version_2_bumps_the_epoch(coordinator: FakeTransactionCoordinator, commit: bool) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0, version=2)
    following = coordinator.end(producer, commit, version=2)
    assert following == (0, 1)
    assert coordinator.markers == {A0: [Marker(0, 1, commit)]}
    assert coordinator.end(producer, commit, version=2) == following, "a retry changes nothing"
    assert coordinator.code_of(AddPartitions("t", *producer, [A0], 2)) is ErrorCode.PRODUCER_FENCED
    coordinator.add(following, A0, version=2)


@pytest.mark.parametrize("commit", [True, False])
def test_version_1_retries_are_told_by_the_outcome(coordinator: FakeTransactionCoordinator, commit: bool) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.end(producer, commit)
    coordinator.end(producer, commit)
    other = EndTransaction("t", *producer, not commit)
    assert coordinator.code_of(other) is ErrorCode.INVALID_TXN_STATE
    assert len(coordinator.markers[A0]) == 1


def test_end_txn_of_version_1_without_a_transaction_is_refused(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    for commit in (True, False):
        assert coordinator.code_of(EndTransaction("t", *producer, commit)) is ErrorCode.INVALID_TXN_STATE


def test_version_2_may_abort_nothing(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    assert coordinator.code_of(EndTransaction("t", *producer, True, 2)) is ErrorCode.INVALID_TXN_STATE
    coordinator.advance(5)
    following = coordinator.end(producer, False, version=2)
    assert following == (0, 1)
    assert states(coordinator) == [S.EMPTY, S.PREPARE_ABORT, S.COMPLETE_ABORT]
    assert coordinator.state("t").start_ms == START_MS + 5000
    assert coordinator.end(following, False, version=2) == (0, 2), "the current epoch: another empty abort"
    assert coordinator.code_of(EndTransaction("t", 0, 1, True, 2)) is ErrorCode.INVALID_TXN_STATE
    assert coordinator.markers == {}


def test_version_2_takes_a_new_producer_id_when_the_epochs_are_used_up(
    coordinator: FakeTransactionCoordinator,
) -> None:
    given(
        coordinator,
        Transaction("t", 50, 32766, 60_000, S.ONGOING, frozenset({A0}), START_MS, START_MS, 50),
    )
    following = coordinator.end(ProducerIdentity(50, 32766), True, version=2)
    assert following == (0, 0)
    assert coordinator.markers == {A0: [Marker(50, 32767, True)]}
    assert coordinator.end(ProducerIdentity(50, 32766), True, version=2) == following, "a retry"
    prepared, done = coordinator.stored("t")[-2:]
    assert prepared is not None
    assert done is not None
    assert (prepared.producer_id, prepared.producer_epoch, prepared.next_producer_id) == (50, 32767, 0)
    assert (done.producer_id, done.previous_producer_id, done.next_producer_id) == (0, 50, -1)


def test_fencing_the_last_epoch_leaves_room(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.transaction_version = 1
    given(
        coordinator,
        Transaction("t", 50, 32766, 60_000, S.ONGOING, frozenset({A0}), START_MS, START_MS, 50),
    )
    assert coordinator.init() is None
    assert coordinator.markers == {A0: [Marker(50, 32767, False)]}
    assert coordinator.init() == (0, 0)


# -- markers


def test_a_marker_that_is_refused_is_tried_again(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    coordinator.broken = {A0}
    coordinator.end(producer, True)
    waiting = coordinator.state("t")
    assert (waiting.state, waiting.partitions) == (S.PREPARE_COMMIT, frozenset({A0}))
    for command in (
        InitProducerId("t", 1000),
        AddPartitions("t", *producer, [A0]),
        VerifyPartitions("t", *producer, [A0]),
        EndTransaction("t", *producer, True),
        EndTransaction("t", 99, 99, True, 2),
    ):
        assert coordinator.code_of(command) is ErrorCode.CONCURRENT_TRANSACTIONS, command
    coordinator.advance(1)
    assert coordinator.state("t").state is S.PREPARE_COMMIT
    coordinator.broken = set()
    coordinator.advance(1)
    assert coordinator.state("t").state is S.COMPLETE_COMMIT
    assert coordinator.markers == {A0: [Marker(0, 0, True)], B0: [Marker(0, 0, True)]}


def test_a_refused_decision_changes_nothing(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.journal.refuse = KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert coordinator.code_of(EndTransaction("t", *producer, True)) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    coordinator.journal.refuse = None
    assert coordinator.state("t").state is S.ONGOING
    coordinator.end(producer, True)
    assert coordinator.markers == {A0: [Marker(0, 0, True)]}


def test_a_completion_that_cannot_be_stored_is_tried_again(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    def refuse_after_prepare() -> None:
        coordinator.journal.refuse = error

    coordinator.journal.on_append = refuse_after_prepare
    coordinator.end(producer, True)
    coordinator.journal.on_append = None
    assert coordinator.state("t").state is S.PREPARE_COMMIT
    coordinator.journal.refuse = None
    coordinator.advance(1)
    assert coordinator.state("t").state is S.COMPLETE_COMMIT
    assert coordinator.markers == {A0: [Marker(0, 0, True)]}


# -- time


def test_a_transaction_that_is_open_for_too_long_is_aborted(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin(timeout_ms=30_000)
    coordinator.add(producer, A0)
    coordinator.advance(30)
    assert coordinator.state("t").state is S.ONGOING, "at its timeout, not past it"
    coordinator.advance(10)
    assert coordinator.state("t").state is S.COMPLETE_ABORT
    assert coordinator.markers == {A0: [Marker(0, 1, False)]}
    assert coordinator.code_of(EndTransaction("t", *producer, True)) is ErrorCode.PRODUCER_FENCED
    assert coordinator.init(expected=(0, 1)) == (0, 2)


def test_a_commit_that_comes_too_late_for_version_2(coordinator: FakeTransactionCoordinator) -> None:
    """A Kafka 4.3.1 and a 4.4.0 answered so in 8,551 races with the abort, and never PRODUCER_FENCED (KAFKA-20785)."""
    producer = coordinator.begin(timeout_ms=30_000)
    coordinator.add(producer, A0, version=2)
    coordinator.broken = {A0}
    coordinator.advance(40)
    commit = EndTransaction("t", *producer, True, 2)
    assert coordinator.state("t").state is S.PREPARE_ABORT
    assert coordinator.code_of(commit) is ErrorCode.CONCURRENT_TRANSACTIONS
    coordinator.broken = set()
    coordinator.advance(1)
    assert coordinator.state("t").state is S.COMPLETE_ABORT
    assert coordinator.code_of(commit) is ErrorCode.INVALID_TXN_STATE


def test_each_transaction_has_its_own_timeout(coordinator: FakeTransactionCoordinator) -> None:
    for name, timeout_ms in (("short", 5_000), ("long", 500_000)):
        coordinator.add(coordinator.begin(name, timeout_ms), A0, transactional_id=name)
    coordinator.advance(60)
    assert coordinator.state("short").state is S.COMPLETE_ABORT
    assert coordinator.state("long").state is S.ONGOING
    coordinator.advance(500)
    assert coordinator.state("long").state is S.COMPLETE_ABORT


def test_an_id_that_nobody_uses_is_forgotten(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.begin("idle")
    coordinator.add(coordinator.begin("open", 2_000_000_000), A0, transactional_id="open")
    coordinator.advance(6 * 24 * 3600)
    coordinator.begin("used")
    coordinator.advance(24 * 3600 + 3600)
    assert set(coordinator.machine.transactions) == {"open", "used"}
    assert coordinator.stored("idle")[-1] is None
    assert coordinator.init("idle") == (3, 0), "known no more, so it gets a new producer id"


def test_timers_rest_while_there_is_nothing_to_do(coordinator: FakeTransactionCoordinator) -> None:
    assert len(coordinator.shard.timers) == 0
    producer = coordinator.begin()
    coordinator.add(producer, A0)
    coordinator.end(producer, True)
    coordinator.advance(3600)
    assert "abort" not in coordinator.shard.timers
    coordinator.advance(8 * 24 * 3600)
    coordinator.advance(3600)
    assert len(coordinator.shard.timers) == 0


# -- reload


def test_a_reload_goes_on_writing_markers(coordinator: FakeTransactionCoordinator) -> None:
    producer = coordinator.begin()
    coordinator.add(producer, A0, B0)
    coordinator.broken = {A0, B0}
    coordinator.end(producer, True)
    coordinator.broken = set()
    coordinator.reload()
    assert coordinator.state("t").state is S.COMPLETE_COMMIT
    assert coordinator.markers == {A0: [Marker(0, 0, True)], B0: [Marker(0, 0, True)]}


def test_a_reload_times_out_open_transactions(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.add(coordinator.begin(timeout_ms=1000), A0)
    coordinator.reload()
    coordinator.advance(11)
    assert coordinator.state("t").state is S.COMPLETE_ABORT


WEEK_MS = 7 * 24 * 3600 * 1000


def known(*transactions: Transaction) -> TransactionMachine:
    """A machine that has loaded these."""
    machine = FakeTransactionCoordinator().machine
    for each in transactions:
        key, value = record_key(each.transactional_id), record_value(each, 2)
        machine.replay(LogRecord(key, value, 0, -1, -1, each))
    return machine


def keys(effects: Sequence[Effect]) -> list[object]:
    assert all(isinstance(effect, Schedule) for effect in effects)
    return [effect.key for effect in effects if isinstance(effect, Schedule)]


def test_timers_are_set_once_while_there_is_something_to_look_after() -> None:
    machine = known()
    assert machine.on_loaded(0) == []
    machine = known(Transaction("a", 1, 0, 1000))
    assert keys(machine.on_loaded(0)) == ["expire"]
    machine = known(Transaction("b", 2, 0, 1000, S.ONGOING, start_ms=0))
    assert keys(machine.on_loaded(0)) == ["abort", "expire"]
    assert machine.on_loaded(0) == []


def test_a_timer_aborts_what_was_open_for_too_long() -> None:
    late = Transaction("late", 1, 0, 1000, S.ONGOING, start_ms=0)
    machine = known(
        late,
        Transaction("in time", 2, 0, 5000, S.ONGOING, start_ms=0),
        Transaction("unsettled", 3, 0, 1000, S.ONGOING, start_ms=0),
        Transaction("at rest", 4, 0, 1000),
    )
    machine.unsettled.add("unsettled")
    abort, expire, found = machine.decide(AbortTimedOut(), 1001).effects
    assert keys([abort, expire, found]) == ["abort", "expire", ("abort", "late")]
    assert isinstance(found, Schedule)
    assert isinstance(found.command, AbortTransaction)
    assert found.command.expected is late
    again = Transaction("late", 1, 0, 1000, S.ONGOING, start_ms=900)
    outcome = known(again).decide(AbortTransaction(late), 1001)
    assert outcome.records == (), f"that is over, this is another one: {again}"


def test_ids_expire_where_nothing_is_open() -> None:
    machine = known(
        Transaction("old", 1, 0, 1000, last_update_ms=0),
        Transaction("used", 2, 0, 1000, last_update_ms=1),
        Transaction("open", 3, 0, 1000, S.ONGOING, start_ms=0, last_update_ms=0),
        Transaction("unsettled", 4, 0, 1000, last_update_ms=0),
    )
    machine.unsettled.add("unsettled")
    assert machine.decide(ExpireIds(), WEEK_MS).records == [NewRecord(record_key("old"))]


# -- what records say


EMPTY = Transaction("t", 7, 0, 1000)


@pytest.mark.parametrize("decoded", [False, True])
def test_an_id_is_what_its_last_record_says(decoded: bool) -> None:
    ongoing = Transaction("t", 7, 0, 1000, S.ONGOING, frozenset({A0}), 5, 5)
    machine = known()
    for new, is_open in ((EMPTY, False), (ongoing, True)):
        machine.replay(LogRecord(record_key("t"), record_value(new, 2), 0, -1, -1, new if decoded else None))
        assert machine.transactions["t"] == new
        assert ("t" in machine.open) is is_open
    machine.replay(LogRecord(record_key("t"), None, 0, -1, -1))
    assert (machine.transactions, machine.open) == ({}, set())


def test_transaction_record_before_version_1_is_decoded_again(coordinator: FakeTransactionCoordinator) -> None:
    coordinator.transaction_version = 0
    (record,) = coordinator.machine.decide(InitProducerId("t", 1000), 0).records
    assert record.decoded is None


def test_a_way_that_the_table_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, S.EMPTY, RULES[S.EMPTY]._replace(transitions=frozenset()))
    with pytest.raises(RuntimeError, match="t: no way from Empty to Ongoing"):
        known(EMPTY).decide(AddPartitions("t", 7, 0, [A0]), 0)


def test_an_id_whose_state_is_not_committed_waits() -> None:
    machine = known(EMPTY)
    machine.unsettled.add("t")
    with pytest.raises(KafkaError) as caught:
        machine.decide(AddPartitions("t", 7, 0, [A0]), 0)
    assert caught.value.code is ErrorCode.CONCURRENT_TRANSACTIONS
