"""ListTransactions: which transactions match its filters.

Patterns of transactional ids are RE2 syntax and match whole ids (ListTransactions 2, KIP-1152).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection

from odradek.broker.coordinator.service import HasId
from odradek.broker.coordinator.transaction.service import TransactionService
from odradek.broker.coordinator.transaction.states import TransactionState
from odradek.broker.coordinator.transaction.transaction import Transaction
from odradek.broker.runtime.shard import ShardState
from odradek.protocol.errors import ErrorCode, KafkaError

# Syntax that Python's `re` accepts and RE2 does not: look-around, back references, atomic groups, conditionals,
# comments, possessive quantifiers, and \Z.
_NOT_RE2 = re.compile(r"\(\?(?:[=!>(#]|<[=!]|P[=>])|\\[1-9Zk]|[*+?}]\+")
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\x0b\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_NAMED_GROUP = re.compile(r"\(\?<(\w+)>")
_POSIX_CLASS = re.compile(r"\[:(\w+):\]")
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|$)", re.DOTALL)


def compile_id_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, for `fullmatch`; INVALID_REGULAR_EXPRESSION if it is invalid.

    Unicode classes (`\\p{...}`) are refused too: `re` has none.
    """
    text = _QUOTED.sub(lambda found: re.escape(found[1]), pattern)
    if _NOT_RE2.search(text.replace("\\\\", "")):
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"not an RE2 expression: {pattern}")
    text = _NAMED_GROUP.sub(r"(?P<\1>", text)
    text = _POSIX_CLASS.sub(lambda found: _POSIX_CLASSES.get(found[1], found[0]), text).replace("\\z", "\\Z")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "[[": only a hint about what `re` may become
            return re.compile(text, re.ASCII)
    except (re.error, RecursionError, OverflowError) as error:
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, f"{pattern}: {error}") from error


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
    """The ids coordinated by `node` that pass all filters, and the unknown names among `states`.

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
