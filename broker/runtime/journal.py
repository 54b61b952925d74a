"""The log of a shard: stores the records of outcomes and gives them back to `Machine.replay`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from odradek.broker.runtime.machine import LogRecord, Machine, NewRecord, Producer
from odradek.protocol.message import Buffer

New = TypeVar("New", contravariant=True)
"""A record as a machine makes it."""
Stored = TypeVar("Stored", covariant=True)
"""A record as `Machine.replay` takes it."""


class Journal(Protocol[New, Stored]):
    """A shard's log. It alone knows the form of the records: keyed records, or frames of the metadata log."""

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""

    @property
    def leader_epoch(self) -> int:
        """The log's leader epoch, which grows with each new leader."""

    @property
    def apart(self) -> bool:
        """Whether the log's replicas differ, so that an append may not be committed when it returns."""

    def append(self, records: Sequence[New], now_ms: int, producer: Producer | None) -> Iterable[Stored]:
        """Append one batch; returns its records with their offsets. Raises `KafkaError`, then nothing is written."""

    def split(self, records: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Split records that need not be written together into runs that each fit into a batch."""

    def load(self, machine: Machine) -> Iterator[int]:
        """Replay the whole log into `machine`; a generator that pauses after each slice and yields the next offset.

        It reads up to the end that the log has by then, so records appended meanwhile are included.
        """


class KeyedJournal(Journal[NewRecord, LogRecord], Protocol):
    """The log of a coordinator: records with keys, and transactions."""

    @property
    def start_offset(self) -> int:
        """The first offset of the log."""

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """Append a transaction marker; returns its offset."""

    def read(self, offset: int) -> Sequence[Buffer]:
        """Whole batches from `offset` on, up to `loading.SLICE_BYTES`, at least one; nothing at the end of the log."""


class ReplicatedJournal(KeyedJournal, Protocol):
    """The log of a coordinator whose replicas may differ."""

    @property
    def committed_offset(self) -> int:
        """The high watermark: all replicas in sync have everything before it."""

    def check_in_sync(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS if an acks=all Produce would be refused."""

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change` once, when more is committed or the leader has changed.

        Returns a function that cancels it.
        """
