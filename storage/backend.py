"""Where the bytes of a log live: the contract between `PartitionLog` and a backend.

A `LogBackend` (one per node) opens a `LogStore` per partition; a `LogStore` creates, lists, swaps and drops segments;
the `SegmentStores` of a segment are four: the batches (`BatchStore`), the sparse offset index, the time index and the
aborted-transaction index. `PartitionLog` holds all rules (offsets, validation, producers, rolling, retention,
compaction) and calls a backend only through this contract, from one owner at a time; all methods are synchronous.

Rules that a backend keeps:

* Bytes once appended never move and never change, whatever is appended later: views that `read` returned stay valid
  while they are referenced, also after the segment was dropped.
* A position is the count of bytes appended to the segment before it (in a file: the file position). A batch never
  straddles two of the buffers that `view` returns.
* Indexes hold what Kafka's do: offset index `(last offset of a batch, position of that batch)` at most once in
  `index.interval.bytes`, time index `(largest timestamp so far, offset of its batch)`, both ascending.
* Durability: nothing is durable before `flush`; `PartitionLog.flush` calls `BatchStore.flush` and index flushes of the
  segments from the recovery point on, then `LogStore.save_recovery_point`.
* Dropped segments (`drop_segments`) leave the log at once; a disk backend renames them `.deleted` and removes them
  after `file_delete_delay_ms`. `replace_segments` is the atomic swap at the end of a compaction (`.cleaned` ->
  `.swap` -> final name).
* Errors of the medium are raised as `StorageError`, which names the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import FileSlice
from odradek.protocol.native import mypyc_attr
from odradek.protocol.records import Buffer
from odradek.storage.formats.segment_files import AbortedTxn, IndexEntry, TimeEntry
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.producer_state import ProducerStates

OUT_OF_DESCRIPTORS = "out of file descriptors: raise the limit (ulimit -n)"
"""What a StorageError says if the process may open no more files. It is the same for all files."""
_RESERVED: Final = 12


def is_reserved(descriptor: int) -> bool:
    """Whether a new descriptor is one of the last that the process may have.

    What stays open, a connection or the file of a log, leaves these to what is open for a moment: the module that the
    first request of an API imports, a small file that is read whole.
    """
    try:
        import resource
    except ImportError:  # Windows
        return False
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 0 < most - _RESERVED <= descriptor


@mypyc_attr(allow_interpreted_subclasses=True)
class StorageError(KafkaError):
    """The medium failed, or its bytes are no log (KAFKA_STORAGE_ERROR); `path` names the file."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, message)
        self.path = path

    def again(self) -> StorageError:
        return StorageError(self.message or "", self.path)


class BatchStore(Protocol):
    """The batches of one segment, one after the other."""

    size: int
    """Bytes appended so far."""

    def append(self, batch: Buffer, base_offset: int, leader_epoch: int) -> int:
        """Append one whole batch, with these two header fields replaced; returns its position."""

    def read(self, position: int, length: int) -> list[memoryview]:
        """The bytes from `position`, as few read-only views, without copying; the range lies within `size`."""

    def slices(self, position: int, length: int) -> Sequence[memoryview | FileSlice]:
        """The same bytes, to be sent: bytes in a file as slices of the file."""

    def view(self, position: int) -> tuple[memoryview, int]:
        """A buffer that has the whole batch at `position`, and the index of `position` in it.

        More whole batches may follow in the buffer.
        """

    def truncate(self, size: int) -> None:
        """Remove all bytes from `size` on (recovery of a torn tail, a removed replica tail)."""

    def flush(self) -> None:
        """Make everything appended durable."""

    def begin_sync(self) -> Callable[[], None] | None:
        """A function that makes the bytes appended so far durable, for any thread; None when there is nothing to do.

        It may be called while the segment takes appends. The function raises StorageError.
        """

    def close(self) -> None:
        """Release the medium; the store is not used again."""


class OffsetIndex(Protocol):
    """Sparse, ascending map from offsets to positions."""

    def append(self, offset: int, position: int) -> None: ...
    def floor(self, offset: int) -> int:
        """Position of the last entry whose offset is <= `offset`; 0 when there is none."""

    def floor_position(self, position: int) -> int:
        """The largest entry position <= `position`; 0 when there is none."""

    def is_full(self) -> bool:
        """Whether `segment.index.bytes` leaves no room for another entry (the segment must roll)."""

    def offset_at_or_after(self, position: int) -> int | None:
        """Offset of the first entry at `position` or behind it, None when there is none."""

    def entries(self) -> Sequence[IndexEntry]: ...
    def truncate(self, offset: int) -> None:
        """Remove entries with an offset >= `offset`."""

    def flush(self) -> None: ...
    def close(self) -> None: ...


class TimeIndex(Protocol):
    """Sparse, ascending map from timestamps to offsets."""

    def append(self, timestamp: int, offset: int) -> None:
        """Add an entry unless its timestamp is not larger than the last one's."""

    def floor(self, timestamp: int) -> int:
        """Offset of the last entry whose timestamp is <= `timestamp`; -1 when there is none."""

    def last(self) -> TimeEntry:
        """The last entry; (-1, -1) when there is none."""

    def is_full(self) -> bool: ...
    def entries(self) -> Sequence[TimeEntry]: ...
    def truncate(self, offset: int) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class TxnIndex(Protocol):
    """The aborted transactions whose markers lie in a segment, in the order of the markers."""

    def append(self, entry: AbortedTxn) -> None: ...
    def entries(self) -> Sequence[AbortedTxn]: ...
    def truncate(self, offset: int) -> None:
        """Remove entries whose marker is at `offset` or behind it."""

    def flush(self) -> None: ...
    def close(self) -> None: ...


@mypyc_attr(allow_interpreted_subclasses=True)
class SegmentStores:
    """The stores of one segment."""

    __slots__ = ("base_offset", "batches", "offset_index", "time_index", "txn_index")

    def __init__(
        self,
        base_offset: int,
        batches: BatchStore,
        offset_index: OffsetIndex,
        time_index: TimeIndex,
        txn_index: TxnIndex,
    ) -> None:
        self.base_offset = base_offset
        self.batches = batches
        self.offset_index = offset_index
        self.time_index = time_index
        self.txn_index = txn_index

    def close(self) -> None:
        for part in (self.batches, self.offset_index, self.time_index, self.txn_index):
            part.close()

    def release(self) -> None:
        """Close what is about to be removed."""
        self.close()


class LoadedLog(NamedTuple):
    """An existing log as the backend loaded it: recovered, with torn tails cut and indexes rebuilt."""

    segments: list[SegmentStores]
    log_start_offset: int
    recovery_point: int
    leader_epochs: Sequence[tuple[int, int]] = ()
    """(epoch, start offset), ascending."""
    producers: ProducerStates | None = None
    """Producer state at the end of the log; None lets the log rebuild it by reading all batches."""
    last_modified_ms: Mapping[int, int] = MappingProxyType({})
    """Segment base offset -> time of the last write, for segments without timestamps."""
    cleaner_offset: int = 0
    """The first offset that compaction has not read."""


class LogStore(Protocol):
    """The segments of one partition, and its checkpoints and snapshots."""

    def load(self) -> LoadedLog | None:
        """The existing log, or None for a new one."""

    def create_segment(self, base_offset: int, config: LogConfig) -> SegmentStores:
        """A new, empty segment at the end of the log."""

    def create_cleaned(self, base_offset: int, config: LogConfig) -> SegmentStores:
        """A new, empty segment that is not yet part of the log; `replace_segments` or `discard` follows."""

    def replace_segments(self, old: Sequence[SegmentStores], new: Sequence[SegmentStores]) -> None:
        """Replace segments by the cleaned ones that were made from them, in one atomic step."""

    def discard(self, cleaned: SegmentStores) -> None:
        """Drop an unused cleaned segment."""

    def drop_segments(self, segments: Sequence[SegmentStores], delay_ms: int) -> None:
        """Remove segments from the log; the medium may keep them for `delay_ms`."""

    def segment_sealed(self, stores: SegmentStores) -> None:
        """A segment will get no more appends (trim preallocated files and indexes)."""

    def save_producers(self, offset: int, producers: ProducerStates) -> None:
        """Keep a snapshot of the producer state as of `offset` (taken at each roll and at a clean close)."""

    def drop_producer_snapshots(self, before_offset: int) -> None:
        """Snapshots below `before_offset` are no longer needed."""

    def truncated(self, offset: int) -> None:
        """The log now ends at `offset`: snapshots and checkpoints of later offsets are wrong."""

    def save_leader_epochs(self, epochs: LeaderEpochs) -> None: ...
    def save_log_start_offset(self, offset: int) -> None: ...
    def save_recovery_point(self, offset: int) -> None: ...
    def save_cleaner_offset(self, offset: int) -> None: ...
    def close(self, *, clean: bool) -> None:
        """Release the medium after the segments were closed."""

    def delete(self) -> None:
        """The partition is gone: remove everything."""


class LogBackend(Protocol):
    """Opens the stores of a node's partitions."""

    def open_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> LogStore: ...

    def has_log(self, topic: str, partition: int) -> bool:
        """Whether there is a log that is not open."""

    def delete_log(self, topic: str, partition: int, delay_ms: int) -> None:
        """Remove a log that is not open, if there is one; the medium may keep it for `delay_ms`."""

    def shared_log(self, begin: LoadedLog, end_offset: int, end_size: int) -> LogStore | None:
        """The store of a separate log that begins with these segments and shares their bytes.

        `begin.segments` are another log's; the last one is shared up to the position `end_size`, where the batch before
        `end_offset` ends. None where the medium cannot share bytes: the caller copies the batches then.
        """

    def segment_bytes(self, config: LogConfig) -> int:
        """The largest size of a segment on this medium: `segment.bytes` or less."""

    def close(self, *, clean: bool = True) -> None:
        """Release the medium; `clean` when every log could be closed."""
