"""The load of a shard: its log is replayed into a fresh machine, a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.broker.runtime.journal import Journal
from odradek.broker.runtime.machine import Machine


class Loading:
    """How far the load has come. Owner: the shard.

    `held`: whether a test keeps it from going on. `leader_epoch`: of the log when the last load began. `count`: loads
    that are done.
    """

    __slots__ = ("_journal", "_slices", "count", "held", "leader_epoch")

    def __init__(self, journal: Journal[Any, Any]) -> None:
        self._journal = journal
        self._slices: Iterator[int] | None = None
        self.count = 0
        self.held = False
        self.leader_epoch = journal.leader_epoch

    @property
    def can_go_on(self) -> bool:
        """Whether there is a next slice to replay, and nobody holds it."""
        return self._slices is not None and not self.held

    @property
    def is_outdated(self) -> bool:
        """Whether the log has got another leader since the last load began."""
        return self._journal.leader_epoch != self.leader_epoch

    def begin(self, machine: Machine) -> None:
        """Begin at the start of the log."""
        self.leader_epoch = self._journal.leader_epoch
        self._slices = self._journal.load(machine)

    def replay_slice(self) -> bool:
        """Replay the next slice; returns whether that was the last one."""
        assert self._slices is not None
        reached = next(self._slices, self._journal.end_offset)
        if reached < self._journal.end_offset:
            return False
        self._slices = None
        self.count += 1
        return True

    def stop(self, *, resigned: bool = False) -> None:
        """Give up the load; `resigned`: there is nothing to load until the log has another leader."""
        self._slices = None
        if resigned:
            self.leader_epoch = self._journal.leader_epoch
