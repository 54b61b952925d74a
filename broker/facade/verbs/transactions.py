"""Verbs of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.pending import Pending

if TYPE_CHECKING:
    from odradek.broker.facade.verbs.transaction_hold import TrioTransactionHold


class TransactionVerbs(TrioFlavour):
    """Transactions that are held half done."""

    def hold(self, transactional_id: str, at: str) -> Pending[TrioTransactionHold]:
        """Keep the coordinator of a transactional id from going on past a point until released.

        ``at``: ``PrepareCommit``, ``PrepareAbort``, ``CompleteCommit``, ``CompleteAbort`` or
        ``Marker:topic-partition``; ValueError for anything else. ``async with`` releases it at the end.
        """
        from odradek.broker.facade.verbs.transaction_hold import TrioTransactionHold

        def begin() -> TrioTransactionHold:
            return TrioTransactionHold(self._cluster.transactions.holds.hold(transactional_id, at), self._always)

        return self._pending(begin)
