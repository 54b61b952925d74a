"""Verbs of transactions, and the handle of one that a test holds.

Generated from facade/verbs/transactions.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Self

from odradek.broker.facade.flavours import BlockingFlavour
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled

if TYPE_CHECKING:
    from odradek.broker.coordinator.transaction.holds import Hold


class _Call(Protocol):
    def __call__(self, function: Callable[[], None], /) -> None: ...


class TransactionHold:
    """A transactional id that is held at a point; ``with`` releases it at its end."""

    def __init__(self, held: Hold, call: _Call) -> None:
        self._held = held
        self._call = call

    def __repr__(self) -> str:
        there = "reached" if self.reached else "not reached"
        return f"<{type(self).__name__} of {self._held.transactional_id!r} at {self._held.at}, {there}>"

    @property
    def reached(self) -> bool:
        """Whether the transaction has come to the point and stands there."""
        return self._held.reached

    def wait_reached(self, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until the transaction stands at the point. TimeoutError after seconds."""
        if not blocking_settled(self._held.arrival, timeout):
            raise TimeoutError(
                f"transaction {self._held.transactional_id!r} not at {self._held.at} after {timeout:g} s"
            )
        self._held.arrival.result()

    def release(self) -> None:
        """Let the transaction go on. Idempotent."""
        self._call(self._held.release)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class TransactionVerbs(BlockingFlavour):
    """Transactions that are held half done."""

    def hold(self, transactional_id: str, at: str) -> TransactionHold:
        """Keep the coordinator of a transactional id from going on past a point until released.

        ``at``: ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``; ValueError for anything else. ``with`` releases it at the end.
        """

        def begin() -> TransactionHold:
            return TransactionHold(self._cluster.transactions.holds.hold(transactional_id, at), self._always)

        return self._pending(begin)
