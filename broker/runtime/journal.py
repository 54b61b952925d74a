"""A shard's log as the shard sees it: it stores what a machine decided and feeds it back to `Machine.replay`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from odradek.broker.runtime.machine import Machine, Producer
from odradek.broker.runtime.records import LogRecord, NewRecord
from odradek.protocol.message import Buffer

New = TypeVar("New", contravariant=True)
"""What a machine wants written."""
Stored = TypeVar("Stored", covariant=True)
"""The same as `Machine.replay` takes it."""


class Journal(Protocol[New, Stored]):
    """The one place that knows the form of the records: keyed ones of coordinators, frames of the metadata log."""

    @property
    def end_offset(self) -> int:
        """The offset that the next record will get."""

    @property
    def leader_epoch(self) -> int:
        """Grows with each change of the log's leader."""

    @property
    def apart(self) -> bool:
        """Whether what is appended may have to wait for the followers of a log that is kept by several nodes."""

    def append(self, records: Sequence[New], now_ms: int, producer: Producer | None) -> Iterable[Stored]:
        """Append one batch; returns its records with their offsets. Raises `KafkaError`, then nothing is written."""

    def split(self, records: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Records that need not be written at once, in runs that each fit into a batch."""

    def load(self, machine: Machine) -> Iterator[int]:
        """Replay the whole log into `machine`; a generator that pauses after each slice and yields the next offset.

        The end is looked at before each slice, so what is appended while it is under way is read too.
        """


class KeyedJournal(Journal[NewRecord, LogRecord], Protocol):
    """The log of a coordinator: records with keys, of which the last one counts, and transactions."""

    @property
    def start_offset(self) -> int:
        """The first offset of the log."""

    def append_marker(self, producer: Producer, coordinator_epoch: int, commit: bool, now_ms: int) -> int:
        """Append a transaction marker; returns its offset."""

    def read(self, offset: int) -> Sequence[Buffer]:
        """Whole batches from `offset` on, `loader.SLICE_BYTES` of them or one; nothing at the end of the log."""


class ReplicatedJournal(KeyedJournal, Protocol):
    """The log of a coordinator whose replicas may differ."""

    @property
    def committed_offset(self) -> int:
        """Everything before it is on all replicas in sync."""

    def check_in_sync(self) -> None:
        """NOT_ENOUGH_REPLICAS where acks=all would be refused."""

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Have `on_change` called once, when more is committed or the leader is another one.

        Returns what forgets it.
        """
