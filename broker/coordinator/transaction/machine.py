"""The machine of one `__transaction_state` partition: who may write under an id, how transactions end, timers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from odradek.broker.coordinator.transaction import decisions
from odradek.broker.coordinator.transaction.decisions import must_exist
from odradek.broker.coordinator.transaction.holds import HoldBook, marker_point
from odradek.broker.coordinator.transaction.states import ENDING, RULES, EndAction, InitAction, TransactionState
from odradek.broker.coordinator.transaction.transaction import (
    NO_PRODUCER_EPOCH,
    AbortTimedOut,
    AbortTransaction,
    AddPartitions,
    EndTransaction,
    ExpireIds,
    GoOn,
    InitProducerId,
    MarkersWritten,
    ProducerIdentity,
    TopicPartition,
    Transaction,
    VerifyPartitions,
    WriteMarkers,
    record_key,
    record_value,
    said_by,
    tombstones,
)
from odradek.broker.runtime.machine import (
    Command,
    Effect,
    LogRecord,
    NewRecord,
    Outcome,
    Schedule,
    coordinator_error,
    make_outcome,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig

_log = logging.getLogger("odradek.broker.coordinator.transaction")

MARKER_RETRY_MS = 100
"""The wait before a partition that refused its marker is tried again."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Ending:
    """Soft state of a transaction whose end is decided: the time of the decision, and the partitions that still lack
    the marker.
    """

    def __init__(self, decided_ms: int, waiting: set[TopicPartition]) -> None:
        self.decided_ms = decided_ms
        self.waiting = waiting


class TransactionMachine:
    """The rules of one partition: it decides about commands and replays records.

    Hard state, changed in `replay` only: `transactions` has the stored state of each id, in the order in which they
    came up, and `open` the ids that have an open transaction. Soft state, lost in a reload: `endings`, the transactions
    whose end is decided; the epoch that a client had before its current one (KIP-360 retries); `unsettled`, the ids
    whose next state is appended, but not yet on all replicas in sync; the recurring timers that are set.

    A transaction ends in three steps: `_prepare` stores the decision, `WriteMarkers` has each partition get its marker
    and comes back as `MarkersWritten`, `_complete` stores the end when no marker is missing. A `HoldBook` can stop it
    between any two of them. A reload writes all markers again.

    `transaction_version()`: the finalized level of the feature. `new_producer_id()`: one that was never used.
    """

    def __init__(
        self,
        config: BrokerConfig,
        transaction_version: Callable[[], int],
        new_producer_id: Callable[[], int],
        holds: HoldBook,
    ) -> None:
        self._config = config
        self._transaction_version = transaction_version
        self._new_producer_id = new_producer_id
        self._holds = holds
        self.transactions: dict[str, Transaction] = {}
        self.open: set[str] = set()
        self.endings: dict[str, Ending] = {}
        self.unsettled: set[str] = set()
        self._keys: dict[str, bytes] = {}
        self._last_epochs: dict[str, int] = {}
        self._timers: set[str] = set()
        self._decide: dict[type[Any], Callable[[Any, int], Outcome[Any]]] = {
            InitProducerId: self._init_producer_id,
            AddPartitions: self._add_partitions,
            VerifyPartitions: self._verify_partitions,
            EndTransaction: self._end_transaction,
            MarkersWritten: self._markers_written,
            GoOn: self._go_on,
            AbortTimedOut: self._abort_timed_out,
            AbortTransaction: self._abort_transaction,
            ExpireIds: self._expire_ids,
        }

    # -- Machine

    def decide(self, command: Command[Any], now_ms: int) -> Outcome[Any]:
        return self._decide[type(command)](command, now_ms)

    def replay(self, record: LogRecord) -> None:
        transactional_id, transaction = said_by(record)
        if transaction is None:
            self.transactions.pop(transactional_id, None)
            self._keys.pop(transactional_id, None)
            self.open.discard(transactional_id)
            return
        self.transactions[transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            self.open.add(transactional_id)
        else:
            self.open.discard(transactional_id)

    def replay_marker(self, producer_id: int, producer_epoch: int, commit: bool) -> None:
        """No transaction writes to `__transaction_state`, so there is nothing to settle."""

    def refused(
        self, command: Command[Any], outcome: Outcome[Any], error: KafkaError, now_ms: int
    ) -> Outcome[Any] | None:
        """Clients get Kafka's error. A step that no client waits for is tried again."""
        if isinstance(command, MarkersWritten):
            return make_outcome(effects=self._store_later(command))
        if isinstance(command, ExpireIds):
            return make_outcome(effects=self._set_timers())
        if isinstance(command, AbortTransaction):
            return make_outcome()
        raise KafkaError(coordinator_error(error.code)) from error

    def on_loaded(self, now_ms: int) -> Sequence[Effect]:
        """See `Machine`: transactions whose end was decided continue, with all of their markers."""
        effects = self._set_timers()
        for transaction in self.transactions.values():
            if transaction.state in ENDING:
                effects += self._begin_end(transaction, now_ms)
        return effects

    # -- ReplicatedMachine

    replays_committed: ClassVar[bool] = True

    def commit_timeout_ms(self, outcome: Outcome[Any]) -> int:
        """See `ReplicatedMachine`: as long as the transaction may be open."""
        transaction = said_by(outcome.records[0])[1] if outcome.records else None
        return self._config.get_int("request.timeout.ms") if transaction is None else transaction.timeout_ms

    def await_commit(self, records: Sequence[NewRecord]) -> None:
        """See `ReplicatedMachine`: the ids are CONCURRENT_TRANSACTIONS until then."""
        self.unsettled.update(said_by(record)[0] for record in records)

    def commit_settled(self, records: Sequence[NewRecord]) -> None:
        self.unsettled.difference_update(said_by(record)[0] for record in records)

    def commit_late(self, command: Command[Any], now_ms: int) -> Sequence[Effect]:
        """See `ReplicatedMachine`: the end of a transaction is stored again."""
        return self._store_later(command) if isinstance(command, MarkersWritten) else ()

    def as_committed(self, committed: TransactionMachine) -> TransactionMachine:
        return self

    # -- copies

    def snapshot(self) -> object:
        return self.transactions, self.open, self.endings, self._timers, self._last_epochs

    def restore(self, snapshot: Any) -> None:
        self.transactions, self.open, self.endings, self._timers, self._last_epochs = snapshot

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
            old, self._last_epoch(transactional_id), command, self._new_producer_id, now_ms
        )

        def then() -> Sequence[Effect]:
            self._last_epochs[transactional_id] = last_epoch
            return self._set_timers()

        reply = ProducerIdentity(new.producer_id, new.producer_epoch)
        _log.info("transactional id %s has producer %d, epoch %d", transactional_id, *reply)
        return make_outcome([self._record(old, new)], reply=reply, then=then)

    def _add_partitions(self, command: AddPartitions, now_ms: int) -> Outcome[None]:
        self._check_settled(command.transactional_id)
        old = must_exist(self.transactions.get(command.transactional_id))
        new = decisions.add_partitions(old, command, now_ms)
        if new is None:
            return make_outcome()
        return make_outcome([self._record(old, new)], then=None if "abort" in self._timers else self._set_timers)

    def _verify_partitions(self, command: VerifyPartitions, _: int) -> Outcome[dict[TopicPartition, ErrorCode]]:
        transaction = must_exist(self.transactions.get(command.transactional_id))
        return make_outcome(reply=decisions.verify_partitions(transaction, command))

    def _end_transaction(self, command: EndTransaction, now_ms: int) -> Outcome[ProducerIdentity]:
        known = self.transactions.get(command.transactional_id)
        if command.client_version < 2 and known is not None:
            decisions.check_identity(known, command.producer_id, command.producer_epoch)
        self._check_settled(command.transactional_id)
        old = must_exist(known)
        action = decisions.end_action(old, command)
        if action is EndAction.DONE:
            return make_outcome(reply=ProducerIdentity(old.producer_id, old.producer_epoch))
        step = decisions.prepare_end(
            old,
            self._last_epoch(old.transactional_id),
            commit=command.commit,
            client_version=command.client_version,
            new_producer_id=self._new_producer_id,
            now_ms=now_ms,
            empty=action is EndAction.PREPARE_EMPTY,
        )
        return self._prepare(old, step, now_ms, decisions.identity_after(step.transaction))

    def described(self, transactional_id: str) -> Transaction | None:
        """The id's state; a transaction that ends shows the partitions whose marker is missing, as Kafka's does."""
        transaction = self.transactions.get(transactional_id)
        ending = self.endings.get(transactional_id)
        if transaction is None or ending is None:
            return transaction
        return transaction.with_partitions(frozenset(ending.waiting))

    # -- the end of a transaction

    def _fence(self, old: Transaction, now_ms: int) -> Outcome[Any]:
        """Abort an open transaction and fence its producer's epoch."""
        step = decisions.prepare_end(
            old,
            self._last_epoch(old.transactional_id),
            commit=False,
            client_version=2 if self._transaction_version() >= 2 else 0,
            new_producer_id=self._new_producer_id,
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
            return self._begin_end(prepared, now_ms)

        return make_outcome([self._record(old, prepared)], reply=reply, then=then)

    def _begin_end(self, prepared: Transaction, now_ms: int) -> list[Effect]:
        """Begin to write the markers, once the decision is stored."""
        self.endings[prepared.transactional_id] = Ending(now_ms, set(prepared.partitions))
        return self._advance(prepared)

    def _advance(self, prepared: Transaction) -> list[Effect]:
        """Write the markers that are missing and not held. The effect is needed without any, too, because it leads to
        the end.
        """
        waiting = sorted(self.endings[prepared.transactional_id].waiting)
        if not self._holds.held:
            return [WriteMarkers(prepared, waiting)]
        transactional_id = prepared.transactional_id
        if self._holds.stops(transactional_id, prepared.state.label):
            return []
        ready = [partition for partition in waiting if not self._holds.stops(transactional_id, marker_point(partition))]
        return [WriteMarkers(prepared, ready)] if ready or not waiting else []

    def _markers_written(self, command: MarkersWritten, _: int) -> Outcome[None]:
        transactional_id = command.prepared.transactional_id
        prepared = self.transactions.get(transactional_id)
        ending = self.endings.get(transactional_id)
        if prepared is None or ending is None or transactional_id in self.unsettled:
            return make_outcome()
        written = command.prepared
        if prepared.producer_id != written.producer_id or prepared.producer_epoch != written.producer_epoch:
            return make_outcome()
        if not ending.waiting.issubset(command.partitions):
            ending.waiting.difference_update(command.partitions)
            return make_outcome(effects=[_retry(transactional_id)] if command.again else [])
        return self._complete(prepared, ending)

    def _complete(self, prepared: Transaction, ending: Ending) -> Outcome[None]:
        """Complete the transaction: all markers are written."""
        done = decisions.complete(prepared, ending.decided_ms)
        transactional_id = done.transactional_id
        if self._holds.held and self._holds.stops(transactional_id, done.state.label):
            ending.waiting.clear()
            return make_outcome()

        def then() -> Sequence[Effect]:
            del self.endings[transactional_id]
            return ()

        return make_outcome([self._record(prepared, done)], then=then)

    def _store_later(self, command: MarkersWritten) -> list[Effect]:
        """Try again later to store the end, after the markers are written."""
        transactional_id = command.prepared.transactional_id
        ending = self.endings.get(transactional_id)
        if ending is not None:
            ending.waiting.difference_update(command.partitions)
        return [_retry(transactional_id)]

    def _go_on(self, command: GoOn, _: int) -> Outcome[None]:
        prepared = self.transactions.get(command.transactional_id)
        if prepared is None or command.transactional_id not in self.endings:
            return make_outcome()
        return make_outcome(effects=self._advance(prepared))

    # -- timers

    def _set_timers(self) -> list[Effect]:
        """Set the recurring timers that are needed and not set: each runs only while it is needed."""
        effects: list[Effect] = []
        if self.open and "abort" not in self._timers:
            self._timers.add("abort")
            interval_ms = self._config.get_int("transaction.abort.timed.out.transaction.cleanup.interval.ms")
            effects.append(Schedule("abort", interval_ms, AbortTimedOut()))
        if self.transactions and "expire" not in self._timers:
            self._timers.add("expire")
            interval_ms = self._config.get_int("transaction.remove.expired.transaction.cleanup.interval.ms")
            effects.append(Schedule("expire", interval_ms, ExpireIds()))
        return effects

    def _abort_timed_out(self, _: AbortTimedOut, now_ms: int) -> Outcome[None]:
        self._timers.discard("abort")
        effects = self._set_timers()
        for transactional_id in sorted(self.open - self.unsettled):
            transaction = self.transactions[transactional_id]
            if transaction.start_ms + transaction.timeout_ms < now_ms:
                effects.append(Schedule(("abort", transactional_id), 0, AbortTransaction(transaction)))
        return make_outcome(effects=effects)

    def _abort_transaction(self, command: AbortTransaction, now_ms: int) -> Outcome[None]:
        """Abort it if it is still the same one and no other step is under way."""
        expected = command.expected
        transaction = self.transactions.get(expected.transactional_id)
        if (
            transaction is None
            or transaction.state is not TransactionState.ONGOING
            or transaction.producer_epoch != expected.producer_epoch
            or transaction.start_ms != expected.start_ms
            or transaction.transactional_id in self.unsettled
        ):
            return make_outcome()
        _log.info("transaction of %s was open for too long and is aborted", transaction.transactional_id)
        return self._fence(transaction, now_ms)

    def _expire_ids(self, _: ExpireIds, now_ms: int) -> Outcome[None]:
        self._timers.discard("expire")
        oldest_ms = now_ms - self._config.get_int("transactional.id.expiration.ms")
        expired = [
            transactional_id
            for transactional_id, transaction in self.transactions.items()
            if transaction.last_update_ms <= oldest_ms
            and RULES[transaction.state].expires
            and transactional_id not in self.unsettled
        ]
        if not expired:
            return make_outcome(effects=self._set_timers())

        def then() -> Sequence[Effect]:
            for transactional_id in expired:
                self._last_epochs.pop(transactional_id, None)
            return self._set_timers()

        return make_outcome(tombstones(expired), then=then, atomic=False)

    # -- small parts

    def _check_settled(self, transactional_id: str) -> None:
        """CONCURRENT_TRANSACTIONS for an id whose next state is not committed yet."""
        if transactional_id in self.unsettled:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def _last_epoch(self, transactional_id: str) -> int:
        return self._last_epochs.get(transactional_id, NO_PRODUCER_EPOCH)

    def _record(self, old: Transaction | None, new: Transaction) -> NewRecord:
        """The record that takes an id from one state to the next; RuntimeError if the table has no such transition."""
        if old is not None and new.state not in RULES[old.state].transitions:
            raise RuntimeError(f"{new.transactional_id}: no way from {old.state.label} to {new.state.label}")
        key = self._keys.get(new.transactional_id)
        if key is None:
            key = self._keys[new.transactional_id] = record_key(new.transactional_id)
        transaction_version = self._transaction_version()
        value = record_value(new, transaction_version)
        return NewRecord(key, value, new if transaction_version else None)


def _retry(transactional_id: str) -> Effect:
    """Continue the end of a transaction in a moment."""
    return Schedule(("markers", transactional_id), MARKER_RETRY_MS, GoOn(transactional_id))
