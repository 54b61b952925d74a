"""Requests that wait for a partition to change.

A fetch that finds too little data registers one `Waiter` with each of its partitions. Everything that changes a
partition for readers (an append, a moved watermark, a deletion, a new leader) wakes its waiters. Nothing polls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence


def _nothing() -> None:
    """The callback of a waiter for which nobody waits."""


class Waiter:
    """One parked request. `on_wake` is called once, with the first change that is worth another look.

    `missing_bytes` counts down as data arrives, so that a fetch with a large `min_bytes` sleeps through small
    appends. `committed`: the reader sees stable data only; appends behind an open transaction do not count.
    `uncommitted`: the reader is a follower, which sees records before they are committed.
    The count is an estimate that never runs late: whoever is woken reads again and may wait once more, unless `over`
    says that the broker waits for nothing any more.
    """

    __slots__ = ("_on_wake", "_sets", "committed", "missing_bytes", "over", "uncommitted", "woken")

    def __init__(
        self,
        missing_bytes: int,
        on_wake: Callable[[], None] = _nothing,
        *,
        committed: bool = False,
        uncommitted: bool = False,
    ) -> None:
        self.missing_bytes = missing_bytes
        self.committed = committed
        self.uncommitted = uncommitted
        self.over = False
        self.woken = False
        self._on_wake = on_wake
        self._sets: Sequence[WaiterSet] = ()

    def wait_in(self, sets: Sequence[WaiterSet]) -> None:
        """Be told of changes by all of these until `leave`."""
        self._sets = sets
        for each in sets:
            each.add(self)

    def wake(self) -> None:
        """Something worth another look has happened."""
        if not self.woken:
            self.woken = True
            self._on_wake()

    def leave(self) -> None:
        """Stop waiting; breaks the reference cycle of a parked request and its waiter."""
        self._on_wake = _nothing
        for each in self._sets:
            each.discard(self)


_NOBODY: set[Waiter] = set()
"""Shared by all partitions without waiters so far: an empty set for each would be a fifth of a partition's memory."""


class WaiterSet:
    """The waiters of one partition. `all` is empty if there are none, so an append without readers costs one test."""

    __slots__ = ("all",)

    def __init__(self) -> None:
        self.all = _NOBODY

    def __len__(self) -> int:
        return len(self.all)

    def add(self, waiter: Waiter) -> None:
        """Tell `waiter` of changes from now on; adding twice is the same as once."""
        if self.all is _NOBODY:
            self.all = {waiter}
        else:
            self.all.add(waiter)

    def discard(self, waiter: Waiter) -> None:
        """Forget `waiter`; fine when it is not there."""
        self.all.discard(waiter)

    def appended(self, size_bytes: int, *, stable_moved: bool, rolled: bool = False) -> None:
        """Data became readable: `size_bytes` up to the high watermark.

        `stable_moved`: the last stable offset moved as well. `rolled`: a segment begins with them.
        """
        for waiter in self.all:
            if waiter.committed:
                # An ended transaction makes more visible than this append, so the reader has to look again.
                if stable_moved:
                    waiter.wake()
                continue
            waiter.missing_bytes -= size_bytes
            if waiter.missing_bytes <= 0 or rolled:
                waiter.wake()

    def wake_followers(self) -> None:
        """Records were appended that only followers may see so far."""
        for waiter in self.all:
            if waiter.uncommitted:
                waiter.wake()

    def wake_all(self) -> None:
        """Something other than new data happened (deleted, new leader, cut off): everybody looks again."""
        for waiter in tuple(self.all):
            waiter.wake()

    def end_all(self) -> None:
        """The broker stops: all waiting requests are answered with the data that there is."""
        for waiter in tuple(self.all):
            waiter.over = True
            waiter.wake()
