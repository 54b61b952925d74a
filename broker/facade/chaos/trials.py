"""Which schedules ran, and the search for the few faults of them that matter."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeVar

from odradek.broker.facade.chaos.schedule import ChaosFault

T = TypeVar("T")

_REMEMBERED = 1000


class Ran(Protocol):
    """A `Chaos` that has run."""

    @property
    def origin(self) -> str:
        """The origin of its schedule."""

    @property
    def schedule(self) -> tuple[ChaosFault, ...]:
        """Its schedule, as far as it went."""

    @property
    def log(self) -> list[str]:
        """The applied faults with their times."""


class Trials:
    """The schedules that ran since `begin`, oldest first, and the faults that a trial keeps.

    A fault is identified by the place of its `Chaos` among those that ran, and by its number in it.
    """

    def __init__(self) -> None:
        self.ran: deque[Ran] = deque(maxlen=_REMEMBERED)
        self._kept: frozenset[tuple[int, int]] | None = None

    def begin(self) -> None:
        """Forget the schedules of the test before."""
        self.ran.clear()

    def keeps(self, chaos: Ran, number: int) -> bool:
        """Whether the present trial keeps the fault. Outside of trials every fault is kept. `chaos` is in `ran`
        already.
        """
        if self._kept is None:
            return True
        return (next(place for place, each in enumerate(self.ran) if each is chaos), number) in self._kept

    def faults(self) -> list[tuple[int, int]]:
        """All faults of the schedules that ran."""
        return [(place, fault.number) for place, chaos in enumerate(self.ran) for fault in chaos.schedule]

    @contextmanager
    def keeping(self, faults: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Schedules that run inside of ``with`` have these faults only."""
        before, self._kept = self._kept, frozenset(faults)
        self.begin()
        try:
            yield
        finally:
            self._kept = before


TRIALS = Trials()
"""Of this process; the pytest plugin begins it with each test."""


def shrunk(faults: Sequence[T], fails: Callable[[Sequence[T]], bool], tries: int = 100) -> list[T]:
    """A minimal set of faults with which the test still fails, by Zeller's delta debugging.

    `fails` runs the test with some of them. The test has failed with all of `faults`. The set may be empty. After
    `tries` runs the smallest set so far is returned.
    """
    kept = list(faults)
    left = tries

    def still_fails(some: Sequence[T]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(some)

    if not kept or still_fails([]):
        return []
    parts = 2
    while len(kept) > 1 and left > 0:
        size = -(-len(kept) // parts)
        pieces = [kept[start : start + size] for start in range(0, len(kept), size)]
        for piece in pieces:
            rest = [fault for fault in kept if fault not in piece]
            if len(pieces) > 2 and still_fails(piece):
                kept, parts = piece, 2
                break
            if still_fails(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(kept), parts * 2)
    return kept
