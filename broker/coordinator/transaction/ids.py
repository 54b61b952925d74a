"""The transactional ids of one partition: what its log says, and the next record of each."""

from __future__ import annotations

from collections.abc import Iterable

from odradek.broker.coordinator.transaction.states import RULES, TransactionState
from odradek.broker.coordinator.transaction.transaction import Transaction, record_key, record_value, said_by
from odradek.broker.runtime.machine import LogRecord, NewRecord
from odradek.protocol.errors import ErrorCode, KafkaError


class TransactionalIds:
    """Owner: the machine of the partition. Hard state, changed in `replay` only, but for `unsettled`.

    `by_id`: the state of each id, in the order in which they came up. `open`: the ids that have an open transaction.
    `unsettled`: those whose next state is appended and not on all replicas in sync.
    """

    __slots__ = ("_keys", "by_id", "open", "unsettled")

    def __init__(self) -> None:
        self.by_id: dict[str, Transaction] = {}
        self._keys: dict[str, bytes] = {}
        self.open: set[str] = set()
        self.unsettled: set[str] = set()

    def __len__(self) -> int:
        return len(self.by_id)

    def get(self, transactional_id: str) -> Transaction | None:
        """What is known of an id."""
        return self.by_id.get(transactional_id)

    def check_settled(self, transactional_id: str) -> None:
        """CONCURRENT_TRANSACTIONS for an id whose next state is not committed yet."""
        if transactional_id in self.unsettled:
            raise KafkaError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def replay(self, record: LogRecord) -> None:
        """See `Machine`."""
        transactional_id, transaction = said_by(record)
        if transaction is None:
            self.by_id.pop(transactional_id, None)
            self._keys.pop(transactional_id, None)
            self.open.discard(transactional_id)
            return
        self.by_id[transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            self.open.add(transactional_id)
        else:
            self.open.discard(transactional_id)

    def record(self, old: Transaction | None, new: Transaction, transaction_version: int) -> NewRecord:
        """The record that takes an id from one state to the next; RuntimeError where the table knows no such way."""
        if old is not None and new.state not in RULES[old.state].transitions:
            raise RuntimeError(f"{new.transactional_id}: no way from {old.state.label} to {new.state.label}")
        key = self._keys.get(new.transactional_id)
        if key is None:
            key = self._keys[new.transactional_id] = record_key(new.transactional_id)
        value = record_value(new, transaction_version)
        return NewRecord(key, value, new if transaction_version else None)

    def kept(self) -> tuple[dict[str, Transaction], set[str]]:
        """See `runtime.machine.CopyableMachine`."""
        return self.by_id, self.open

    def take(self, kept: tuple[dict[str, Transaction], set[str]]) -> None:
        """See `runtime.machine.CopyableMachine`."""
        self.by_id, self.open = kept


def tombstones(transactional_ids: Iterable[str]) -> list[NewRecord]:
    """The records that forget ids."""
    return [NewRecord(record_key(transactional_id)) for transactional_id in transactional_ids]
