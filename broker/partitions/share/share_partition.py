"""A share partition: the records of one topic partition that one share group works on, as the leader keeps them.

A pure machine: it is given the time, the fetched batches and somewhere to store what members decide. Between
`start_offset` and `end_offset` lie the runs that are in flight; what is before them is done, what is behind them
has not been fetched yet. Everything a member says is stored before it counts, so a reload never forgets an answer.
Locks are not stored, so after a reload acquired records are available again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol

from sortedcontainers import SortedDict

from odradek.broker.partitions.share.in_flight import InFlightRun, Piece
from odradek.broker.partitions.share.states import (
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    TERMINAL,
    RecordState,
    ShareSettings,
    StateBatch,
)

_MOST_COUNTED = (1 << 31) - 1


class StateWrite(NamedTuple):
    """A change for the share coordinator to store.

    `start_offset` and `delivery_complete_count` (how many records from there on are done) are those before the
    start moves over the records that become done with this write, as in Kafka.
    """

    start_offset: int
    delivery_complete_count: int
    batches: Sequence[StateBatch]


StateStore = Callable[[StateWrite], None]
"""Stores a change of a share partition; raises `KafkaError` if it could not be, then nothing is stored."""


class GiveUp(Protocol):
    """Takes records that are rejected or delivered too often, if their group has a dead letter queue."""

    def __call__(self, batch: StateBatch, *, rejected: bool) -> None:
        """They are ARCHIVING, which is stored; `SharePartition.given_up` is to be called when they may be ARCHIVED."""


class GapWindow:
    """Offsets that were fetched before the last reload and never answered: holes between the stored batches.

    They are fetched again up to `end_offset`; `start_offset` is where the next one may begin. It counts only while
    nothing behind `end_offset` has been fetched.
    """

    def __init__(self, start_offset: int, end_offset: int) -> None:
        self.start_offset = start_offset
        self.end_offset = end_offset


class SharePartition:
    """See the module. Owner: `SharePartitions`; all calls are sync and made in the broker's task.

    Invariants: runs do not overlap; every acquired piece has a member and a deadline, no other piece has; no piece is
    delivered more often than `delivery_limit` at the time of its acquisition allowed.
    """

    def __init__(self, settings: Callable[[], ShareSettings], store: StateStore, give_up: GiveUp | None = None) -> None:
        self._read_settings = settings
        self.store = store
        self._give_up = give_up
        self.runs: Any = SortedDict()
        self.start_offset = 0
        self.end_offset = 0
        self.delivery_complete_count = 0
        self.gap_window: GapWindow | None = None
        self._available_from: int | None = None
        self._locks: list[tuple[int, int, int]] = []

    @property
    def settings(self) -> ShareSettings:
        """The group's configuration in force."""
        return self._read_settings()

    # -- copies

    def snapshot(self) -> bytes:
        """The whole state, locks included, for `restore`."""
        window = self.gap_window
        gap = None if window is None else (window.start_offset, window.end_offset)
        known = self.runs, self.start_offset, self.end_offset, self.delivery_complete_count, gap
        return pickle.dumps((known, self._available_from, self._locks), pickle.HIGHEST_PROTOCOL)

    def restore(self, snapshot: bytes) -> None:
        """Restore a snapshot."""
        known, self._available_from, self._locks = pickle.loads(snapshot)
        self.runs, self.start_offset, self.end_offset, self.delivery_complete_count, gap = known
        self.gap_window = None if gap is None else GapWindow(*gap)

    # -- loading

    def load(self, start_offset: int, batches: Sequence[StateBatch]) -> None:
        """Take over what the share coordinator has stored."""
        self.start_offset = self.end_offset = start_offset
        previous_last = start_offset - 1
        gap_start = -1
        for batch in batches:
            if batch.first_offset <= previous_last or batch.last_offset < batch.first_offset:
                raise ValueError(f"stored batches overlap or precede offset {start_offset}: {batch}")
            if gap_start < 0 and batch.first_offset > previous_last + 1:
                gap_start = previous_last + 1
            previous_last = batch.last_offset
            self.add_run(Piece(batch.first_offset, batch.last_offset, RecordState(batch.state), batch.delivery_count))
        if not self.runs:
            return
        self.end_offset = previous_last
        self._available_from = start_offset
        self.delivery_complete_count = sum(len(piece) for piece in self.pieces() if piece.is_terminal)
        if gap_start >= 0:
            self.gap_window = GapWindow(gap_start, previous_last)
        self.advance()

    # -- reading

    def pieces(self) -> Iterator[Piece]:
        """Every piece in flight, in order of the offsets."""
        for run in self.runs.values():
            yield from run.touching(self.start_offset, run.last_offset)

    @property
    def in_flight(self) -> int:
        """How many offsets count against the limit of locks."""
        return self.end_offset - self.start_offset + 1 if self.runs else 0

    @property
    def gap_window_active(self) -> bool:
        """Whether holes between stored batches are fetched again."""
        return self.gap_window is not None and self.gap_window.end_offset == self.end_offset

    def can_acquire(self) -> bool:
        """Whether a fetch can get anything, provided that the log has it."""
        return self.next_fetch_offset() != self.end_offset + 1 or self.in_flight < self.settings.max_locks

    def next_fetch_offset(self) -> int:
        """The offset of the next fetch: the first available record, or the end of everything in flight."""
        if not self.runs or self.start_offset > self.runs.peekitem(-1)[1].last_offset:
            self._available_from = None
            return self.end_offset
        if self._available_from is None:
            return self.end_offset + 1
        offset: int | None
        offset = self._first_in_window() if self.gap_window_active else self._first_available(self._available_from)
        if offset is None:
            self._available_from = None
            return self.end_offset + 1
        if not self.gap_window_active:
            self._available_from = offset
        return offset

    def _first_available(self, from_offset: int) -> int | None:
        floor = self.floor(from_offset)
        for key in self.runs.irange(from_offset if floor is None else floor.first_offset):
            run: InFlightRun = self.runs[key]
            for piece in run.touching(from_offset, run.last_offset):
                if piece.state is AVAILABLE:
                    return max(piece.first_offset, self.start_offset)
        return None

    def _first_in_window(self) -> int | None:
        assert self.gap_window is not None
        gap_start = self.gap_window.start_offset
        for run in self.runs.values():
            if run.first_offset > gap_start:
                return int(gap_start)
            gap_start = max(run.last_offset + 1, gap_start)
            for piece in run.pieces:
                if piece.state is AVAILABLE:
                    return int(piece.first_offset)
        return None

    def floor(self, offset: int) -> InFlightRun | None:
        """The run that begins last among those at or before `offset`."""
        index = self.runs.bisect_right(offset) - 1
        run: InFlightRun | None = None if index < 0 else self.runs.peekitem(index)[1]
        return run

    def runs_from(self, offset: int, to_offset: int | None = None) -> list[InFlightRun]:
        """The run that `floor` finds, and those behind it (that begin at or before `to_offset`)."""
        floor = self.floor(offset)
        low = offset if floor is None else floor.first_offset
        return [self.runs[key] for key in self.runs.irange(low, to_offset)]

    # -- changing, for the modules that carry out what members ask for

    def add_run(self, piece: Piece) -> InFlightRun:
        """A new run in flight."""
        run = self.runs[piece.first_offset] = InFlightRun(piece)
        return run

    def lock(self, first_offset: int, last_offset: int, deadline_ms: int) -> None:
        """Remember to look at those offsets when their locks run out."""
        locks = self._locks
        while locks and locks[0][2] < self.start_offset:
            heappop(locks)
        heappush(locks, (deadline_ms, first_offset, last_offset))

    def next_deadline_ms(self) -> int | None:
        """The time to call `locks_due`: no lock times out before."""
        return self._locks[0][0] if self._locks else None

    def locks_due(self, now_ms: int) -> Iterator[tuple[int, int]]:
        """The offsets whose locks may have timed out. Each is returned once."""
        while self._locks and self._locks[0][0] <= now_ms:
            _, first_offset, last_offset = heappop(self._locks)
            yield first_offset, last_offset

    def became_available(self, offset: int) -> None:
        """A record at or behind `offset` is available now."""
        if self._available_from is None or offset < self._available_from:
            self._available_from = offset

    def count_done(self, piece: Piece) -> int:
        """How many records of a piece count as completed: those from the start offset on."""
        return max(0, piece.last_offset - max(self.start_offset, piece.first_offset) + 1) if piece.is_terminal else 0

    def write(self, batches: Sequence[StateBatch]) -> None:
        """Store what has been decided, with as high a count as the record can hold. Raises `KafkaError`."""
        self.store(StateWrite(self.start_offset, min(self.delivery_complete_count, _MOST_COUNTED), batches))

    def narrow_gap_window(self, offset: int) -> None:
        """Everything before `offset` has been fetched since the reload."""
        window = self.gap_window
        if window is None:
            return
        if window.end_offset == self.end_offset and offset <= window.end_offset:
            window.start_offset = offset
        else:
            self.gap_window = None

    # -- dead letters

    @property
    def last_state(self) -> RecordState:
        """The next state of records that are rejected or delivered too often: ARCHIVING, or at once ARCHIVED."""
        queued = self._give_up is not None and self.settings.dead_letter_topic
        return ARCHIVING if queued else ARCHIVED

    def give_up(self, batch: StateBatch, *, rejected: bool) -> None:
        """Send records that became ARCHIVING to the dead letter queue."""
        assert self._give_up is not None
        self._give_up(batch, rejected=rejected)

    def go_on_giving_up(self) -> None:
        """The same for what was ARCHIVING before a reload."""
        limit = self.settings.delivery_limit
        for batch in [piece.as_batch() for piece in self.pieces() if piece.state is ARCHIVING]:
            self.give_up(batch, rejected=batch.delivery_count < limit)

    def given_up(self, batch: StateBatch) -> None:
        """Records that were ARCHIVING are ARCHIVED, even where that cannot be stored (`KafkaError`)."""
        first, last = batch.first_offset, batch.last_offset
        self.archive(first, last, ARCHIVING, count=False)
        self.delivery_complete_count += max(0, last - max(self.start_offset, first) + 1)
        try:
            self.write([StateBatch(first, last, ARCHIVED, batch.delivery_count)])
        finally:
            self.advance()

    # -- the start offset

    def log_starts_at(self, offset: int) -> None:
        """The log no longer holds what is before `offset`: available records there are archived."""
        if offset <= self.start_offset:
            return
        if not self.runs:
            self.start_offset = self.end_offset = offset
            self.delivery_complete_count = 0
            return
        gone = 0
        for run in self.runs_from(self.start_offset, offset - 1):
            for piece in run.touching(self.start_offset, offset - 1):
                if piece.state in TERMINAL:
                    low = max(piece.first_offset, self.start_offset)
                    gone += max(0, min(piece.last_offset, offset - 1) - low + 1)
        if self.archive(self.start_offset, offset - 1, AVAILABLE, count=False):
            self.became_available(offset)
        self.start_offset = offset
        self.delivery_complete_count -= gone
        self.end_offset = max(self.end_offset, offset)
        if self.gap_window is not None:
            self.narrow_gap_window(max(self.gap_window.start_offset, offset))

    def archive(self, first_offset: int, last_offset: int, only: RecordState, *, count: bool) -> bool:
        """Archive the records in state `only` of those offsets; tells whether there were any.

        `count`: they become done records in front of which the start offset may still stand.
        """
        found = False
        for run in self.runs_from(first_offset, last_offset):
            if not any(piece.state is only for piece in run.touching(first_offset, last_offset)):
                continue
            found = True
            pieces = (
                [run.whole]
                if not run.split and run.fits(first_offset, last_offset)
                else run.exactly(max(first_offset, run.first_offset), min(last_offset, run.last_offset))
            )
            for piece in pieces:
                if piece.state is only:
                    piece.archive()
                    self.delivery_complete_count += len(piece) if count else 0
            run.join(first_offset, last_offset)
        return found

    def advance(self) -> bool:
        """Move the start offset over the records that are done; tells whether it moved."""
        last_done, done = self._last_done()
        if last_done < 0:
            return False
        runs = self.runs
        if last_done == runs.peekitem(-1)[1].last_offset:
            self.start_offset = self.end_offset = last_done + 1
            self.delivery_complete_count = 0
            runs.clear()
            self._locks.clear()
            return True
        while runs.peekitem(0)[1].last_offset <= last_done:
            runs.popitem(0)
        first = runs.peekitem(0)[1]
        moved = first.first_offset if first.first_offset > last_done else last_done + 1
        if self.gap_window_active and first.first_offset > last_done:
            assert self.gap_window is not None
            moved = min(moved, self.gap_window.start_offset)
        self.start_offset = max(self.start_offset, moved)
        self.delivery_complete_count -= done
        first.forget_before(self.start_offset)
        return True

    def _last_done(self) -> tuple[int, int]:
        """The last offset up to which everything is done (-1: none), and how many records that are."""
        if self.floor(self.start_offset) is None:
            return -1, 0
        last_done, done = -1, 0
        for key in self.runs.irange(self.floor(self.start_offset).first_offset):  # type: ignore[union-attr]
            run = self.runs[key]
            if self.gap_window_active and run.last_offset >= self.gap_window.start_offset:  # type: ignore[union-attr]
                break
            if run.last_offset < self.start_offset:
                continue
            for piece in run.touching(self.start_offset, run.last_offset):
                if not piece.is_terminal:
                    return last_done, done
                last_done = piece.last_offset
                done += self.count_done(piece)
        return last_done, done


def released_state(piece: Piece, start_offset: int) -> RecordState:
    """The state of acquired records that nobody acknowledged: available again if the log still has them."""
    return ARCHIVED if piece.last_offset < start_offset else AVAILABLE
