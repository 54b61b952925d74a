"""Which transactions ListTransactions shows."""

from __future__ import annotations

from collections.abc import Collection

from odradek.broker.coordinator.service import HasId
from odradek.broker.coordinator.transaction.id_pattern import compile_id_pattern
from odradek.broker.coordinator.transaction.service import TransactionService
from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import Transaction
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError


def select_transactions(
    transactions: TransactionService,
    node: HasId,
    *,
    now_ms: int,
    states: Collection[str] = (),
    producer_ids: Collection[int] = (),
    longer_than_ms: int = -1,
    id_pattern: str | None = None,
) -> tuple[list[Transaction], list[str]]:
    """The ids coordinated by `node` that pass all filters, and the names among `states` that are no states.

    Empty filters, a negative duration and an empty pattern let all pass. Raises COORDINATOR_LOAD_IN_PROGRESS while a
    coordinator loads, INVALID_REGULAR_EXPRESSION for a bad pattern.
    """
    pattern = compile_id_pattern(id_pattern) if id_pattern else None
    known = {name: TransactionState.from_label(name) for name in states}
    wanted = set(known.values()) - {None}
    ids = set(producer_ids)
    found = [
        transaction
        for transaction in coordinated_by(transactions, node)
        if (not states or transaction.state in wanted)
        and (not ids or transaction.producer_id in ids)
        and (longer_than_ms < 0 or now_ms - transaction.start_ms > longer_than_ms)
        and (pattern is None or pattern.fullmatch(transaction.transactional_id))
    ]
    return found, [name for name, state in known.items() if state is None]


def coordinated_by(transactions: TransactionService, node: HasId) -> list[Transaction]:
    """The ids coordinated by `node`, as DescribeTransactions shows them.

    Raises COORDINATOR_LOAD_IN_PROGRESS while one of its coordinators loads.
    """
    found: list[Transaction] = []
    for shard in transactions.shards(node):
        if shard.state is ShardState.LOADING:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        found.extend(shard.machine.all_described())
    return found
