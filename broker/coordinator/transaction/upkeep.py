"""The timers of a transaction coordinator: transactions open for too long, and unused ids."""

from __future__ import annotations

from typing import Protocol

from odradek.broker.coordinator.transaction.commands import AbortTimedOut, AbortTransaction, ExpireIds
from odradek.broker.coordinator.transaction.states import RULES, TransactionState
from odradek.broker.coordinator.transaction.transaction import Transaction, TransactionalIds
from odradek.broker.runtime.machine import Effect, Schedule


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
