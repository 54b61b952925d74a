"""Verbs of transactions, and the handle of one that a test holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, Self

from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, trio_settled
from odradek.broker.facade.verb_base import Pending, TrioVerbs

if TYPE_CHECKING:
    from odradek.broker.coordinator.transaction.ending import Hold


class _Call(Protocol):
    def __call__(self, function: Callable[[], None], /) -> Awaitable[None]: ...


class TrioTransactionHold:
    """A hold on a transactional id. ``async with`` releases it at the end of the block."""

    def __init__(self, held: Hold, call: _Call) -> None:
        self._held = held
        self._call = call

    def __repr__(self) -> str:
        there = "reached" if self.reached else "not reached"
        return f"<{type(self).__name__} of {self._held.transactional_id!r} at {self._held.at}, {there}>"

    @property
    def reached(self) -> bool:
        """Whether the transaction has reached the point."""
        return self._held.reached

    async def wait(self, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until the transaction has reached the point. Raises TimeoutError after ``timeout`` seconds."""
        if not await trio_settled(self._held.arrival, timeout):
            raise TimeoutError(
                f"transaction {self._held.transactional_id!r} not at {self._held.at} after {timeout:g} s"
            )
        self._held.arrival.result()

    async def release(self) -> None:
        """Let the transaction continue. A second call does nothing."""
        await self._call(self._held.release)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()


class TransactionVerbs(TrioVerbs):
    """Transactions that a test holds at a point."""

    def hold(self, transactional_id: str, at: str) -> Pending[TrioTransactionHold]:
        """Stop the coordinator of a transactional id at a point until the hold is released.

        ``at`` is ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``. ``async with`` releases the hold at the end of the block. Raises ValueError for
        another point.
        """

        def begin() -> TrioTransactionHold:
            return TrioTransactionHold(self._cluster.transactions.holds.hold(transactional_id, at), self._always)

        return self._pending(begin)
