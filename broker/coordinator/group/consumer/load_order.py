"""Members in the order of their load, walked from both ends while partitions go from the upper end to the lower."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NOBODY = -1


class LoadOrder:
    """The members of one topic, by how many partitions they have.

    At the lower end stands a range of members that are filled up together: each gets one partition, then the level
    rises, and members that have as many join the range. At the upper end stands its mirror image. ``loads`` is read
    while the caller changes it, as members are met for the first time.
    """

    __slots__ = (
        "_least",
        "_least_end",
        "_least_level",
        "_loads",
        "_members",
        "_most",
        "_most_end",
        "_most_level",
        "_most_start",
        "imbalance",
    )

    def __init__(self, loads: Sequence[int], members: Iterable[int]) -> None:
        self._loads = loads
        self._members = sorted(members, key=lambda number: (loads[number], number))
        size = len(self._members)
        lowest, highest = loads[self._members[0]], loads[self._members[-1]]
        self.imbalance = highest - lowest
        self._least = self._least_end = 0
        self._least_level = lowest - 1
        self._most = size - 1
        self._most_start = self._most_end = size
        self._most_level = highest + 1

    @property
    def is_balanced(self) -> bool:
        """Whether the levels of both ranges differ by one at most."""
        return self._most_level - self._least_level <= 1

    def next_least(self) -> int:
        """The member that shall get the next partition."""
        if self._least >= self._least_end:
            self._least_level += 1
            while self._least_end < len(self._members) and self._load_at(self._least_end) == self._least_level:
                self._least_end += 1
            self._least = 0
        self._least += 1
        return self._members[self._least - 1]

    def next_most(self) -> int:
        """The member that shall lose the next partition, `NOBODY` when none is left."""
        if self._most < self._most_start:
            if self._most_end <= self._most_start and self._most_start > 0:
                self._most_level = self._load_at(self._most_start - 1)
            else:
                self._most_level -= 1
            while self._most_start > 0 and self._load_at(self._most_start - 1) == self._most_level:
                self._most_start -= 1
            self._most = self._most_end - 1
        if self._most < 0:
            return NOBODY
        self._most -= 1
        return self._members[self._most + 1]

    def exclude_most(self) -> None:
        """The member that `next_most` gave last has nothing to lose: leave it out from now on."""
        members = self._members
        place, last = self._most + 1, self._most_end - 1
        members[place], members[last] = members[last], members[place]
        self._most_end -= 1

    def _load_at(self, place: int) -> int:
        return self._loads[self._members[place]]
