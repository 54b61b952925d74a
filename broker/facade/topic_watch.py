"""Being told when a topic, or one partition of it, changes."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from odradek.broker.facade.call import BrokerClosedError
from odradek.broker.partitions.waiters import Waiter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from odradek.broker.facade.stored_record import Isolation
    from odradek.broker.partitions.partition import Partition


class TopicWatch:
    """One look-out at a time on some partitions. Everything here runs in the broker's thread."""

    def __init__(self, isolation: Isolation) -> None:
        self._committed = isolation == "read_committed"
        self._waiter: Waiter | None = None
        self._watched: list[Partition] = []

    def begin(self, partitions: Iterable[Partition], doing: str) -> Future[None]:
        """Look at these instead of those before; what is returned has a result when one of them has changed.

        BrokerClosedError, which says what was going on (``doing``), when the broker has ended since.
        """
        if self._waiter is not None and self._waiter.over:
            raise BrokerClosedError(f"the broker was closed while records were {doing}")
        self.forget()
        changed: Future[None] = Future()
        waiter = Waiter(1, lambda: changed.set_result(None), committed=self._committed)
        self._waiter, self._watched = waiter, list(partitions)
        for each in self._watched:
            each.waiters.add(waiter)
        return changed

    def wake(self) -> None:
        """Say that something has changed."""
        if self._waiter is not None:
            self._waiter.wake()

    def forget(self) -> None:
        """Look no more."""
        if self._waiter is not None:
            for each in self._watched:
                each.waiters.discard(self._waiter)
            self._waiter, self._watched = None, []
