"""What clients were told in a run, and what they did: the checker holds the logs against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

Place = tuple[str, int]
"""Topic and partition."""


class End(Enum):
    """How a transaction ended, as far as its client knows."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


@dataclass
class Transaction:
    """One transaction: the values that it wrote, acknowledged or not."""

    end: End = End.OPEN
    values: dict[Place, list[bytes]] = field(default_factory=dict)


@dataclass
class History:
    """`sent` and `acked`: of producers without transactions, in order. `seen`: what readers read, by offset.

    `commits`: the highest offset that a group was told is committed.
    """

    sent: dict[tuple[str, Place], list[bytes]] = field(default_factory=dict)
    acked: dict[Place, list[bytes]] = field(default_factory=dict)
    transactions: list[Transaction] = field(default_factory=list)
    seen: dict[Place, dict[int, bytes]] = field(default_factory=dict)
    commits: dict[tuple[str, Place], int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """One more of it, for the figures."""
        self.counts[what] = self.counts.get(what, 0) + 1
