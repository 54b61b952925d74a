"""The machine of one `__transaction_state` partition: who may write under an id, how transactions end, timers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.decisions import must_exist
from odradek.broker.coordinator.transaction.ending import Ending, Endings, HoldBook, retry
from odradek.broker.coordinator.transaction.states import ENDING, RULES, EndAction, InitAction, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    NO_PRODUCER_EPOCH,
    AbortTimedOut,
    AbortTransaction,
    AddPartitions,
    DescribeTransaction,
    EndTransaction,
    ExpireIds,
    GoOn,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    TopicPartition,
    Transaction,
    TransactionalIds,
    VerifyPartitions,
    said_by,
    tombstones,
)
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError


class TransactionSettings(Protocol):
    """Times in milliseconds."""

    @property
    def transaction_version(self) -> int:
        """The finalized level of transaction.version: 0, 1 or 2."""

    @property
    def id_expiration_ms(self) -> int:
        """transactional.id.expiration.ms"""

    @property
    def expire_interval_ms(self) -> int:
        """transaction.remove.expired.transaction.cleanup.interval.ms"""

    @property
    def request_timeout_ms(self) -> int:
        """request.timeout.ms"""

    @property
    def abort_interval_ms(self) -> int:
        """transaction.abort.timed.out.transaction.cleanup.interval.ms"""

    def new_producer_id(self) -> int:
        """A producer id that was never used."""


class Upkeep:
    """Two recurring timers, each of which runs only while it is needed. Owner: the machine of the partition."""

    __slots__ = ("_ids", "_set", "_settings")

    def __init__(self, settings: TransactionSettings, ids: TransactionalIds) -> None:
        self._settings = settings
        self._ids = ids
        self._set: set[str] = set()

    @property
    def watches_open(self) -> bool:
        """Whether transactions that are open for too long will be noticed."""
        return "abort" in self._set

    def set_timers(self) -> list[Effect]:
        """Set the timers that are needed and not set."""
        effects: list[Effect] = []
        if self._ids.open and "abort" not in self._set:
            self._set.add("abort")
            effects.append(Schedule("abort", self._settings.abort_interval_ms, AbortTimedOut()))
        if len(self._ids) and "expire" not in self._set:
            self._set.add("expire")
            effects.append(Schedule("expire", self._settings.expire_interval_ms, ExpireIds()))
        return effects

    def abort_timed_out(self, now_ms: int) -> list[Effect]:
        """Abort each transaction that is open for too long. A timer calls it."""
        self._set.discard("abort")
        effects = self.set_timers()
        for transactional_id in sorted(self._ids.open - self._ids.unsettled):
            transaction = self._ids.get(transactional_id)
            if transaction is not None and transaction.start_ms + transaction.timeout_ms < now_ms:
                effects.append(Schedule(("abort", transactional_id), 0, AbortTransaction(transaction)))
        return effects

    def still_open(self, expected: Transaction) -> Transaction | None:
        """The transaction that was open for too long, if it is still the same one and no other step is under way."""
        transaction = self._ids.get(expected.transactional_id)
        if (
            transaction is None
            or transaction.state is not TransactionState.ONGOING
            or transaction.producer_epoch != expected.producer_epoch
            or transaction.start_ms != expected.start_ms
            or transaction.transactional_id in self._ids.unsettled
        ):
            return None
        return transaction

    def expired(self, now_ms: int) -> list[str]:
        """The ids to delete. A timer calls it."""
        self._set.discard("expire")
        oldest_ms = now_ms - self._settings.id_expiration_ms
        return [
            transaction.transactional_id
            for transaction in self._ids.by_id.values()
            if transaction.last_update_ms <= oldest_ms
            and RULES[transaction.state].expires
            and transaction.transactional_id not in self._ids.unsettled
        ]

    def snapshot(self) -> object:
        return self._set

    def restore(self, snapshot: set[str]) -> None:
        self._set = snapshot


_log = logging.getLogger("odradek.broker.coordinator.transaction")


class TransactionMachine:
    """The rules of one partition: it decides about commands and replays records.

    Hard state: the ids (`TransactionalIds`). Soft state, lost in a reload: transactions that are ending (`Endings`),
    and the epoch that a client had before its current one (KIP-360 retries).

    A transaction ends in three steps: `_prepare` stores the decision, `WriteMarkers` has each partition get its marker
    and comes back as `MarkersWritten`, `_complete` stores the end when no marker is missing. A `HoldBook` can stop it
    between any two of them.
    """

    def __init__(self, settings: TransactionSettings, holds: HoldBook | None = None) -> None:
        self._settings = settings
        self._ids = TransactionalIds()
        self._endings = Endings(holds or HoldBook())
        self._upkeep = Upkeep(settings, self._ids)
        self._last_epochs: dict[str, int] = {}
        self._decide: dict[type[Any], Callable[[Any, int], Outcome[Any]]] = {
            InitProducerId: self._init_producer_id,
            AddPartitions: self._add_partitions,
            VerifyPartitions: self._verify_partitions,
            EndTransaction: self._end_transaction,
            MarkersWritten: self._markers_written,
            GoOn: self._go_on,
            DescribeTransaction: self._describe,
            AbortTimedOut: self._abort_timed_out,
            AbortTransaction: self._abort_transaction,
            ExpireIds: self._expire_ids,
        }

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """The stored state of each id."""
        return self._ids.by_id

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        return self._decide[type(command)](command, now_ms)

    def replay(self, record: LogRecord) -> None:
        self._ids.replay(record)

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """No transaction writes to `__transaction_state`, so there is nothing to settle."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """Clients get Kafka's error. A step that no client waits for is tried again."""
        if isinstance(command, MarkersWritten):
            return make_outcome(effects=self._endings.store_later(command))
        if isinstance(command, ExpireIds):
            return make_outcome(effects=self._upkeep.set_timers())
        if isinstance(command, AbortTransaction):
            return make_outcome()
        raise KafkaError(refusal(error.code)) from error

    # -- ReplicatedMachine

    replays_committed: ClassVar[bool] = True

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        """See `ReplicatedMachine`: as long as the transaction may be open."""
        transaction = said_by(outcome.records[0])[1] if outcome.records else None
        return self._settings.request_timeout_ms if transaction is None else transaction.timeout_ms

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: the ids are CONCURRENT_TRANSACTIONS until then."""
        self._ids.unsettled.update(said_by(record)[0] for record in records)

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        self._ids.unsettled.difference_update(said_by(record)[0] for record in records)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """See `ReplicatedMachine`: the end of a transaction is stored again."""
        return self._endings.store_later(command) if isinstance(command, MarkersWritten) else ()

    def as_committed(self, committed: TransactionMachine) -> TransactionMachine:
        return self

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `Machine`: transactions whose end was decided continue, with all of their markers."""
        effects = self._upkeep.set_timers()
        for transaction in self._ids.by_id.values():
            if transaction.state in ENDING:
                effects += self._endings.begin(transaction, now_ms)
        return effects

    # -- copies

    def snapshot(self) -> object:
        return self._ids.snapshot(), self._endings.snapshot(), self._upkeep.snapshot(), self._last_epochs

    def restore(self, snapshot: Any) -> None:
        ids, endings, upkeep, self._last_epochs = snapshot
        self._ids.restore(ids)
        self._endings.restore(endings)
        self._upkeep.restore(upkeep)

    # -- requests

    def _init_producer_id(self, command: InitProducerId, now_ms: int) -> Outcome[ProducerIdentity | None]:
        transactional_id = command.transactional_id
        self._ids.check_settled(transactional_id)
        old = self._ids.get(transactional_id)
        if old is not None:
            action = RULES[old.state].init
            if action is InitAction.WAIT:
                raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)
            decisions.check_continuation(old, command.expected)
            if action is InitAction.ABORT_FIRST:
                return self._fence(old, now_ms)
        new, last_epoch = decisions.take_over(
            old, self._last_epoch(transactional_id), command, self._settings.new_producer_id, now_ms
        )

        def then() -> Sequence[Effect]:
            self._last_epochs[transactional_id] = last_epoch
            return self._upkeep.set_timers()

        reply = ProducerIdentity(new.producer_id, new.producer_epoch)
        _log.info("transactional id %s has producer %d, epoch %d", transactional_id, *reply)
        return make_outcome([self._record(old, new)], reply=reply, then=then)

    def _add_partitions(self, command: AddPartitions, now_ms: int) -> Outcome[None]:
        self._ids.check_settled(command.transactional_id)
        old = must_exist(self._ids.get(command.transactional_id))
        new = decisions.add_partitions(old, command, now_ms)
        if new is None:
            return make_outcome()
        then = None if self._upkeep.watches_open else self._upkeep.set_timers
        return make_outcome([self._record(old, new)], then=then)

    def _verify_partitions(self, command: VerifyPartitions, _: int) -> Outcome[dict[TopicPartition, ErrorCode]]:
        transaction = must_exist(self._ids.get(command.transactional_id))
        return make_outcome(reply=decisions.verify_partitions(transaction, command))

    def _end_transaction(self, command: EndTransaction, now_ms: int) -> Outcome[ProducerIdentity]:
        known = self._ids.get(command.transactional_id)
        if command.client_version < 2 and known is not None:
            decisions.check_identity(known, command.producer_id, command.producer_epoch)
        self._ids.check_settled(command.transactional_id)
        old = must_exist(known)
        action = decisions.end_action(old, command)
        if action is EndAction.DONE:
            return make_outcome(reply=ProducerIdentity(old.producer_id, old.producer_epoch))
        step = decisions.prepare_end(
            old,
            self._last_epoch(old.transactional_id),
            commit=command.commit,
            client_version=command.client_version,
            new_producer_id=self._settings.new_producer_id,
            now_ms=now_ms,
            empty=action is EndAction.PREPARE_EMPTY,
        )
        return self._prepare(old, step, now_ms, decisions.identity_after(step.transaction))

    def _describe(self, command: DescribeTransaction, _: int) -> Outcome[Transaction | None]:
        return make_outcome(reply=self.described(command.transactional_id))

    def described(self, transactional_id: str) -> Transaction | None:
        """The id's state; a transaction that ends shows the partitions whose marker is missing, as Kafka's does."""
        transaction = self._ids.get(transactional_id)
        return None if transaction is None else self._endings.shown(transaction)

    def all_described(self) -> list[Transaction]:
        """The same of all ids."""
        return [self._endings.shown(transaction) for transaction in self._ids.by_id.values()]

    # -- the end of a transaction

    def _fence(self, old: Transaction, now_ms: int) -> Outcome[Any]:
        """Abort an open transaction and fence its producer's epoch."""
        step = decisions.prepare_end(
            old,
            self._last_epoch(old.transactional_id),
            commit=False,
            client_version=2 if self._settings.transaction_version >= 2 else 0,
            new_producer_id=self._settings.new_producer_id,
            now_ms=now_ms,
            fence=True,
        )
        return self._prepare(old, step, now_ms, None)

    def _prepare(self, old: Transaction, step: decisions.Transition, now_ms: int, reply: Any) -> Outcome[Any]:
        prepared, last_epoch = step
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug("transaction of %s: %s", old.transactional_id, prepared.state.label)

        def then() -> Sequence[Effect]:
            self._last_epochs[old.transactional_id] = last_epoch
            return self._endings.begin(prepared, now_ms)

        return make_outcome([self._record(old, prepared)], reply=reply, then=then)

    def _markers_written(self, command: MarkersWritten, _: int) -> Outcome[None]:
        transactional_id = command.prepared.transactional_id
        prepared = self._ids.get(transactional_id)
        ending = self._endings.get(transactional_id)
        if prepared is None or ending is None or transactional_id in self._ids.unsettled:
            return make_outcome()
        if prepared.producer != command.prepared.producer:
            return make_outcome()
        if not ending.waiting.issubset(command.partitions):
            ending.waiting.difference_update(command.partitions)
            return make_outcome(effects=[retry(transactional_id)] if command.again else [])
        return self._complete(prepared, ending)

    def _complete(self, prepared: Transaction, ending: Ending) -> Outcome[None]:
        """Complete the transaction: all markers are written."""
        done = decisions.complete(prepared, ending.decided_ms)
        held = self._endings.held_before(done)
        if held is not None:
            return make_outcome(effects=[held])
        return make_outcome([self._record(prepared, done)], then=partial(self._endings.over, prepared.transactional_id))

    def _go_on(self, command: GoOn, _: int) -> Outcome[None]:
        prepared = self._ids.get(command.transactional_id)
        if prepared is None or command.transactional_id not in self._endings:
            return make_outcome()
        return make_outcome(effects=self._endings.advance(prepared))

    # -- timers

    def _abort_timed_out(self, _: AbortTimedOut, now_ms: int) -> Outcome[None]:
        return make_outcome(effects=self._upkeep.abort_timed_out(now_ms))

    def _abort_transaction(self, command: AbortTransaction, now_ms: int) -> Outcome[None]:
        transaction = self._upkeep.still_open(command.expected)
        if transaction is None:
            return make_outcome()
        _log.info("transaction of %s was open for too long and is aborted", transaction.transactional_id)
        return self._fence(transaction, now_ms)

    def _expire_ids(self, _: ExpireIds, now_ms: int) -> Outcome[None]:
        expired = self._upkeep.expired(now_ms)
        if not expired:
            return make_outcome(effects=self._upkeep.set_timers())

        def then() -> Sequence[Effect]:
            for transactional_id in expired:
                self._last_epochs.pop(transactional_id, None)
            return self._upkeep.set_timers()

        return make_outcome(tombstones(expired), then=then, atomic=False)

    # -- small parts

    def _last_epoch(self, transactional_id: str) -> int:
        return self._last_epochs.get(transactional_id, NO_PRODUCER_EPOCH)

    def _record(self, old: Transaction | None, new: Transaction) -> NewRecord:
        return self._ids.record(old, new, self._settings.transaction_version)


_ANSWERS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}


def refusal(code: ErrorCode) -> ErrorCode:
    """The client's error for a log error."""
    return _ANSWERS.get(code, code)
