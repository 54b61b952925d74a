"""Acknowledgements of acquired records, and what happens to records that nobody acknowledges.

An acknowledgement is applied as a whole or not at all: it is checked and applied piece by piece, and rolled back if a
later piece is refused or the share coordinator cannot store it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from odradek.broker.partitions.share.in_flight import InFlightRun, Piece
from odradek.broker.partitions.share.share_partition import SharePartition, released_state
from odradek.broker.partitions.share.states import (
    ACKNOWLEDGED_AS,
    ACQUIRED,
    ARCHIVING,
    AVAILABLE,
    REJECT,
    RENEW,
    AcknowledgementBatch,
    RecordState,
    StateBatch,
)
from odradek.protocol.errors import ErrorCode, KafkaError, as_value


def acknowledge(
    partition: SharePartition, member_id: str, batches: Sequence[AcknowledgementBatch], now_ms: int
) -> bool:
    """Carry out what a member says; tells whether another fetch may find more now.

    Raises INVALID_RECORD_STATE for records that the member does not hold, INVALID_REQUEST for offsets that were never
    fetched, and the error of a share coordinator that could not store it; nothing has changed then.
    """
    work = _Answers(partition)
    try:
        for batch in batches:
            if batch.last_offset >= partition.start_offset:
                _check_and_answer(work, partition, member_id, batch, now_ms)
    except KafkaError:
        work.take_back()
        raise
    return work.store()


def release(partition: SharePartition, member_id: str) -> bool:
    """A member has left: its records become available again. Returns whether another fetch may find more now.

    Raises `KafkaError` if that could not be stored. The records then stay locked until their locks time out.
    """
    work = _Answers(partition)
    for run in list(partition.runs.values()):
        _give_back(work, partition, run, run.first_offset, run.last_offset, lambda piece: piece.member_id == member_id)
    return work.store()


def expire_locks(partition: SharePartition, now_ms: int) -> tuple[list[tuple[str, StateBatch]], KafkaError | None]:
    """Records whose locks have timed out become available again.

    Returns their former holders and new states, and the error if this could not be stored. They become available all
    the same, because a time-out cannot be rolled back.
    """
    work = _Answers(partition)
    for first_offset, last_offset in partition.locks_due(now_ms):
        for run in partition.runs_from(first_offset, last_offset):
            _give_back(work, partition, run, first_offset, last_offset, lambda piece: piece.deadline_ms <= now_ms)
    error: KafkaError | None = None
    try:
        work.store(keep=True)
    except KafkaError as refused:
        error = as_value(refused)
    return [(settled.member_id, settled.batch) for settled in work.settled], error


def _give_back(
    work: _Answers, partition: SharePartition, run: InFlightRun, first: int, last: int, which: Callable[[Piece], bool]
) -> None:
    found = [piece for piece in run.touching(first, last) if piece.state is ACQUIRED and which(piece)]
    for piece in found:
        parts = [piece]
        if piece.first_offset < partition.start_offset <= piece.last_offset:
            low, high = piece.first_offset, piece.last_offset
            parts = run.exactly(low, partition.start_offset - 1) + run.exactly(partition.start_offset, high)
        for part in parts:
            work.settle(run, part, released_state(part, partition.start_offset))


class _Settled(NamedTuple):
    """Records that were released, their holder and the end of the lock, and whether it was because of a rejection."""

    run: InFlightRun
    batch: StateBatch
    member_id: str
    deadline_ms: int
    rejected: bool


class _Answers:
    """Changes that are not stored yet, with the state to roll back to."""

    def __init__(self, partition: SharePartition) -> None:
        self._partition = partition
        self._limit = partition.settings.delivery_limit
        self.last_state = partition.last_state
        self.settled: list[_Settled] = []

    def settle(self, run: InFlightRun, piece: Piece, state: RecordState, *, rejected: bool = False) -> None:
        member_id, deadline_ms = piece.member_id, piece.deadline_ms
        piece.settle(state, self._limit, self.last_state)
        self._partition.delivery_complete_count += self._partition.count_done(piece)
        self.settled.append(_Settled(run, piece.as_batch(), member_id, deadline_ms, rejected))

    def take_back(self) -> None:
        for run, batch, member_id, deadline_ms, _ in self.settled:
            # Not by piece: a later answer of the same request may have cut it.
            for piece in run.touching(batch.first_offset, batch.last_offset):
                self._partition.delivery_complete_count -= self._partition.count_done(piece)
                piece.take_back(member_id, deadline_ms)

    def store(self, *, keep: bool = False) -> bool:
        """Store and complete it; `keep`: it counts even if it cannot be stored. True if a fetch may find more."""
        if not self.settled:
            return False
        try:
            self._partition.write([settled.batch for settled in self.settled])
        except KafkaError:
            if keep:
                self._complete()
            else:
                self.take_back()
            raise
        return self._complete()

    def _complete(self) -> bool:
        released = False
        given_up: list[tuple[StateBatch, bool]] = []
        for run, batch, _, _, rejected in self.settled:
            if batch.state == AVAILABLE:
                released = True
                self._partition.became_available(batch.first_offset)
            elif batch.state == ARCHIVING:
                given_up += ((part, rejected) for part in _letters(batch, apart=run.split))
            if run.split:
                run.join(batch.first_offset, batch.last_offset)
        moved = self._partition.advance()
        for batch, rejected in given_up:
            self._partition.give_up(batch, rejected=rejected)
        return moved or released


def _letters(batch: StateBatch, *, apart: bool) -> Iterator[StateBatch]:
    """The dead letters to send at once: as in Kafka, single offsets if the records of a run were split."""
    if not apart:
        yield batch
        return
    for offset in range(batch.first_offset, batch.last_offset + 1):
        yield StateBatch(offset, offset, batch.state, batch.delivery_count)


# -- checking


def _check_and_answer(
    work: _Answers, partition: SharePartition, member_id: str, batch: AcknowledgementBatch, now_ms: int
) -> None:
    first, last, types = batch
    for run in _runs_of(partition, first, last):
        if run.last_offset < partition.start_offset:
            continue
        whole = run.fits(first, last) and len(types) == 1 and run.first_offset >= partition.start_offset
        if not run.split:
            _check_holder(run.whole, member_id, _BATCH)
        if whole and not run.split:
            _answer(work, partition, run, [run.whole], types[0], now_ms)
            continue
        low = max(first, run.first_offset, partition.start_offset)
        high = min(last, run.last_offset)
        for kind, from_offset, to_offset in _runs_of_types(batch, low, high):
            pieces = run.exactly(from_offset, to_offset)
            for piece in pieces:
                _check_holder(piece, member_id, _OFFSET)
                _answer(work, partition, run, [piece], kind, now_ms)


def _runs_of(partition: SharePartition, first: int, last: int) -> list[InFlightRun]:
    """The runs that a batch of acknowledgements is about, or the error if they were not all fetched."""
    floor = partition.floor(first)
    if floor is None:
        if not first < partition.start_offset <= last:
            raise _wrong_state("Batch record not found. The request batch offsets are not found in the cache.")
        floor = partition.floor(partition.start_offset)
    runs = [] if floor is None else partition.runs_from(floor.first_offset, last)
    if not runs or runs[-1].last_offset < first:
        raise _wrong_request("Batch record not found. The first offset in request is past acquired records.")
    if last > runs[-1].last_offset:
        raise _wrong_request("Batch record not found. The last offset in request is past acquired records.")
    return runs


def _runs_of_types(batch: AcknowledgementBatch, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    """The acknowledge types of those offsets: type, first and last offset of each run of equal ones."""
    first, _, types = batch
    if len(types) == 1:
        yield types[0], low, high
        return
    start = low
    for offset in range(low, high + 1):
        if offset == high or types[offset + 1 - first] != types[start - first]:
            yield types[start - first], start, offset
            start = offset + 1


_BATCH = "The batch cannot be acknowledged. The batch is not in the acquired state.", "batch record"
_OFFSET = "The offset cannot be acknowledged. The offset is not acquired.", "offset"


def _check_holder(piece: Piece, member_id: str, words: tuple[str, str]) -> None:
    if piece.state is not ACQUIRED:
        raise _wrong_state(words[0])
    if piece.member_id != member_id:
        raise _wrong_state(f"Member is not the owner of {words[1]}")


def _answer(
    work: _Answers, partition: SharePartition, run: InFlightRun, pieces: Sequence[Piece], kind: int, now_ms: int
) -> None:
    for piece in pieces:
        if kind == REJECT:
            work.settle(run, piece, work.last_state, rejected=True)
            continue
        if kind != RENEW:
            work.settle(run, piece, ACKNOWLEDGED_AS[kind])
            continue
        if not partition.settings.renew_enabled:
            raise _wrong_state("Renewing acquisition locks is not enabled for the group.")
        piece.deadline_ms = now_ms + partition.settings.lock_duration_ms
        partition.lock(piece.first_offset, piece.last_offset, piece.deadline_ms)


def _wrong_state(why: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_RECORD_STATE, why)


def _wrong_request(why: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, why)
