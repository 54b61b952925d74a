"""The producers and transactions that a follower knows while it lacks a part of its leader's log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from odradek.storage.producer_state import ProducerStates

if TYPE_CHECKING:
    from odradek.storage.partition_log import PartitionLog


class CopyProducers:
    """The producers of the first offsets of a log, read as far as needed. Owner: the replica."""

    __slots__ = ("end", "log", "states")

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.end = log.log_start_offset
        self.states = ProducerStates(log.name)

    def read_to(self, end: int) -> None:
        """Go on reading, up to a batch that begins at `end`."""
        for segment in self.log.segments:
            if segment.next_offset <= self.end:
                continue
            for _, batch in segment.iter_batches():
                if batch.base_offset >= end:
                    return
                if batch.base_offset >= self.end:
                    self.states.replay(batch)
                    self.end = batch.next_offset


class Copy(Protocol):
    """The part of a replica that is used here."""

    log: PartitionLog
    end: int
    high_watermark: int
    producers: CopyProducers | None


def producers_of(copy: Copy) -> ProducerStates:
    """The producers of the records that a replica has."""
    log = copy.log
    if copy.end >= log.log_end_offset:
        return log.producers
    known = copy.producers
    if known is None or known.log is not log or known.end > copy.end:
        known = copy.producers = CopyProducers(log)
    known.read_to(copy.end)
    return known.states


def stable_offset(copy: Copy) -> int:
    """The last stable offset of a replica: its first transaction that is open there, or its high watermark."""
    high_watermark, log = copy.high_watermark, copy.log
    if copy.end >= log.log_end_offset and high_watermark == log.high_watermark:
        return log.last_stable_offset
    first = producers_of(copy).first_unstable_offset(high_watermark)
    return high_watermark if first is None else min(max(first, log.log_start_offset), high_watermark)
