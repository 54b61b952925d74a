"""The next state of a transactional id, from one state and one request: KIP-98, KIP-360, KIP-890."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.states import EndAction, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    LAST_USABLE_EPOCH,
    MAX_EPOCH,
    AddPartitions,
    EndTransaction,
    InitProducerId,
    ProducerIdentity,
    Transaction,
    VerifyPartitions,
)
from odradek.protocol.errors import ErrorCode, KafkaError

S = TransactionState
E = ErrorCode
PLACE = ("t", 0)


def transaction(state: TransactionState = S.EMPTY, epoch: int = 3, **fields: Any) -> Transaction:
    return Transaction("tx", 7, epoch, 60_000, state, **{"previous_producer_id": 7} | fields)


def ids() -> Callable[[], int]:
    numbers = count(100)
    return lambda: next(numbers)


def code_of(action: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        action()
    return caught.value.code


def init(expected: tuple[int, int] | None = None) -> InitProducerId:
    return InitProducerId("tx", 5_000, None if expected is None else ProducerIdentity(*expected))


# -- InitProducerId


def test_a_new_id() -> None:
    new, last = decisions.take_over(None, -1, init(), ids(), 9)
    assert (new.producer_id, new.producer_epoch, new.timeout_ms, new.last_update_ms, last) == (100, 0, 5_000, 9, -1)


@pytest.mark.parametrize(
    ("shown", "last_epoch", "epoch", "then_last"),
    [(None, 2, 4, -1), ((7, 3), -1, 4, 3), ((7, 2), 2, 3, 2)],
    ids=["a new producer", "the present one", "one whose answer was lost"],
)
def test_the_next_epoch(shown: tuple[int, int] | None, last_epoch: int, epoch: int, then_last: int) -> None:
    new, last = decisions.take_over(transaction(), last_epoch, init(shown), ids(), 0)
    assert (new.producer_id, new.producer_epoch, new.state, last) == (7, epoch, S.EMPTY, then_last)


def test_an_epoch_that_was_never_given_out_last_is_fenced() -> None:
    assert code_of(lambda: decisions.take_over(transaction(), 2, init((7, 1)), ids(), 0)) is E.PRODUCER_FENCED


def test_used_up_epochs_give_a_new_producer_id() -> None:
    old = transaction(epoch=LAST_USABLE_EPOCH)
    new, last = decisions.take_over(old, -1, init(), ids(), 0)
    assert (new.producer_id, new.producer_epoch, new.previous_producer_id, last) == (100, 0, 7, -1)
    assert code_of(lambda: decisions.take_over(old, -1, init((7, 1)), ids(), 0)) is E.UNKNOWN_SERVER_ERROR


def test_init_producer_id_continues_the_producers_own_id() -> None:
    decisions.check_continuation(transaction(), None)
    decisions.check_continuation(transaction(), ProducerIdentity(7, 0))
    rotated = transaction(previous_producer_id=6)
    decisions.check_continuation(rotated, ProducerIdentity(6, LAST_USABLE_EPOCH))
    assert code_of(lambda: decisions.check_continuation(rotated, ProducerIdentity(6, 1))) is E.PRODUCER_FENCED
    assert code_of(lambda: decisions.check_continuation(rotated, ProducerIdentity(5, 1))) is E.PRODUCER_FENCED


# -- partitions


def add(epoch: int = 3, producer_id: int = 7) -> AddPartitions:
    return AddPartitions("tx", producer_id, epoch, [PLACE])


def test_the_first_partition_begins_the_transaction() -> None:
    new = decisions.add_partitions(transaction(), add(), 50)
    assert new is not None
    assert (new.state, new.partitions, new.start_ms) == (S.ONGOING, frozenset({PLACE}), 50)
    more = decisions.add_partitions(new, AddPartitions("tx", 7, 3, [("u", 1)]), 60)
    assert more is not None
    assert (more.partitions, more.start_ms) == (frozenset({PLACE, ("u", 1)}), 50)
    assert decisions.add_partitions(more, add(), 70) is None


def test_add_partitions_to_txn_is_refused_to_a_wrong_producer() -> None:
    assert code_of(lambda: decisions.add_partitions(transaction(), add(epoch=2), 0)) is E.PRODUCER_FENCED
    assert (
        code_of(lambda: decisions.add_partitions(transaction(), add(producer_id=8), 0)) is E.INVALID_PRODUCER_ID_MAPPING
    )
    ending = transaction(S.PREPARE_COMMIT)
    assert code_of(lambda: decisions.add_partitions(ending, add(), 0)) is E.CONCURRENT_TRANSACTIONS
    assert code_of(lambda: decisions.must_exist(None)) is E.INVALID_PRODUCER_ID_MAPPING


def test_verification_tells_which_partitions_are_in() -> None:
    command = VerifyPartitions("tx", 7, 3, [PLACE, ("u", 1)])
    open_one = transaction(S.ONGOING, partitions=frozenset({PLACE}))
    assert decisions.verify_partitions(open_one, command) == {PLACE: E.NONE, ("u", 1): E.TRANSACTION_ABORTABLE}
    ending = transaction(S.PREPARE_ABORT)
    assert code_of(lambda: decisions.verify_partitions(ending, command)) is E.CONCURRENT_TRANSACTIONS


# -- the end


def test_a_retry_of_version_2_shows_the_epoch_before() -> None:
    done = transaction(S.COMPLETE_COMMIT, epoch=4)
    assert decisions.end_action(done, EndTransaction("tx", 7, 3, True, 2)) is EndAction.DONE
    assert code_of(lambda: decisions.end_action(done, EndTransaction("tx", 7, 3, False, 2))) is E.INVALID_TXN_STATE
    assert code_of(lambda: decisions.end_action(done, EndTransaction("tx", 7, 2, True, 2))) is E.PRODUCER_FENCED


def test_a_retry_after_the_producer_id_has_changed() -> None:
    done = transaction(S.COMPLETE_ABORT, epoch=0, previous_producer_id=6)
    retry = EndTransaction("tx", 6, LAST_USABLE_EPOCH, False, 2)
    assert decisions.end_action(done, retry) is EndAction.DONE
    stranger = EndTransaction("tx", 5, LAST_USABLE_EPOCH, False, 2)
    assert code_of(lambda: decisions.end_action(done, stranger)) is E.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize(("version", "epoch", "last"), [(0, 3, -1), (2, 4, 3)])
@pytest.mark.parametrize("commit", [True, False])
def test_version_2_bumps_the_epoch_with_the_prepare_record(version: int, epoch: int, last: int, commit: bool) -> None:
    old = transaction(S.ONGOING, partitions=frozenset({PLACE}), start_ms=5)
    new, last_epoch = decisions.prepare_end(
        old, -1, commit=commit, client_version=version, new_producer_id=ids(), now_ms=9
    )
    state, end = (S.PREPARE_COMMIT, S.COMPLETE_COMMIT) if commit else (S.PREPARE_ABORT, S.COMPLETE_ABORT)
    assert (new.state, new.producer_epoch, new.start_ms, last_epoch) == (state, epoch, 5, last)
    done = decisions.complete(new, 11)
    assert (done.state, done.producer_epoch, done.partitions, done.last_update_ms) == (end, epoch, frozenset(), 11)
    assert decisions.identity_after(new) == ProducerIdentity(7, epoch)


def test_the_last_epoch_of_version_2_takes_the_next_producer_id_with_it() -> None:
    old = transaction(S.ONGOING, epoch=LAST_USABLE_EPOCH)
    new, _ = decisions.prepare_end(old, -1, commit=True, client_version=2, new_producer_id=ids(), now_ms=0)
    assert (new.producer_id, new.producer_epoch, new.next_producer_id) == (7, MAX_EPOCH, 100)
    assert decisions.identity_after(new) == ProducerIdentity(100, 0)


def test_a_fencing_abort_leaves_the_producers_epoch_behind() -> None:
    new, last = decisions.prepare_end(
        transaction(S.ONGOING), 2, commit=False, client_version=0, new_producer_id=ids(), now_ms=0, fence=True
    )
    assert (new.state, new.producer_epoch, last) == (S.PREPARE_ABORT, 4, -1)
