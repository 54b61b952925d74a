"""The log of one partition: append, read, offsets, transactions, trimming. Time and epochs arrive as arguments.

Owner: the broker's partition object, from one thread. Everything is synchronous; an append is checked wholly before the
first byte or state changes, so a refused one leaves no trace.
Source: KIP-98 (idempotence, transactions), KIP-101/320 (leader epochs), KIP-107 (delete records), KIP-734.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from odradek.protocol.control import read_end_txn_batch
from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.file_slice import WORTH_SENDING, FileSlice
from odradek.protocol.long_work import LargeBatch, LongWork
from odradek.protocol.record_batch import (
    CONTROL_FLAG,
    MAX_SEQUENCE,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    RecordBatch,
    read_batch,
)
from odradek.protocol.records import Buffer
from odradek.storage import segment_lookup
from odradek.storage.backend import BatchStore, LoadedLog, LogBackend, LogStore, SegmentStores, StorageError
from odradek.storage.checked_records import CheckedRecords
from odradek.storage.formats.segment_files import AbortedTxn
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBatchStore
from odradek.storage.producer_state import BatchMetadata, CompletedTxn, ProducerStates
from odradek.storage.segment import Segment
from odradek.storage.segment_lookup import Looks, TimestampOffset
from odradek.storage.validation import (
    RecordsRefused,
    RecordValidationError,
    check_large,
    checked_before,
    validate_client_batch,
    validate_coordinator_batch,
    validate_copied_batches,
)

_MAX_HINTS: Final = 64
_PLAIN = (
    *("topic", "partition", "name", "_config", "_max_segment_bytes", "_first_unstable", "_aborted_count"),
    *("cleaner_offset", "high_watermark", "holds_high_watermark", "log_end_offset", "log_start_offset"),
    *("recovery_point", "tier", "uncleanable", "unflushed_messages"),
)
"""The attributes of a log that are plain values."""


class AppendOrigin(Enum):
    """The writer of a batch, which decides the checks."""

    CLIENT = auto()
    """A Produce request: everything is checked, and offsets are assigned."""
    COORDINATOR = auto()
    """The broker's own coordinators: offsets are assigned, sequences are not checked, control batches are allowed."""
    REPLICATION = auto()
    """A copy of another log: offsets, epochs and timestamps stay; one or many batches."""


class AppendInfo(NamedTuple):
    """The result of an append: offsets of the batch (for REPLICATION of the first and last), times in milliseconds."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool = False


Appended: TypeAlias = tuple[int, int, int, int, bool]
"""The same as a plain tuple, which saves a tenth of a small append."""


class ReadResult(NamedTuple):
    """Whole batches as views into the log; empty when there is nothing to read."""

    parts: list[memoryview]
    size_bytes: int


SentResult: TypeAlias = tuple[Sequence[memoryview | FileSlice], int]
"""The same for a socket, as a plain tuple: bytes in a file as slices of the file."""

_EMPTY: Final = ReadResult([], 0)
_CLIENT: Final = AppendOrigin.CLIENT
_COORDINATOR: Final = AppendOrigin.COORDINATOR
_new = tuple.__new__  # a NamedTuple's own constructor costs three times as much


class Tier(NamedTuple):
    """The part of a log in the remote tier: everything up to `highest_offset` (-1: nothing). Local segments begin at
    `local_start`.
    """

    local_start: int
    highest_offset: int = -1


class PartitionLog:
    """One partition's log on any backend.

    The high watermark is the log's end after each append, unless `holds_high_watermark`: then it stays until
    `advance_high_watermark` moves it.

    Invariants: log_start_offset <= high_watermark <= log_end_offset; last_stable_offset is never behind an open
    transaction's first offset; segments cover the log without overlap and the last one takes the appends.
    """

    def __init__(
        self,
        topic: str,
        partition: int,
        config: LogConfig,
        backend: LogBackend,
        *,
        now_ms: int = 0,
        topic_id: bytes = bytes(16),
        store: LogStore | None = None,
    ) -> None:
        """`store`: the open store of the log; None lets the backend open it."""
        self.topic = topic
        self.partition = partition
        self.name = f"{topic}-{partition}"
        self.backend = backend
        self._config = config
        self._max_segment_bytes = backend.segment_bytes(config)
        self._hints: dict[int, tuple[Segment, int]] = {}
        self._first_unstable: int | None = None
        self._aborted_count = 0
        self.cleaner_offset = 0
        self.holds_high_watermark = False
        self.uncleanable = False
        """Whether compaction met records that it cannot read."""
        self.unflushed_messages = 0
        self.leader_epochs = LeaderEpochs()
        self.producers = ProducerStates(self.name)
        self.store = store or backend.open_log(topic, partition, topic_id, config)
        self.segments: list[Segment] = []
        self._bases: list[int] = []
        self.active: Segment
        loaded = self.store.load()
        start = 0 if loaded is None else loaded.log_start_offset
        self.log_start_offset = self.log_end_offset = self.high_watermark = self.recovery_point = start
        if loaded is not None and loaded.segments:
            self._take_over(loaded, now_ms)
            if self.active.next_offset < self.log_start_offset:
                # The log ends before it starts, because its tail was lost: go on at its start, as Kafka does.
                self._begin_anew(self.log_start_offset, now_ms, config.file_delete_delay_ms)
            self._aborted_count = sum(len(s.stores.txn_index.entries()) for s in self.segments)
            self._update_unstable()
        else:
            self.active = self._add_segment(start, now_ms)
        self.tier: Tier | None = None
        """The tiered part of the log; None if the log is not tiered."""
        if config.remote_storage_enable:
            self.tier = Tier(self.log_start_offset)

    def _take_over(self, loaded: LoadedLog, now_ms: int) -> None:
        """Have the segments, offsets, epochs and producers of an existing log. Producers that the backend does not have
        are read from the batches.
        """
        for stores, following in zip(loaded.segments, [*loaded.segments[1:], None], strict=True):
            segment = Segment(stores, now_ms, self._jitter())
            modified = loaded.last_modified_ms.get(stores.base_offset, now_ms)
            try:
                segment.restore(following.base_offset if following else None, modified)
            except CorruptDataError as error:
                raise StorageError(str(error)) from error
            self.segments.append(segment)
        self._bases = [segment.base_offset for segment in self.segments]
        self.active = self.segments[-1]
        self.log_start_offset = max(loaded.log_start_offset, self._bases[0])
        self.log_end_offset = self.high_watermark = max(self.active.next_offset, self.log_start_offset)
        self.recovery_point = loaded.recovery_point
        self.cleaner_offset = loaded.cleaner_offset
        self.leader_epochs = LeaderEpochs(loaded.leader_epochs)
        # Epochs of lost records go. One that begins at the log's end stays.
        cut = self.leader_epochs.truncate_from_end(self.log_end_offset + 1)
        if self.leader_epochs.truncate_from_start(self.log_start_offset) or cut:
            self.store.save_leader_epochs(self.leader_epochs)
        if loaded.producers is not None:
            self.producers = loaded.producers
        else:
            self.rebuild_producers()

    def rebuild_producers(self) -> None:
        """Build the producer state from all batches, as if they were appended again."""
        self.producers.clear()
        for segment in self.segments:
            for _, batch in segment.iter_batches():
                self.producers.replay(batch)

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def config(self) -> LogConfig:
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        self._config = config
        self._max_segment_bytes = self.backend.segment_bytes(config)
        tier = self.tier
        if config.remote_storage_enable and tier is None:
            self.tier = Tier(self.log_start_offset)
        elif tier is not None and not config.remote_storage_enable:
            self.tier = None  # who switches tiering off deletes what is tiered
            if tier.local_start > self.log_start_offset:
                self._move_start(tier.local_start)

    @property
    def last_stable_offset(self) -> int:
        """The end of read_committed: the first open transaction, or the high watermark."""
        first = self._first_unstable
        hw = self.high_watermark
        return hw if first is None or first > hw else first

    @property
    def takes_all(self) -> bool:
        """Whether the log accepts every batch that is small enough: it is in memory, not broken, and compresses
        nothing.
        """
        return self.active.stores.batches.__class__ is MemoryBatchStore and self._config.compression_type is None

    @property
    def size_bytes(self) -> int:
        """Bytes of the segments, the local ones where the log is tiered."""
        return sum(segment.size for segment in self.local_segments)

    @property
    def local_segments(self) -> list[Segment]:
        """The segments, without those that are in the remote tier alone."""
        return self.segments[self._first_local :]

    @property
    def _first_local(self) -> int:
        """The index of the first segment that is local."""
        return 0 if self.tier is None else max(0, bisect_right(self._bases, self.tier.local_start) - 1)

    @property
    def first_readable_offset(self) -> int:
        """The first offset for reads: the log's start, unless the remote tier forgets what is copied."""
        tier = self.tier
        return self.log_start_offset if tier is None or self._config.remote_storage_keeps else tier.local_start

    def advance_high_watermark(self, offset: int) -> bool:
        """Raise the high watermark to `offset`; returns whether that changes it. This never lowers it."""
        offset = min(offset, self.log_end_offset)
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        self._update_unstable()
        return True

    def hold_high_watermark(self, offset: int) -> None:
        """Hold the high watermark at `offset`: from now on an append does not raise it."""
        self.holds_high_watermark = True
        self.high_watermark = max(self.log_start_offset, min(offset, self.log_end_offset))
        self._update_unstable()

    def release_high_watermark(self) -> None:
        """Raise the high watermark to the log's end, and with each append again."""
        self.holds_high_watermark = False
        self.advance_high_watermark(self.log_end_offset)

    def begin_at(self, offset: int, now_ms: int) -> None:
        """Let an empty log begin and end at `offset`."""
        assert self.log_end_offset == self.log_start_offset, f"{self.name} has records"
        self._begin_anew(offset, now_ms, self._config.file_delete_delay_ms)
        self.log_start_offset = self.log_end_offset = self.high_watermark = self.recovery_point = offset

    def _update_unstable(self) -> None:
        first = self.producers.first_unstable_offset(self.high_watermark)
        if first is not None and first < self.log_start_offset:
            first = self.place_of(self.log_start_offset)[0]  # as in Kafka, maybe before the log's start
        self._first_unstable = first

    # --- append -------------------------------------------------------------------------------------------------------

    def append(
        self, records: Buffer, *, now_ms: int, leader_epoch: int = 0, origin: AppendOrigin = _CLIENT
    ) -> AppendInfo:
        """Check and append.

        Returns the assigned offsets. AppendOrigin says what each origin may append. Raises as `append_plainly` does,
        but takes large batches.
        """
        try:
            return _new(AppendInfo, self.append_plainly(records, now_ms, leader_epoch, origin))
        except LargeBatch:
            return _new(
                AppendInfo, self.append_plainly(self.check_large(records, now_ms), now_ms, leader_epoch, origin)
            )

    def check_large(self, records: Buffer, now_ms: int) -> CheckedRecords:
        """Check a client's batch, however long that takes, before it is appended."""
        return check_large(records, self._config, now_ms, self.name, LongWork())

    def append_plainly(self, records: Buffer, now_ms: int, leader_epoch: int, origin: AppendOrigin) -> Appended:
        """Check and append; returns the fields of an `AppendInfo`.

        Raises RecordsRefused (RecordValidationError when single records are at fault) for clients, KafkaError for
        coordinators, StorageError when the medium fails, LargeBatch for a client's batch whose records have to be
        checked before (`check_large`). Nothing has changed then.
        """
        if origin is _CLIENT:
            try:
                return self._append_client(records, now_ms, leader_epoch)
            except RecordsRefused as refused:
                if refused.in_log:
                    refused.log_start_offset = self.log_start_offset
                raise
            except StorageError:
                raise
            except (KafkaError, CorruptDataError) as exc:
                raise RecordsRefused(exc.code, exc.message, log_start_offset=self.log_start_offset) from exc
        if origin is _COORDINATOR:
            return self._append_coordinator(records, now_ms, leader_epoch)
        return self._append_replicated(records, now_ms)

    def _append_client(self, records: Buffer, now_ms: int, leader_epoch: int) -> Appended:
        config = self._config
        data, attributes, delta, newest, producer_id, epoch, sequence, count = (
            validate_client_batch(records, config, now_ms, self.name)
            if records.__class__ is not CheckedRecords
            else checked_before(records, config, now_ms)
        )
        base_offset = self.log_end_offset
        transactional = attributes & TRANSACTIONAL_FLAG != 0
        if producer_id >= 0:
            duplicate = self.producers.check_data(producer_id, epoch, sequence, delta, base_offset, transactional)
            if duplicate is not None:
                first, last = duplicate.base_offset, duplicate.last_offset
                return first, last, duplicate.timestamp, self.log_start_offset, True
        last_offset = base_offset + delta
        self._write(data, newest, count, base_offset, last_offset, leader_epoch, now_ms)
        if producer_id >= 0:
            self._data_appended(producer_id, epoch, sequence, base_offset, last_offset, newest, transactional)
        append_time = newest if config.message_timestamp_type else -1
        return base_offset, last_offset, append_time, self.log_start_offset, False

    def _append_coordinator(self, records: Buffer, now_ms: int, leader_epoch: int) -> Appended:
        data, attributes, delta, newest, producer_id, epoch, sequence, count = validate_coordinator_batch(
            records, self._config, now_ms, self.name
        )
        base_offset = self.log_end_offset
        last_offset = base_offset + delta
        is_control = attributes & CONTROL_FLAG != 0
        marker = None
        if is_control and producer_id >= 0:
            marker = read_end_txn_batch(read_batch(data))
            if marker is not None:
                self.producers.check_marker(producer_id, epoch, marker.coordinator_epoch, base_offset)
        elif producer_id >= 0:
            self.producers.check_epoch(producer_id, epoch, base_offset)
        self._write(data, newest, count, base_offset, last_offset, leader_epoch, now_ms)
        if marker is not None:
            completed = self.producers.marker_appended(
                producer_id,
                epoch,
                marker.coordinator_epoch,
                commit=marker.commit,
                offset=base_offset,
                timestamp=newest,
            )
            if completed is not None:
                self._txn_completed(completed)
        elif producer_id >= 0 and not is_control:
            transactional = attributes & TRANSACTIONAL_FLAG != 0
            self._data_appended(producer_id, epoch, sequence, base_offset, last_offset, newest, transactional)
        append_time = newest if self._config.message_timestamp_type else -1
        return base_offset, last_offset, append_time, self.log_start_offset, False

    def _append_replicated(self, records: Buffer, now_ms: int) -> Appended:
        batches = validate_copied_batches(records, self.log_end_offset, self.name)
        for batch in batches:
            first, last, leader_epoch = batch.base_offset, batch.last_offset, batch.partition_leader_epoch
            self._write(batch.data, batch.max_timestamp, batch.record_count, first, last, leader_epoch, now_ms)
            self._track(batch)
        return batches[0].base_offset, batches[-1].last_offset, -1, self.log_start_offset, False

    def _write(
        self,
        data: Buffer,
        max_timestamp: int,
        record_count: int,
        base_offset: int,
        last_offset: int,
        leader_epoch: int,
        now_ms: int,
    ) -> None:
        """Write one checked batch at the end of the log, in a new segment when one is due.

        The batch gets these offsets and this leader epoch, whatever its header says.
        """
        config = self._config
        segment = self.active
        if segment.should_roll(config, self._max_segment_bytes, len(data), last_offset, max_timestamp, now_ms):
            if len(data) > config.segment_bytes:
                raise RecordsRefused(
                    ErrorCode.RECORD_LIST_TOO_LARGE,
                    f"A batch of {len(data)} bytes is larger than a segment of {self.name} may be",
                    in_log=True,
                )
            if segment.size:
                segment = self.roll(now_ms, base_offset)
                if config.retention_bytes >= 0 and config.delete and self.tier is None:
                    self.drop_by_size(config.retention_bytes, now_ms)
        segment.append(data, base_offset, leader_epoch, last_offset, max_timestamp, config.index_interval_bytes)
        segment.last_modified_ms = now_ms
        if leader_epoch != self.leader_epochs.latest and leader_epoch >= 0:
            self.leader_epochs.assign(leader_epoch, base_offset)
            self.store.save_leader_epochs(self.leader_epochs)
        self.log_end_offset = last_offset + 1
        if not self.holds_high_watermark:
            self.high_watermark = last_offset + 1
        self.unflushed_messages += record_count

    # --- producers and transactions -----------------------------------------------------------------------------------

    def _data_appended(
        self,
        producer_id: int,
        epoch: int,
        sequence: int,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        transactional: bool,
    ) -> None:
        last_sequence = (sequence + last_offset - base_offset) & MAX_SEQUENCE if sequence >= 0 else NO_SEQUENCE
        metadata = _new(BatchMetadata, (sequence, last_sequence, base_offset, last_offset, max_timestamp))
        self.producers.data_appended(producer_id, epoch, metadata, transactional=transactional)
        if transactional and self._first_unstable is None:
            self._update_unstable()

    def _txn_completed(self, completed: CompletedTxn) -> None:
        """Note that a marker has ended a transaction with data here: index it if it was aborted, and move the last
        stable offset.
        """
        if completed.aborted:
            stable = self.producers.first_ongoing_offset
            self.active.stores.txn_index.append(
                AbortedTxn(
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    self.log_end_offset if stable is None else stable,
                )
            )
            self._aborted_count += 1
        self._update_unstable()

    def _track(self, batch: RecordBatch) -> None:
        """Note the producer of a copied batch."""
        completed = self.producers.replay(batch)
        if completed is not None:
            self._txn_completed(completed)
        elif batch.is_transactional and self._first_unstable is None:
            self._update_unstable()

    def aborted_transactions(self, from_offset: int, to_offset: int) -> list[tuple[int, int]]:
        """(producer id, first offset) of the aborted transactions with data in [from_offset, to_offset)."""
        if not self._aborted_count:
            return []
        start = max(0, bisect_right(self._bases, from_offset) - 1)
        return segment_lookup.aborted_between(self.segments, start, from_offset, to_offset)

    def aborted_in_read(self, offset: int, size_bytes: int) -> list[tuple[int, int]]:
        """Aborted transactions that may concern a read of `size_bytes` from `offset`.

        The end of the read comes from the sparse index, as in Kafka, so the list may have later transactions too.
        """
        if not self._aborted_count:
            return []
        found = self._find(offset)
        if found is None:
            return []
        segment, start = found
        end = segment.stores.offset_index.offset_at_or_after(start + size_bytes)
        return self.aborted_transactions(offset, segment.next_offset if end is None else end)

    # --- read ---------------------------------------------------------------------------------------------------------

    def read(self, offset: int, *, max_bytes: int, up_to_offset: int, min_one: bool = True) -> ReadResult:
        """Whole batches from the one that holds `offset`, below `up_to_offset`, at most `max_bytes`.

        With `min_one` the first batch is returned whatever its size. A read ends at a segment's end. Raises
        OFFSET_OUT_OF_RANGE outside [log_start_offset, log_end_offset].
        """
        found = self._range(offset, max_bytes, up_to_offset, min_one)
        if found is None:
            return _EMPTY
        batches, start, size = found
        return _new(ReadResult, (batches.read(start, size), size))

    def read_to_send(self, offset: int, *, max_bytes: int, up_to_offset: int, min_one: bool = True) -> SentResult:
        """The bytes that Fetch sends.

        Unlike `read` it returns as many bytes as allowed, so the last batch may be cut, as in Kafka. The first batch is
        never cut. Bytes in a file are not read.
        """
        found = self._range(offset, max_bytes, up_to_offset, min_one, whole=False)
        if found is None:
            return [], 0
        batches, start, size = found
        if size < WORTH_SENDING:
            return batches.read(start, size), size
        return batches.slices(start, size), size

    def _range(
        self, offset: int, max_bytes: int, up_to_offset: int, min_one: bool, *, whole: bool = True
    ) -> tuple[BatchStore, int, int] | None:
        """The range of a read: store, position, size in bytes; with `whole` it ends with a whole batch."""
        if offset >= up_to_offset and self.log_start_offset <= offset <= self.log_end_offset:
            return None
        found = self._find(offset)
        if found is None:
            return None
        segment, start = found
        batches = segment.stores.batches
        end = batches.size
        next_offset = segment.next_offset
        if up_to_offset < next_offset:
            limit = segment.position_of(up_to_offset)
            end = end if limit is None else limit
            next_offset = up_to_offset
        if end - start > max_bytes:
            limit = start + max_bytes
            if whole:
                end = segment.boundary_before(start, limit, min_one=min_one)
                next_offset = -1
            else:
                end, next_offset = segment.end_of_batch(start)
                if end <= limit:
                    end, next_offset = limit, -1  # the last batch may be cut
                elif not min_one:
                    return None
        if end <= start:
            return None
        if next_offset >= 0:
            if len(self._hints) >= _MAX_HINTS:
                self._hints.clear()
            self._hints[next_offset] = (segment, end)
        return batches, start, end - start

    def _find(self, offset: int) -> tuple[Segment, int] | None:
        """Segment and position of the first batch that holds `offset` or a later one."""
        hint = self._hints.get(offset)
        if hint is not None and hint[1] < hint[0].stores.batches.size and offset >= self.log_start_offset:
            return hint
        start = self.log_start_offset if self.tier is None else self.first_readable_offset
        if offset < start or offset > self.log_end_offset:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.name} is not in [{start}, {self.log_end_offset}]",
            )
        return self._locate(offset)

    def _locate(self, offset: int) -> tuple[Segment, int] | None:
        """The same in all segments, also before the log's start."""
        index = max(0, bisect_right(self._bases, offset) - 1)
        segments = self.segments
        while index < len(segments):
            position = segments[index].position_of(offset)
            if position is not None:
                return segments[index], position
            index += 1  # only a compacted segment can have no batch at or after an offset within it
        return None

    def place_of(self, offset: int) -> tuple[int, int, int]:
        """Base offset of the batch with `offset`, base offset of its segment, and its position there in bytes.

        The log's end has its place in the last segment.
        """
        found = None if offset >= self.log_end_offset else self._locate(offset)
        if found is None:
            return self.log_end_offset, self.active.base_offset, self.active.stores.batches.size
        segment, position = found
        return segment.offset_at(position), segment.base_offset, position

    def begin_epoch(self, leader_epoch: int) -> None:
        """Begin a newer leader epoch at the log's end, even if nothing will be written in it (KIP-101)."""
        if leader_epoch > self.leader_epochs.latest:
            self.leader_epochs.assign(leader_epoch, self.log_end_offset)
            self.store.save_leader_epochs(self.leader_epochs)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(epoch, end offset) as OffsetForLeaderEpoch answers; (-1, -1) when the epoch is unknown."""
        return self.leader_epochs.end_offset_for(epoch, self.log_end_offset)

    def offset_for_timestamp(self, timestamp: int, looks: Looks | None = None) -> TimestampOffset | None:
        """The first record with this timestamp or a later one; None when the first segment with so late a timestamp has
        none behind the log's start.

        With the `looks` of a request this takes some milliseconds at most, or raises LargeLook.
        """
        start = self.first_readable_offset
        segments = self.segments if self.tier is None else [s for s in self.segments if s.next_offset > start]
        return segment_lookup.first_offset_from(segments, timestamp, start, self.name, looks)

    def max_timestamp_offset(self, looks: Looks | None = None) -> TimestampOffset | None:
        """The first record with the largest timestamp of the local log; None when it has no records."""
        return segment_lookup.largest_timestamp(self.local_segments, self.name, looks)

    # --- what goes ----------------------------------------------------------------------------------------------------

    def delete_records(self, before_offset: int) -> int:
        """Advance the log start to `before_offset`; -1: the high watermark. Returns the new log start offset.

        Raises OFFSET_OUT_OF_RANGE above the high watermark. An offset below the log start changes nothing. Segments
        before it stay until retention runs.
        """
        target = self.high_watermark if before_offset == -1 else before_offset
        if target < 0 or target > self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"cannot delete records of {self.name} before {before_offset}, the high watermark is "
                f"{self.high_watermark}",
            )
        if target > self.log_start_offset:
            self._move_start(target)
        return self.log_start_offset

    def truncate(self, offset: int, *, now_ms: int) -> None:
        """Remove every batch that ends at `offset` or behind it, as a follower does when its leader has other batches.

        The log ends at `offset` then. Readers must read again: removed records may no longer be served.
        """
        if offset >= self.log_end_offset:
            return
        kept = [segment for segment in self.segments if segment.base_offset < offset] or self.segments[:1]
        if offset < kept[0].base_offset:
            self._begin_anew(offset, now_ms, 0)
        else:
            self.store.drop_segments([segment.stores for segment in self.segments[len(kept) :]], 0)
            self.segments = [*kept[:-1], kept[-1].shortened(offset, now_ms)]
            self._bases = [segment.base_offset for segment in self.segments]
            self.active = self.segments[-1]
        self.log_end_offset = offset
        self.log_start_offset = min(self.log_start_offset, offset)
        self.high_watermark = min(self.high_watermark, offset)
        self.recovery_point = min(self.recovery_point, offset)
        self.cleaner_offset = min(self.cleaner_offset, offset)
        if self.leader_epochs.truncate_from_end(offset):
            self.store.save_leader_epochs(self.leader_epochs)
        self.store.truncated(offset)
        self.rebuild_producers()
        if self.tier is not None:
            self.tier = Tier(min(self.tier.local_start, offset), min(self.tier.highest_offset, offset - 1))
        self._hints.clear()
        self._aborted_count = sum(len(s.stores.txn_index.entries()) for s in self.segments)
        self._update_unstable()

    def drop_by_size(self, limit: int, now_ms: int) -> int:
        """Drop the oldest local segments while the rest has `limit` bytes or more; a negative limit is none. Returns
        how many.
        """
        excess = self.size_bytes - limit
        if limit < 0 or excess <= 0:
            return 0

        def too_much(segment: Segment) -> bool:
            nonlocal excess
            if excess < segment.size:
                return False
            excess -= segment.size
            return True

        return self.drop_while(too_much, now_ms)

    def drop_while(self, doomed: Callable[[Segment], bool], now_ms: int, *, local: bool = True) -> int:
        """Drop the longest run of segments that all are `doomed` and may go; returns how many.

        `local`: it begins with the first local segment, and copied segments only stop being local.
        """
        segments = self.segments
        tier = self.tier if local and not self._config.remote_log_copy_disable else None
        first = at = self._first_local if local else 0
        while at < len(segments):
            segment = segments[at]
            is_last = at + 1 == len(segments)
            end = self.log_end_offset if is_last else segments[at + 1].base_offset
            if self.high_watermark < end or (is_last and segment.size == 0) or not doomed(segment):
                break
            if is_last:
                self.roll(now_ms)  # so that it can be copied, and go next time
            if tier is not None and end - 1 > tier.highest_offset:
                break
            at += 1
        if at > first:
            if tier is not None:
                self.tier = tier._replace(local_start=segments[at].base_offset)
            else:
                self.drop_oldest(at)
        return at - first

    def _move_start(self, offset: int) -> None:
        self.log_start_offset = offset
        if self.tier is not None and self.tier.local_start < offset:
            self.tier = self.tier._replace(local_start=offset)
        self.high_watermark = max(self.high_watermark, offset)
        self.store.save_log_start_offset(offset)
        if self.leader_epochs.truncate_from_start(offset):
            self.store.save_leader_epochs(self.leader_epochs)
        self._update_unstable()

    # --- segments -----------------------------------------------------------------------------------------------------

    def _add_segment(self, base_offset: int, now_ms: int) -> Segment:
        stores = self.store.create_segment(base_offset, self._config)
        segment = Segment(stores, now_ms, self._jitter())
        self.segments.append(segment)
        self._bases.append(base_offset)
        return segment

    def _begin_anew(self, offset: int, now_ms: int, delay_ms: int) -> None:
        """Drop all segments, which the medium may keep for `delay_ms`, and begin with an empty one at `offset`."""
        self.store.drop_segments([s.stores for s in self.segments], delay_ms)
        self.segments, self._bases = [], []
        self.active = self._add_segment(offset, now_ms)

    def _jitter(self) -> int:
        limit = min(self._config.segment_jitter_ms, self._config.segment_ms)
        return random.randrange(limit) if limit > 0 else 0

    def roll(self, now_ms: int, base_offset: int | None = None) -> Segment:
        """Close the active segment to appends and begin a new one at the log's end (or at `base_offset` behind it)."""
        self.active.seal()
        self.store.segment_sealed(self.active.stores)
        base = self.log_end_offset if base_offset is None else base_offset
        self.active = self._add_segment(base, now_ms)
        self.store.save_producers(self.log_end_offset, self.producers)
        return self.active

    def drop_oldest(self, count: int) -> None:
        """Drop the first `count` segments (never the active one) and move the log start behind them."""
        deleted = self.segments[:count]
        del self.segments[:count], self._bases[:count]
        self._hints.clear()
        self._aborted_count -= sum(len(s.stores.txn_index.entries()) for s in deleted)
        self.store.drop_segments([s.stores for s in deleted], self._config.file_delete_delay_ms)
        self.store.drop_producer_snapshots(self._bases[0])
        if self._bases[0] > self.log_start_offset:
            self._move_start(self._bases[0])

    def swap_segments(self, old: Sequence[Segment], new: Segment) -> None:
        """Replace neighbouring segments by the compacted one that was made from them."""
        index = self.segments.index(old[0])
        self.store.replace_segments([s.stores for s in old], [new.stores])
        self.segments[index : index + len(old)] = [new]
        self._bases[index : index + len(old)] = [new.base_offset]
        self._hints.clear()
        self._aborted_count += len(new.stores.txn_index.entries())
        self._aborted_count -= sum(len(s.stores.txn_index.entries()) for s in old)

    def twin(
        self, backend: LogBackend, store: LogStore, copied: Callable[[SegmentStores], SegmentStores]
    ) -> PartitionLog:
        """An independent log over copies of the stores. Verifications under way stay with this log."""
        other = PartitionLog(self.topic, self.partition, self._config, backend, store=store)
        for name in _PLAIN:
            setattr(other, name, getattr(self, name))
        other._hints = {}
        other._bases = list(self._bases)
        other.segments = [segment.copied(copied(segment.stores)) for segment in self.segments]
        other.active = other.segments[-1]
        other.leader_epochs = LeaderEpochs(self.leader_epochs.entries())
        other.producers = self.producers.copied()
        return other

    # --- life ---------------------------------------------------------------------------------------------------------

    def begin_sync(self) -> Callable[[], None] | None:
        """A function that makes the active segment's batches durable; see `BatchStore.begin_sync`."""
        return self.active.stores.batches.begin_sync()

    def flush(self) -> None:
        """Make everything appended durable, and save the recovery point."""
        for segment in self.segments:
            if segment.next_offset > self.recovery_point or segment is self.active:
                segment.flush()
        self.recovery_point = self.log_end_offset
        self.unflushed_messages = 0
        self.store.save_recovery_point(self.recovery_point)

    def close(self, *, clean: bool = True) -> None:
        """Release the medium; the log is not used again."""
        if clean and self.segments:
            self.flush()
            self.store.save_producers(self.log_end_offset, self.producers)
        for segment in self.segments:
            segment.close()
        self.segments, self._bases = [], []
        self._hints.clear()
        self.store.close(clean=clean)

    def delete(self) -> None:
        """The partition is gone: drop all its data."""
        for segment in self.segments:
            segment.stores.release()
        self.segments, self._bases = [], []
        self.close(clean=False)
        self.store.delete()


__all__ = [
    "AppendInfo",
    "AppendOrigin",
    "PartitionLog",
    "ReadResult",
    "RecordValidationError",
    "RecordsRefused",
    "TimestampOffset",
]
