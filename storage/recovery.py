"""Recovers a partition's directory before it is opened as a log.

1. Interrupted swaps are finished or undone (`finish_swaps`), leftovers removed.
2. After an unclean stop, everything from the segment with the recovery point on is scanned (`recover_segment`): batches
   are checked, the log is cut at the first torn or corrupt one, indexes and leader epochs are built anew.
3. The producer state comes from the newest snapshot that can be trusted and the batches behind it
   (`restore_producers`).

Recovery cuts what Kafka 4.4.0 cuts; the tests compare the two tail by tail. Three cases differ. Kafka keeps an intact
batch whose offsets lie before the log's end, and its log end moves back with it; here it is cut. Kafka serves message
formats 0 and 1, and splits a segment whose offsets are more than 2^31 apart; here such a log is not opened, and nothing
is cut.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import CorruptBatchError, RecordBatch, check_crc
from odradek.storage.backend import SegmentStores, StorageError
from odradek.storage.checkpoint_files import SnapshotFormatError, parse_snapshot
from odradek.storage.disk_segments import DiskSegmentStores
from odradek.storage.file_system import LARGE, FileSystem
from odradek.storage.formats.segment_files import (
    CLEANED,
    LOG,
    SEGMENT_PARTS,
    SNAPSHOT,
    SWAP,
    AbortedTxn,
    file_name,
    parse_file_name,
    stored_batch_at,
    stored_batches,
)
from odradek.storage.leader_epochs import LeaderEpochs
from odradek.storage.producer_state import ProducerStates
from odradek.storage.segment import MAX_OFFSET, MAX_RELATIVE_OFFSET

_log = logging.getLogger(__name__)


def finish_swaps(fs: FileSystem, directory: Path, names: Sequence[str]) -> bool:
    """Complete swaps that had begun, undo the others, and remove `.deleted`, `.cleaned` and `.tmp` files.

    `names`: those of Kafka's files.

    Cleaned segments become `.swap` from the highest offset down. So a remaining `.cleaned` log means that the swap from
    its offset on had not begun, and that the old segments are whole. Returns whether there was anything to do.
    """
    parsed = {name: parts for name in names if (parts := parse_file_name(name)) is not None}
    leftovers = {name: parts for name, parts in parsed.items() if parts[2]}
    temporary = [name for name in names if name.endswith(".tmp")]
    if not leftovers and not temporary:
        return False
    cleaned = [offset for offset, kind, suffix in leftovers.values() if suffix == CLEANED and kind == LOG]
    swaps = sorted(offset for offset, kind, suffix in leftovers.values() if suffix == SWAP and kind == LOG)
    finish = [offset for offset in swaps if not cleaned or offset < min(cleaned)]
    for name, (offset, _, suffix) in leftovers.items():
        if suffix != SWAP or offset not in finish:
            fs.remove(directory / name)
    for name in temporary:
        fs.remove(directory / name)
    present = [offset for offset, kind, suffix in parsed.values() if kind == LOG and not suffix]
    for offset in finish:
        _finish_swap(fs, directory, offset, present)
    fs.sync_directory(directory)
    return True


def _finish_swap(fs: FileSystem, directory: Path, base_offset: int, present: Sequence[int]) -> None:
    swapped = directory / file_name(base_offset, LOG, SWAP)
    end = _end_offset(fs.view(swapped), base_offset)
    for offset in present:
        if base_offset <= offset < max(end, base_offset + 1):
            for kind in SEGMENT_PARTS:
                fs.remove(directory / file_name(offset, kind))
    for kind in SEGMENT_PARTS:
        source = directory / file_name(base_offset, kind, SWAP)
        if fs.is_file(source):
            fs.rename(source, directory / file_name(base_offset, kind))


def _end_offset(data: memoryview, base_offset: int) -> int:
    """The offset behind the last whole batch."""
    end = base_offset
    for _, batch in stored_batches(data):
        end = batch.next_offset
    return end


class Recovered(NamedTuple):
    """The segments of a log after recovery."""

    segments: list[DiskSegmentStores]
    scanned: frozenset[int]
    """Base offsets of the scanned segments: each batch was checked, and the indexes were rebuilt."""
    end_offset: int | None
    """The offset behind the last batch; None if the last segment was not scanned."""

    @property
    def trusted_to(self) -> int:
        """The offset up to which nothing was scanned. Snapshots up to it can be trusted."""
        return min(self.scanned, default=MAX_OFFSET)


def recover(
    segments: list[DiskSegmentStores],
    *,
    unflushed_from: int | None,
    index_interval_bytes: int,
    epochs: LeaderEpochs,
    report: Callable[[str], None],
) -> Recovered:
    """Scan the segments that may be torn, and cut the log at the first damaged batch.

    `unflushed_from` is the recovery point of a log that was not closed cleanly. It is None for a log that was: then
    only segments with invalid indexes are scanned, and the last one if it does not end with a whole batch. `epochs`
    gets the leader epochs of the scanned batches; `report` gets one line for each removal.
    """
    scanned = set()
    end: int | None = None
    for index, stores in enumerate(segments):
        last = index == len(segments) - 1
        unflushed = unflushed_from is not None and (last or segments[index + 1].base_offset > unflushed_from)
        if not (unflushed or indexes_unsound(stores) or (last and ends_damaged(stores))):
            continue
        scanned.add(stores.base_offset)
        scan = recover_segment(stores, index_interval_bytes, epochs)
        if last or scan.cut_bytes:
            end = scan.end_offset
        if scan.cut_bytes:
            path, position = stores.batches.path, stores.batches.size
            report(f"{path}: {scan.cut_bytes} bytes cut off at position {position}, offset {end}: {scan.why}")
            for behind in segments[index + 1 :]:
                report(f"{behind.batches.path}: removed, the log before it was cut")
                behind.release()
                behind.remove()
            return Recovered(segments[: index + 1], frozenset(scanned), end)
    return Recovered(segments, frozenset(scanned), end)


class Scan(NamedTuple):
    """The result of `recover_segment`."""

    end_offset: int
    """The offset behind the last kept batch."""
    cut_bytes: int
    why: str
    """Why bytes were cut; empty if none were."""


def recover_segment(stores: DiskSegmentStores, index_interval_bytes: int, epochs: LeaderEpochs) -> Scan:
    """Check every batch, cut the file behind the last valid one, rebuild the indexes, note newer leader epochs.

    Raises CorruptDataError and cuts nothing for undamaged bytes that odradek cannot serve.
    """
    stores.forget_indexes()
    size = stores.batches.size
    if size == 0:
        return Scan(stores.base_offset, 0, "")
    view, _ = stores.batches.view(0)
    position, since_index = 0, 0
    max_timestamp, max_timestamp_offset, expected = -1, -1, stores.base_offset
    why = ""
    while position < size:
        try:
            batch = _sound_batch(view, position, stores.base_offset, expected)
        except CorruptBatchError as error:
            why = error.message
            break
        if batch.max_timestamp > max_timestamp:
            max_timestamp, max_timestamp_offset = batch.max_timestamp, batch.last_offset
        if since_index > index_interval_bytes:
            stores.offset_index.append(batch.last_offset, position)
            stores.time_index.append(max_timestamp, max_timestamp_offset)
            since_index = 0
        if batch.partition_leader_epoch > epochs.latest:
            epochs.assign(batch.partition_leader_epoch, batch.base_offset)
        since_index += batch.size_bytes
        position += batch.size_bytes
        expected = batch.next_offset
    if max_timestamp >= 0:
        stores.time_index.append(max_timestamp, max_timestamp_offset)
    del view
    if position < size:
        stores.batches.truncate(position)
    return Scan(expected, size - position, why)


def _sound_batch(view: memoryview, position: int, base_offset: int, expected: int) -> RecordBatch:
    """The batch at `position`; CorruptBatchError unless it is whole, intact and in its place in the log.

    Raises other errors of the family for undamaged batches that odradek cannot serve.
    """
    batch = stored_batch_at(view, position)
    if batch is None:
        raise CorruptBatchError(f"the last {len(view) - position} bytes are not a whole batch")
    check_crc(batch)
    if batch.base_offset < expected or batch.last_offset_delta < 0:
        raise CorruptBatchError(
            f"the batch at position {position} has the offsets {batch.base_offset} to {batch.last_offset}, "
            f"and {expected} is next"
        )
    if batch.last_offset - base_offset > MAX_RELATIVE_OFFSET:
        raise CorruptDataError(f"the offset {batch.last_offset} is too far from the segment's base {base_offset}")
    return batch


def ends_damaged(stores: DiskSegmentStores) -> bool:
    """Whether the last segment of a cleanly closed log does not end with a whole batch.

    It reads only the part behind the last index entry and no checksums, because Kafka checks no more.
    """
    if not stores.batches.size:
        return False
    end = stores.offset_index.floor(MAX_OFFSET)
    view, start = stores.batches.view(end)
    try:
        for _, batch in stored_batches(view, start):
            end += batch.size_bytes
    except CorruptBatchError:
        return True
    return end != stores.batches.size


def indexes_unsound(stores: DiskSegmentStores) -> bool:
    """Whether an index is missing or invalid. Kafka then rebuilds the indexes."""
    if not (stores.offset_index.is_whole() and stores.time_index.is_whole()):
        return True
    try:
        stores.txn_index.entries()
    except CorruptDataError:
        return True
    return False


def restore_producers(
    fs: FileSystem,
    directory: Path,
    name: str,
    recovered: Recovered,
    snapshots: Sequence[int],
) -> ProducerStates:
    """The producer state at the end of the log.

    Begin with the newest readable snapshot that can be trusted, and replay the batches behind it. Scanned segments get
    index entries for their aborted transactions.
    """
    producers = ProducerStates(name)
    start = _load_snapshot(fs, directory, producers, [offset for offset in snapshots if offset <= recovered.trusted_to])
    segments = recovered.segments
    for stores, following in zip(segments, [*segments[1:], None], strict=True):
        if following is not None and following.base_offset <= start:
            continue
        rebuild_txns = stores.base_offset in recovered.scanned or not stores.txn_index.entries()
        _replay(stores, producers, start, rebuild_txns)
    return producers


def _load_snapshot(fs: FileSystem, directory: Path, producers: ProducerStates, offsets: Sequence[int]) -> int:
    for offset in sorted(offsets, reverse=True):
        path = directory / file_name(offset, SNAPSHOT)
        try:
            states = parse_snapshot(fs.read(path, LARGE))
        except (SnapshotFormatError, StorageError) as error:
            _log.warning("%s is not read: %s", path, error)
            fs.remove(path)
            continue
        for state in states:
            producers.restore(state)
        return offset
    return 0


def _replay(stores: SegmentStores, producers: ProducerStates, start: int, rebuild_txns: bool) -> None:
    if not stores.batches.size:
        return
    view, _ = stores.batches.view(0)
    for _, batch in stored_batches(view):
        if batch.base_offset < start or not batch.has_producer_id:
            continue
        completed = producers.replay(batch)
        if completed is not None and completed.aborted and rebuild_txns:
            ongoing = producers.first_ongoing_offset
            stable = batch.next_offset if ongoing is None else ongoing
            stores.txn_index.append(
                AbortedTxn(completed.producer_id, completed.first_offset, completed.last_offset, stable)
            )
