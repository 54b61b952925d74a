"""The rules of one `__transaction_state` partition: who may write under an id, and how transactions end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.commands import (
    AbortTimedOut,
    AbortTransaction,
    AddPartitions,
    DescribeTransaction,
    EndTransaction,
    ExpireIds,
    GoOn,
    HoldReached,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    VerifyPartitions,
    WriteMarkers,
)
from odradek.broker.coordinator.transaction.decisions import must_exist
from odradek.broker.coordinator.transaction.holds import HoldBook, marker_point
from odradek.broker.coordinator.transaction.refusals import refusal
from odradek.broker.coordinator.transaction.states import ENDING, RULES, EndAction, InitAction, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    NO_PRODUCER_EPOCH,
    TopicPartition,
    Transaction,
    record_key,
    record_value,
    said_by,
)
from odradek.broker.runtime.machine import Command, Effect, LogRecord, NewRecord, Outcome, Schedule
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

_log = logging.getLogger("odradek.broker.coordinator.transaction")

MARKER_RETRY_MS = 100
"""How long to wait before a partition that refused its marker is tried again."""


class TransactionSettings(Protocol):
    """What the machine needs to know of its broker. Times in milliseconds."""

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
        """A producer id that nobody has had."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Ending:
    """Soft state of a transaction whose end is decided: when, and which partitions still lack the marker."""

    __slots__ = ("decided_ms", "waiting")

    def __init__(self, decided_ms: int, waiting: set[TopicPartition]) -> None:
        self.decided_ms = decided_ms
        self.waiting = waiting


class TransactionMachine:
    """The transactional ids of one partition (`transactions`), and the transactions that are ending.

    Hard state: `transactions`, changed in `replay` only. Soft state, lost in a reload: which markers are missing (a
    reload writes all of them again), the epoch that a client had before its current one (KIP-360 retries), and
    `_uncommitted`, whose next state is appended and not on all replicas in sync.

    A transaction ends in three steps: `_prepare` stores the decision, `WriteMarkers` has each partition get its marker
    and comes back as `MarkersWritten`, `_complete` stores the end when no marker is missing. A `HoldBook` can stop it
    between any two of them.
    """

    def __init__(self, settings: TransactionSettings, holds: HoldBook | None = None) -> None:
        self.transactions: dict[str, Transaction] = {}
        self.ending: dict[str, Ending] = {}
        self._settings = settings
        self._holds = holds or HoldBook()
        self._open: set[str] = set()
        self._last_epochs: dict[str, int] = {}
        self._keys: dict[str, bytes] = {}
        self._timers_set: set[str] = set()
        self._uncommitted: set[str] = set()
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

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        """See `Machine`."""
        return self._decide[type(command)](command, now_ms)

    def replay(self, record: LogRecord) -> None:
        """See `Machine`."""
        transactional_id, transaction = said_by(record)
        if transaction is None:
            self.transactions.pop(transactional_id, None)
            self._open.discard(transactional_id)
            self._keys.pop(transactional_id, None)
            return
        self.transactions[transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            self._open.add(transactional_id)
        else:
            self._open.discard(transactional_id)

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """`__transaction_state` takes part in no transaction, so there is nothing to settle."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """Clients get the error that Kafka makes of it; what nobody waits for is tried again."""
        if isinstance(command, MarkersWritten):
            return Outcome(effects=self._complete_later(command))
        if isinstance(command, ExpireIds):
            return Outcome(effects=self._set_timers())
        if isinstance(command, AbortTransaction):
            return Outcome()
        raise KafkaError(refusal(error.code)) from error

    # -- ReplicatedMachine

    replays_committed: ClassVar[bool] = True

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        """See `ReplicatedMachine`: as long as the transaction may be open."""
        transaction = said_by(outcome.records[0])[1] if outcome.records else None
        return self._settings.request_timeout_ms if transaction is None else transaction.timeout_ms

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: the ids are CONCURRENT_TRANSACTIONS until then."""
        self._uncommitted.update(said_by(record)[0] for record in records)

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`."""
        self._uncommitted.difference_update(said_by(record)[0] for record in records)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """See `ReplicatedMachine`: the end of a transaction is stored again."""
        return self._complete_later(command) if isinstance(command, MarkersWritten) else ()

    def as_committed(self, committed: TransactionMachine) -> TransactionMachine:
        """See `ReplicatedMachine`."""
        return self

    def _check_settled(self, transactional_id: str) -> None:
        if transactional_id in self._uncommitted:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `Machine`: transactions whose end was decided go on, with all of their markers."""
        effects = self._set_timers()
        for transaction in self.transactions.values():
            if transaction.state in ENDING:
                effects += self._begin_markers(transaction, now_ms)
        return effects

    # -- copies

    def kept(self) -> object:
        """See `runtime.copying.Copyable`."""
        return self.transactions, self.ending, self._open, self._last_epochs, self._timers_set

    def take(self, kept: Any) -> None:
        """See `runtime.copying.Copyable`."""
        self.transactions, self.ending, self._open, self._last_epochs, self._timers_set = kept

    # -- requests

    def _init_producer_id(self, command: InitProducerId, now_ms: int) -> Outcome[ProducerIdentity | None]:
        transactional_id = command.transactional_id
        self._check_settled(transactional_id)
        old = self.transactions.get(transactional_id)
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
            return self._set_timers()

        reply = ProducerIdentity(new.producer_id, new.producer_epoch)
        _log.info("transactional id %s has producer %d, epoch %d", transactional_id, *reply)
        return Outcome([self._record(old, new)], reply=reply, then=then)

    def _add_partitions(self, command: AddPartitions, now_ms: int) -> Outcome[None]:
        self._check_settled(command.transactional_id)
        old = must_exist(self.transactions.get(command.transactional_id))
        new = decisions.add_partitions(old, command, now_ms)
        if new is None:
            return Outcome()
        then = None if "abort" in self._timers_set else self._set_timers
        return Outcome([self._record(old, new)], then=then)

    def _verify_partitions(self, command: VerifyPartitions, _: int) -> Outcome[dict[TopicPartition, ErrorCode]]:
        transaction = must_exist(self.transactions.get(command.transactional_id))
        return Outcome(reply=decisions.verify_partitions(transaction, command))

    def _end_transaction(self, command: EndTransaction, now_ms: int) -> Outcome[ProducerIdentity]:
        known = self.transactions.get(command.transactional_id)
        if command.client_version < 2 and known is not None:
            decisions.check_identity(known, command.producer_id, command.producer_epoch)
        self._check_settled(command.transactional_id)
        old = must_exist(known)
        action = decisions.end_action(old, command)
        if action is EndAction.DONE:
            return Outcome(reply=ProducerIdentity(old.producer_id, old.producer_epoch))
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
        return Outcome(reply=self.described(command.transactional_id))

    def described(self, transactional_id: str) -> Transaction | None:
        """The id's state; a transaction that ends shows the partitions whose marker is missing, as Kafka's does."""
        transaction = self.transactions.get(transactional_id)
        return None if transaction is None else self._shown(transaction)

    def all_described(self) -> list[Transaction]:
        """The same of all ids."""
        return [self._shown(transaction) for transaction in self.transactions.values()]

    def _shown(self, transaction: Transaction) -> Transaction:
        ending = self.ending.get(transaction.transactional_id)
        return transaction if ending is None else transaction._replace(partitions=frozenset(ending.waiting))

    # -- the end of a transaction

    def _fence(self, old: Transaction, now_ms: int) -> Outcome[Any]:
        """The coordinator aborts an open transaction and leaves its producer's epoch behind."""
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
        _log.debug("transaction of %s: %s", old.transactional_id, prepared.state.label)

        def then() -> Sequence[Effect]:
            self._last_epochs[old.transactional_id] = last_epoch
            return self._begin_markers(prepared, now_ms)

        return Outcome([self._record(old, prepared)], reply=reply, then=then)

    def _begin_markers(self, prepared: Transaction, now_ms: int) -> list[Effect]:
        self.ending[prepared.transactional_id] = Ending(now_ms, set(prepared.partitions))
        return self._advance(prepared)

    def _advance(self, prepared: Transaction) -> list[Effect]:
        """Write the markers that are missing and not held. No partition at all is told too: it leads to Complete."""
        transactional_id = prepared.transactional_id
        if self._holds.stops(transactional_id, prepared.state.label):
            return [HoldReached(transactional_id, prepared.state.label)]
        waiting = self.ending[transactional_id].waiting
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

    def _markers_written(self, command: MarkersWritten, _: int) -> Outcome[None]:
        transactional_id = command.transactional_id
        prepared = self.transactions.get(transactional_id)
        ending = self.ending.get(transactional_id)
        if prepared is None or ending is None or transactional_id in self._uncommitted:
            return Outcome()
        if (prepared.producer_id, prepared.producer_epoch) != (command.producer_id, command.producer_epoch):
            return Outcome()
        if not ending.waiting <= set(command.partitions):
            ending.waiting.difference_update(command.partitions)
            return Outcome(effects=[self._retry(transactional_id)] if command.again else [])
        return self._complete(prepared, ending)

    def _complete(self, prepared: Transaction, ending: Ending) -> Outcome[None]:
        """All markers are written: the transaction is over."""
        transactional_id = prepared.transactional_id
        done = decisions.complete(prepared, ending.decided_ms)
        if self._holds.stops(transactional_id, done.state.label):
            ending.waiting.clear()
            return Outcome(effects=[HoldReached(transactional_id, done.state.label)])

        def then() -> Sequence[Effect]:
            del self.ending[transactional_id]
            return ()

        return Outcome([self._record(prepared, done)], then=then)

    def _complete_later(self, command: MarkersWritten) -> list[Effect]:
        """The markers are written, but the end could not be stored: it is tried again."""
        ending = self.ending.get(command.transactional_id)
        if ending is not None:
            ending.waiting.difference_update(command.partitions)
        return [self._retry(command.transactional_id)]

    def _go_on(self, command: GoOn, _: int) -> Outcome[None]:
        if command.transactional_id not in self.ending:
            return Outcome()
        return Outcome(effects=self._advance(self.transactions[command.transactional_id]))

    @staticmethod
    def _retry(transactional_id: str) -> Effect:
        return Schedule(("markers", transactional_id), MARKER_RETRY_MS, GoOn(transactional_id))

    # -- timers

    def _set_timers(self) -> list[Effect]:
        """The two recurring timers, each only while there is something to look after."""
        effects: list[Effect] = []
        if self._open and "abort" not in self._timers_set:
            self._timers_set.add("abort")
            effects.append(Schedule("abort", self._settings.abort_interval_ms, AbortTimedOut()))
        if self.transactions and "expire" not in self._timers_set:
            self._timers_set.add("expire")
            effects.append(Schedule("expire", self._settings.expire_interval_ms, ExpireIds()))
        return effects

    def _abort_timed_out(self, _: AbortTimedOut, now_ms: int) -> Outcome[None]:
        self._timers_set.discard("abort")
        effects = self._set_timers()
        for transactional_id in sorted(self._open - self._uncommitted):
            transaction = self.transactions[transactional_id]
            if transaction.start_ms + transaction.timeout_ms < now_ms:
                effects.append(Schedule(("abort", transactional_id), 0, AbortTransaction(transaction)))
        return Outcome(effects=effects)

    def _abort_transaction(self, command: AbortTransaction, now_ms: int) -> Outcome[None]:
        expected = command.expected
        transaction = self.transactions.get(expected.transactional_id)
        if transaction is None or transaction.state is not TransactionState.ONGOING:
            return Outcome()
        if transaction.transactional_id in self._uncommitted:
            return Outcome()
        if (transaction.producer_epoch, transaction.start_ms) != (expected.producer_epoch, expected.start_ms):
            return Outcome()
        _log.info("transaction of %s was open for too long and is aborted", expected.transactional_id)
        return self._fence(transaction, now_ms)

    def _expire_ids(self, _: ExpireIds, now_ms: int) -> Outcome[None]:
        self._timers_set.discard("expire")
        oldest_ms = now_ms - self._settings.id_expiration_ms
        expired = [
            transaction.transactional_id
            for transaction in self.transactions.values()
            if transaction.last_update_ms <= oldest_ms
            and RULES[transaction.state].expires
            and transaction.transactional_id not in self._uncommitted
        ]
        if not expired:
            return Outcome(effects=self._set_timers())

        def then() -> Sequence[Effect]:
            for transactional_id in expired:
                self._last_epochs.pop(transactional_id, None)
            return self._set_timers()

        records: list[NewRecord] = [NewRecord(record_key(transactional_id)) for transactional_id in expired]
        return Outcome(records, then=then, atomic=False)

    # -- small parts

    def _last_epoch(self, transactional_id: str) -> int:
        return self._last_epochs.get(transactional_id, NO_PRODUCER_EPOCH)

    def _record(self, old: Transaction | None, new: Transaction) -> NewRecord:
        if old is not None and new.state not in RULES[old.state].transitions:
            raise RuntimeError(f"{new.transactional_id}: no way from {old.state.label} to {new.state.label}")
        key = self._keys.get(new.transactional_id)
        if key is None:
            key = self._keys[new.transactional_id] = record_key(new.transactional_id)
        version = self._settings.transaction_version
        return NewRecord(key, record_value(new, version), new if version else None)
