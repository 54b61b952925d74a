"""Looking at the transactions of a cluster, and holding them: for tests, and for ListTransactions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.broker.coordinator.transaction.holds import Hold
from odradek.broker.coordinator.transaction.id_pattern import compile_id_pattern
from odradek.broker.coordinator.transaction.states import IN_PROGRESS, TransactionState
from odradek.broker.coordinator.transaction.transaction import TopicPartition, Transaction
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.coordinator.transaction.service import TransactionService
    from odradek.broker.metadata.node import Node


@dataclass(frozen=True, slots=True)
class TransactionInfo:
    """A transactional id as its coordinator sees it. Times in milliseconds.

    ``state``: Kafka's name, such as ``Ongoing``. ``partitions``: part of the open transaction, or still without a
    marker when it is ending. ``age_ms``: since the transaction began; None when none is open or ending. ``held_at``:
    the points at which it stands because a test holds it.
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


def list_transactions(cluster: Cluster) -> dict[str, TransactionInfo]:
    """Every transactional id of the cluster, in order of the ids; a coordinator that loads is given the time to."""
    for shard in cluster.transactions.shards():
        shard.finish_loading()
    now_ms = cluster.clock.now_ms()
    held: dict[str, list[str]] = {}
    for hold in cluster.transactions.holds.active():
        if hold.reached:
            held.setdefault(hold.transactional_id, []).append(hold.at)
    found: dict[str, TransactionInfo] = {}
    for node in cluster.nodes.values():
        for transaction in _coordinated(cluster.transactions, node):
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


def hold(cluster: Cluster, transactional_id: str, at: str) -> Hold:
    """Keep the coordinator of an id from going on past a point (see `Hold`) until it is released."""
    held: Hold = cluster.transactions.holds.hold(transactional_id, at)
    return held


def select_transactions(
    transactions: TransactionService,
    node: Node,
    *,
    now_ms: int,
    states: Collection[str] = (),
    producer_ids: Collection[int] = (),
    longer_than_ms: int = -1,
    id_pattern: str | None = None,
) -> tuple[list[Transaction], list[str]]:
    """The ids coordinated by ``node`` that pass all filters, and the names among ``states`` that are no states.

    Empty filters, a negative duration and an empty pattern let all pass. Raises COORDINATOR_LOAD_IN_PROGRESS while a
    coordinator loads, INVALID_REGULAR_EXPRESSION for a bad pattern.
    """
    pattern = compile_id_pattern(id_pattern) if id_pattern else None
    known = {name: TransactionState.from_label(name) for name in states}
    wanted = set(known.values()) - {None}
    ids = set(producer_ids)
    found = [
        transaction
        for transaction in _coordinated(transactions, node)
        if (not states or transaction.state in wanted)
        and (not ids or transaction.producer_id in ids)
        and (longer_than_ms < 0 or now_ms - transaction.start_ms > longer_than_ms)
        and (pattern is None or pattern.fullmatch(transaction.transactional_id))
    ]
    return found, [name for name, state in known.items() if state is None]


def _coordinated(transactions: TransactionService, node: Node) -> list[Transaction]:
    found: list[Transaction] = []
    for shard in transactions.shards(node):
        if shard.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        found.extend(shard.machine.all_described())
    return found
