"""The leader epochs of a partition with their first offsets (KIP-101, KIP-320)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

UNDEFINED = -1


class LeaderEpochs:
    """Ascending (epoch, start offset) pairs. Owner: the partition log."""

    __slots__ = ("_epochs", "_starts", "latest")

    def __init__(self, entries: Sequence[tuple[int, int]] = ()) -> None:
        self._epochs = [epoch for epoch, _ in entries]
        self._starts = [start for _, start in entries]
        self.latest = self._epochs[-1] if self._epochs else UNDEFINED

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Add an epoch that writes from `start_offset` on; False when it is the latest already."""
        if epoch == self.latest:
            return False
        # A newer view of the past wins: entries with the same or a higher epoch or offset are stale.
        while self._epochs and (self._epochs[-1] >= epoch or self._starts[-1] >= start_offset):
            self._epochs.pop()
            self._starts.pop()
        self._epochs.append(epoch)
        self._starts.append(start_offset)
        self.latest = epoch
        return True

    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self._epochs, self._starts, strict=True))

    def start_of_latest(self) -> int:
        """The offset from which the latest epoch writes; 0 when there is none."""
        return self._starts[-1] if self._starts else 0

    def epoch_for_offset(self, offset: int) -> int:
        """The epoch that wrote `offset`; -1 when it is before all known epochs."""
        i = bisect_right(self._starts, offset) - 1
        return self._epochs[i] if i >= 0 else UNDEFINED

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """(largest known epoch <= `epoch`, its end offset), as OffsetForLeaderEpoch answers; (-1, -1) if unknown."""
        if epoch == UNDEFINED or not self._epochs:
            return UNDEFINED, UNDEFINED
        if epoch == self.latest:
            return epoch, log_end_offset
        i = bisect_right(self._epochs, epoch)
        if i == len(self._epochs):
            return UNDEFINED, UNDEFINED
        return (self._epochs[i - 1] if i else epoch), self._starts[i]

    def truncate_from_start(self, log_start_offset: int) -> bool:
        """Remove epochs that ended before `log_start_offset`. The epoch of that offset then starts there."""
        i = bisect_right(self._starts, log_start_offset) - 1
        if i < 0 or (i == 0 and self._starts[0] == log_start_offset):
            return False
        del self._epochs[:i], self._starts[:i]
        self._starts[0] = log_start_offset
        return True

    def truncate_from_end(self, end_offset: int) -> bool:
        """Remove epochs that start at `end_offset` or behind it."""
        before = len(self._starts)
        while self._starts and self._starts[-1] >= end_offset:
            self._epochs.pop()
            self._starts.pop()
        self.latest = self._epochs[-1] if self._epochs else UNDEFINED
        return len(self._starts) != before
