"""The records that a share partition keeps track of: runs of offsets that were fetched at once.

A run consists of pieces, each with one state. It begins as one piece and is split where records no longer share their
fate; neighbours that have become equal again are joined, so that the cost follows the number of different fates and not
the number of records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from odradek.broker.partitions.share.states import (
    ACQUIRED,
    ARCHIVED,
    AVAILABLE,
    TERMINAL,
    TRANSITIONS,
    RecordState,
    StateBatch,
)

NOBODY = ""
"""The member id of what no member holds."""
UNLOCKED = -1
"""The deadline of what is not locked."""

_FIRST = attrgetter("first_offset")


class Piece:
    """Neighbouring offsets with one state, delivery count and lock; both ends included.

    `deadline_ms`: when the lock of acquired records runs out; `UNLOCKED` for any other.
    """

    __slots__ = ("deadline_ms", "delivery_count", "first_offset", "last_offset", "member_id", "state")

    def __init__(
        self,
        first_offset: int,
        last_offset: int,
        state: RecordState,
        delivery_count: int,
        member_id: str = NOBODY,
        deadline_ms: int = UNLOCKED,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.state = state
        self.delivery_count = delivery_count
        self.member_id = member_id
        self.deadline_ms = deadline_ms

    def __repr__(self) -> str:
        offsets = f"{self.first_offset}-{self.last_offset}"
        return f"Piece({offsets} {self.state.name} x{self.delivery_count} {self.member_id!r} until {self.deadline_ms})"

    def __len__(self) -> int:
        return self.last_offset - self.first_offset + 1

    @property
    def is_terminal(self) -> bool:
        """Whether its records are never delivered again."""
        return self.state in TERMINAL

    def as_batch(self) -> StateBatch:
        """As the share coordinator stores it."""
        return StateBatch(self.first_offset, self.last_offset, self.state, self.delivery_count)

    def acquire(self, member_id: str, deadline_ms: int) -> None:
        """A member gets the available records, for the next time."""
        self._change(ACQUIRED)
        self.delivery_count += 1
        self.member_id = member_id
        self.deadline_ms = deadline_ms

    def settle(self, state: RecordState, delivery_limit: int, instead: RecordState = ARCHIVED) -> None:
        """Acquired records leave their member; those delivered `delivery_limit` times get `instead`: no comeback."""
        if state is AVAILABLE and self.delivery_count >= delivery_limit:
            state = instead
        self._change(state)
        self.member_id = NOBODY
        self.deadline_ms = UNLOCKED

    def archive(self) -> None:
        """The log has lost the records, readers may not see them, or they have been dead letters."""
        self._change(ARCHIVED)
        self.member_id = NOBODY
        self.deadline_ms = UNLOCKED

    def take_back(self, member_id: str, deadline_ms: int) -> None:
        """Undo a `settle` that could not be stored: the member holds the records as before."""
        self.state = ACQUIRED
        self.member_id = member_id
        self.deadline_ms = deadline_ms

    def _change(self, state: RecordState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise RuntimeError(f"records cannot go from {self.state.name} to {state.name}: {self!r}")
        self.state = state

    def _cut(self, offset: int) -> Piece:
        """Keep what is before `offset`; return the rest as a piece of its own."""
        rest = Piece(offset, self.last_offset, self.state, self.delivery_count, self.member_id, self.deadline_ms)
        self.last_offset = offset - 1
        return rest


class InFlightRun:
    """A run of offsets, both ends included, and its pieces, which cover it in order without gaps.

    `split`: whether its records were handled separately, which changes how they are acquired again.
    """

    __slots__ = ("first_offset", "last_offset", "pieces", "split")

    def __init__(self, piece: Piece) -> None:
        self.first_offset = piece.first_offset
        self.last_offset = piece.last_offset
        self.pieces = [piece]
        self.split = False

    def __repr__(self) -> str:
        return f"InFlightRun({self.first_offset}-{self.last_offset}: {self.pieces})"

    def __len__(self) -> int:
        return self.last_offset - self.first_offset + 1

    @property
    def whole(self) -> Piece:
        """The only piece of a run that is not split."""
        return self.pieces[0]

    def fits(self, first_offset: int, last_offset: int) -> bool:
        """Whether the whole run lies within those offsets."""
        return first_offset <= self.first_offset and self.last_offset <= last_offset

    def touching(self, first_offset: int, last_offset: int) -> Iterator[Piece]:
        """The pieces that have any of those offsets. None may be cut or joined meanwhile."""
        pieces = self.pieces
        for index in range(self._index(first_offset), len(pieces)):
            piece = pieces[index]
            if piece.first_offset > last_offset:
                return
            if piece.last_offset >= first_offset:
                yield piece

    def exactly(self, first_offset: int, last_offset: int) -> list[Piece]:
        """The pieces of those offsets, cut at both ends."""
        self.split = True
        self._cut_before(first_offset)
        self._cut_before(last_offset + 1)
        return list(self.touching(first_offset, last_offset))

    def join(self, first_offset: int, last_offset: int) -> None:
        """Join equal neighbours among the pieces of those offsets and around them, if no member holds them."""
        pieces = self.pieces
        low = max(0, self._index(first_offset) - 1)
        high = self._index(last_offset) + 1
        joined: list[Piece] = []
        for piece in pieces[low : high + 1]:
            if joined and _equal(joined[-1], piece):
                joined[-1].last_offset = piece.last_offset
            else:
                joined.append(piece)
        pieces[low : high + 1] = joined

    def forget_before(self, offset: int) -> None:
        """Drop the pieces that end before `offset`; the last one stays."""
        index = min(self._index(offset), len(self.pieces) - 1)
        if index > 0:
            del self.pieces[:index]

    def _cut_before(self, offset: int) -> None:
        index = self._index(offset)
        piece = self.pieces[index]
        if piece.first_offset < offset <= piece.last_offset:
            self.pieces.insert(index + 1, piece._cut(offset))

    def _index(self, offset: int) -> int:
        """The index of the piece with `offset`; the first or last piece for offsets outside."""
        return max(0, bisect_right(self.pieces, offset, key=_FIRST) - 1)


def _equal(one: Piece, other: Piece) -> bool:
    return one.state is not ACQUIRED and one.state is other.state and one.delivery_count == other.delivery_count
