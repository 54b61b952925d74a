"""Work on large batches that takes too long to be done between two requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from odradek.protocol.compression import DEFAULT_MAX_INFLATED

MAX_INFLATED_OF_REQUEST: Final = 4 * DEFAULT_MAX_INFLATED
"""How many bytes the large batches of one request may inflate to together."""


T = TypeVar("T")
_STEP: Final = 1000
"""So many records are handled one by one until the work gives way."""


class LargeBatch(Exception):
    """The records of a batch are too many to be looked at between two requests. Nothing was changed."""


class LongWork:
    """Work that is done where it may take its time. `left`: how many bytes it may still inflate.

    This one is done in place; `odradek.broker.worker` has the one for a thread.
    """

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_INFLATED_OF_REQUEST) -> None:
        self.left = left

    def give_way(self) -> None:
        """Called every few milliseconds: others may run now. The work ends if this raises."""

    def slowly(self, records: Iterable[T]) -> Iterator[T]:
        """The same records; the work gives way between them."""
        for number, record in enumerate(records):
            if number % _STEP == _STEP - 1:
                self.give_way()
            yield record
