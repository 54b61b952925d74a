"""Transactions, as their coordinators see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.coordinator.transaction.service import coordinated_by
from odradek.broker.coordinator.transaction.states import IN_PROGRESS
from odradek.broker.coordinator.transaction.transaction import TopicPartition
from odradek.broker.mistakes import NearNames

if TYPE_CHECKING:
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.metadata.node import Node


@dataclass(frozen=True, slots=True)
class TransactionInfo(NearNames):
    """A snapshot of a transactional id. Times are in milliseconds.

    ``state`` is Kafka's name of the state, such as ``Ongoing``. ``partitions`` lists the partitions of the open
    transaction, or those that still lack a marker when it is ending. ``age_ms`` is the time since the transaction
    began, None if none is open or ending. ``held_at`` lists the points at which a test holds the transaction.
    """

    transactional_id: str
    state: str
    producer_id: int
    producer_epoch: int
    partitions: tuple[TopicPartition, ...]
    timeout_ms: int
    age_ms: int | None
    coordinator_id: int
    held_at: tuple[str, ...]


def list_transactions(
    transactions: TransactionService, nodes: Mapping[int, Node], now_ms: int
) -> dict[str, TransactionInfo]:
    """Snapshots of all transactional ids, ordered by id. A coordinator that is loading finishes first."""
    for shard in transactions.shards():
        shard.finish_loading()
    held: dict[str, list[str]] = {}
    for hold in transactions.holds.active():
        if hold.reached:
            held.setdefault(hold.transactional_id, []).append(hold.at)
    found: dict[str, TransactionInfo] = {}
    for node in nodes.values():
        for transaction in coordinated_by(transactions, node):
            open_since = transaction.start_ms if transaction.state in IN_PROGRESS else None
            found[transaction.transactional_id] = TransactionInfo(
                transactional_id=transaction.transactional_id,
                state=transaction.state.label,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                partitions=tuple(sorted(transaction.partitions)),
                timeout_ms=transaction.timeout_ms,
                age_ms=None if open_since is None else now_ms - open_since,
                coordinator_id=node.id,
                held_at=tuple(held.get(transaction.transactional_id, ())),
            )
    return dict(sorted(found.items()))
