"""Verbs of transactions.

Generated from facade/verbs/transactions.py: do not edit, run
`python -m odradek.broker.facade.generate_blocking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import BlockingFlavour

if TYPE_CHECKING:
    from odradek.broker.facade.blocking.transaction_hold import TransactionHold


class TransactionVerbs(BlockingFlavour):
    """Transactions that are held half done."""

    def hold(self, transactional_id: str, at: str) -> TransactionHold:
        """Keep the coordinator of a transactional id from going on past a point until released.

        ``at``: ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``; ValueError for anything else. ``with`` releases it at the end.
        """
        from odradek.broker.facade.blocking.transaction_hold import TransactionHold

        def begin() -> TransactionHold:
            return TransactionHold(self._cluster.transactions.holds.hold(transactional_id, at), self._always)

        return self._pending(begin)
