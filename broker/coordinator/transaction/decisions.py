"""Decisions about a transactional id: pure functions from its state and a request to its next state.

Refusals are raised as `KafkaError` with the coordinator's own code; the handlers translate those that older clients do
not know. The order of the checks is Kafka 4.4.0's, because it decides which of two errors a client sees.
Sources: KIP-98, KIP-360 (recovery with id and epoch), KIP-890 (an epoch for each transaction), and the answers of the
real broker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from odradek.broker.coordinator.transaction.states import ENDING, RULES, AddAction, EndAction, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    LAST_USABLE_EPOCH,
    MAX_EPOCH,
    NO_PARTITIONS,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    AddPartitions,
    EndTransaction,
    InitProducerId,
    ProducerIdentity,
    TopicPartition,
    Transaction,
    VerifyPartitions,
)
from odradek.protocol.errors import ErrorCode, KafkaError

NewProducerId = Callable[[], int]
_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


class Transition(NamedTuple):
    """The next state of an id, and the epoch before the one that its client was given last (soft: not stored)."""

    transaction: Transaction
    last_epoch: int


def must_exist(transaction: Transaction | None) -> Transaction:
    """The transaction; INVALID_PRODUCER_ID_MAPPING when the id is not known."""
    if transaction is None:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return transaction


# -- InitProducerId


def take_over(
    old: Transaction | None, last_epoch: int, command: InitProducerId, new_producer_id: NewProducerId, now_ms: int
) -> Transition:
    """Give the id to the calling producer: with a new epoch, or with a new producer id if it has none or no epoch is
    left.
    """
    expected = command.expected
    if old is None:
        producer_id = new_producer_id()
        fresh = Transaction(
            command.transactional_id,
            producer_id,
            0,
            command.timeout_ms,
            last_update_ms=now_ms,
            previous_producer_id=producer_id,
        )
        return Transition(fresh, NO_PRODUCER_EPOCH)
    producer_id, epoch = old.producer_id, old.producer_epoch
    if old.epoch_exhausted:
        if expected is not None and expected.producer_epoch != epoch:
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"no epoch is left for producer {producer_id}")
        producer_id, epoch = new_producer_id(), 0
        last_epoch = NO_PRODUCER_EPOCH if expected is None else old.producer_epoch
    elif expected is None:
        epoch, last_epoch = epoch + 1, NO_PRODUCER_EPOCH
    elif expected.producer_epoch == epoch:
        epoch, last_epoch = epoch + 1, epoch
    elif expected.producer_epoch != last_epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)
    # else: the answer to an earlier bump was lost, the producer gets the same epoch again (KIP-360)
    return Transition(
        Transaction(
            old.transactional_id,
            producer_id,
            epoch,
            command.timeout_ms,
            last_update_ms=now_ms,
            previous_producer_id=old.producer_id,
            next_producer_id=old.next_producer_id,
            next_producer_epoch=old.next_producer_epoch,
            client_transaction_version=old.client_transaction_version,
        ),
        last_epoch,
    )


def check_continuation(old: Transaction, expected: ProducerIdentity | None) -> None:
    """PRODUCER_FENCED unless a producer with the identity `expected` may still be the id's producer (KIP-360)."""
    if expected is None or expected.producer_id == old.producer_id:
        return
    rotated = expected.producer_id == old.previous_producer_id and expected.producer_epoch >= LAST_USABLE_EPOCH
    if not rotated:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)


# -- adding and verifying partitions


def add_partitions(old: Transaction, command: AddPartitions, now_ms: int) -> Transaction | None:
    """The transaction with more partitions; None when it has them already."""
    if RULES[old.state].add is AddAction.WAIT:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
    check_identity(old, command.producer_id, command.producer_epoch)
    if old.state is TransactionState.ONGOING:
        if command.partitions <= old.partitions:
            return None
        start_ms = old.start_ms
    else:
        start_ms = now_ms
    return Transaction(
        old.transactional_id,
        old.producer_id,
        old.producer_epoch,
        old.timeout_ms,
        TransactionState.ONGOING,
        old.partitions | command.partitions,
        start_ms,
        now_ms,
        previous_producer_id=old.producer_id,
        next_producer_id=old.next_producer_id,
        next_producer_epoch=old.next_producer_epoch,
        client_transaction_version=command.client_version,
    )


def verify_partitions(transaction: Transaction, command: VerifyPartitions) -> dict[TopicPartition, ErrorCode]:
    """NONE for each partition of the open transaction, TRANSACTION_ABORTABLE for each other one."""
    check_identity(transaction, command.producer_id, command.producer_epoch)
    if transaction.state in ENDING:
        raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
    return {
        partition: ErrorCode.NONE if partition in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for partition in command.partitions
    }


def check_identity(transaction: Transaction, producer_id: int, producer_epoch: int) -> None:
    """INVALID_PRODUCER_ID_MAPPING or PRODUCER_FENCED unless it is the id's present producer."""
    if transaction.producer_id != producer_id:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer_epoch:
        raise KafkaError(ErrorCode.PRODUCER_FENCED)


# -- ending


def end_action(old: Transaction, command: EndTransaction) -> EndAction:
    """The result of an EndTxn by the table of states; raises the refusals."""
    rules = RULES[old.state]
    epoch = command.producer_epoch
    if command.client_version < 2:
        check_identity(old, command.producer_id, epoch)
        assert rules.end_v1 is not None
        action = rules.end_v1.pick(command.commit, retried=False)
    else:
        assert rules.end_v2 is not None
        if old.state in ENDING:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
        rotated = (
            old.previous_producer_id == command.producer_id and epoch == LAST_USABLE_EPOCH and old.producer_epoch == 0
        )
        if old.producer_id != command.producer_id and not rotated:
            raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        retried = rotated or old.producer_epoch == epoch + 1
        if not retried and epoch != old.producer_epoch:
            raise KafkaError(ErrorCode.PRODUCER_FENCED)
        action = rules.end_v2.pick(command.commit, retried)
    if action is not EndAction.PREPARE and action in _REFUSALS:
        raise KafkaError(_REFUSALS[action])
    return action


_REFUSALS = {
    EndAction.WAIT: ErrorCode.CONCURRENT_TRANSACTIONS,
    EndAction.FENCED: ErrorCode.PRODUCER_FENCED,
    EndAction.REFUSE: ErrorCode.INVALID_TXN_STATE,
}


def prepare_end(
    old: Transaction,
    last_epoch: int,
    *,
    commit: bool,
    client_version: int,
    new_producer_id: NewProducerId,
    now_ms: int,
    empty: bool = False,
    fence: bool = False,
) -> Transition:
    """Decide the end of the transaction: PrepareCommit or PrepareAbort.

    `empty`: there was no transaction (with version 2 a client may abort when it is unsure). `fence`: the coordinator
    itself aborts, so the producer's epoch must be fenced in versions 0 and 1, too.
    """
    epoch = old.producer_epoch
    next_producer_id = NO_PRODUCER_ID
    if client_version >= 2:
        if old.epoch_exhausted:
            next_producer_id = new_producer_id()
        last_epoch = epoch
        if epoch < MAX_EPOCH:
            epoch += 1
    elif fence:
        last_epoch = NO_PRODUCER_EPOCH
        if epoch < MAX_EPOCH:
            epoch += 1
    return Transition(
        Transaction(
            old.transactional_id,
            old.producer_id,
            epoch,
            old.timeout_ms,
            TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT,
            old.partitions,
            now_ms if empty else old.start_ms,
            now_ms,
            previous_producer_id=old.producer_id,
            next_producer_id=next_producer_id,
            next_producer_epoch=old.next_producer_epoch,
            client_transaction_version=client_version,
        ),
        last_epoch,
    )


def complete(prepared: Transaction, decided_ms: int) -> Transaction:
    """The state after all markers are written. `decided_ms`: when writing them began."""
    producer_id, epoch = identity_after(prepared)
    committed = prepared.state is TransactionState.PREPARE_COMMIT
    return Transaction(
        prepared.transactional_id,
        producer_id,
        epoch,
        prepared.timeout_ms,
        TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT,
        NO_PARTITIONS,
        prepared.start_ms,
        decided_ms,
        previous_producer_id=prepared.producer_id,
        next_producer_epoch=prepared.next_producer_epoch,
        client_transaction_version=prepared.client_transaction_version,
    )


def identity_after(prepared: Transaction) -> ProducerIdentity:
    """The identity that the producer uses once its transaction has ended."""
    if prepared.client_transaction_version >= 2 and prepared.next_producer_id != NO_PRODUCER_ID:
        return ProducerIdentity(prepared.next_producer_id, 0)
    return _new(ProducerIdentity, (prepared.producer_id, prepared.producer_epoch))
