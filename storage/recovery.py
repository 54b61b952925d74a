"""What happens to a partition's directory before it is a log again.

1. Interrupted swaps are finished or undone (`finish_swaps`), leftovers removed.
2. After an unclean stop, everything from the segment with the recovery point on is scanned (`recover_segment`): batches
   are checked, the log is cut at the first torn or corrupt one, the indexes are built anew.
3. The producer state comes from the newest snapshot that can be trusted and the batches behind it
   (`restore_producers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from odradek.protocol.errors import ProtocolError
from odradek.protocol.record_batch import RecordBatch, batch_size_at, parse_batch
from odradek.storage.backend import AbortedTxn, SegmentFiles, StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.producer_state import ProducerStates
from odradek.storage.segment_files import (
    CLEANED,
    INDEXES,
    LOG,
    SEGMENT_PARTS,
    SNAPSHOT,
    SWAP,
    DiskSegmentFiles,
    file_name,
    parse_file_name,
)
from odradek.storage.snapshot_file import SnapshotFormatError, parse_snapshot


def finish_swaps(fs: FileSystem, directory: Path, names: Sequence[str]) -> bool:
    """Complete swaps that had begun, undo those that had not, remove `.deleted`, `.cleaned` and `.tmp` files.

    Cleaned segments become `.swap` from the highest offset down, so a `.cleaned` log left over means that the swap of
    everything from its offset on had not begun: the old segments are whole. Returns whether there was anything to do.
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
    end = _end_offset(fs.read(swapped), base_offset)
    for offset in present:
        if base_offset <= offset < max(end, base_offset + 1):
            for kind in SEGMENT_PARTS:
                fs.remove(directory / file_name(offset, kind))
    for kind in SEGMENT_PARTS:
        source = directory / file_name(base_offset, kind, SWAP)
        if source.exists():
            fs.rename(source, directory / file_name(base_offset, kind))


def _end_offset(data: bytes, base_offset: int) -> int:
    """The offset behind the last whole batch."""
    position, end = 0, base_offset
    while (size := batch_size_at(data, position)) is not None:
        end = parse_batch(data, position).next_offset
        position += size
    return end


def valid_batch_at(view: memoryview, position: int, expected_offset: int) -> RecordBatch | None:
    """The batch at `position` if it is whole, intact and not before `expected_offset`."""
    try:
        if batch_size_at(view, position) is None:
            return None
        batch = parse_batch(view, position)
    except ProtocolError:
        return None
    if batch.magic != 2 or batch.base_offset < expected_offset or not batch.is_crc_valid:
        return None
    return batch


def recover_segment(files: DiskSegmentFiles, index_interval_bytes: int) -> int:
    """Check every batch, cut the file behind the last good one, build the indexes anew; returns the bytes cut."""
    files.forget_indexes()
    size = files.batches.size
    if size == 0:
        return 0
    view, _ = files.batches.view(0)
    position, since_index = 0, 0
    max_timestamp, max_timestamp_offset, expected = -1, -1, files.base_offset
    while (batch := valid_batch_at(view, position, expected)) is not None:
        if batch.max_timestamp > max_timestamp:
            max_timestamp, max_timestamp_offset = batch.max_timestamp, batch.last_offset
        if since_index > index_interval_bytes:
            files.offset_index.append(batch.last_offset, position)
            files.time_index.append(max_timestamp, max_timestamp_offset)
            since_index = 0
        since_index += batch.size_bytes
        position += batch.size_bytes
        expected = batch.next_offset
    if max_timestamp >= 0:
        files.time_index.append(max_timestamp, max_timestamp_offset)
    del view
    if position < size:
        files.batches.truncate(position)
    return size - position


def indexes_missing(directory: Path, base_offset: int) -> bool:
    """Whether a segment lacks the indexes that every segment has."""
    return not all((directory / file_name(base_offset, kind)).exists() for kind in INDEXES[:2])


def restore_producers(
    fs: FileSystem,
    directory: Path,
    name: str,
    segments: Sequence[DiskSegmentFiles],
    snapshots: Sequence[int],
    trusted_to: int,
) -> ProducerStates:
    """The producer state at the end of the log.

    Begins at the newest readable snapshot at or below `trusted_to` and replays the batches behind it; aborted
    transactions whose markers lie in segments with an emptied index are entered there again.
    """
    producers = ProducerStates(name)
    start = _load_snapshot(fs, directory, producers, [offset for offset in snapshots if offset <= trusted_to])
    for files, following in zip(segments, [*segments[1:], None], strict=True):
        if following is not None and following.base_offset <= start:
            continue
        rebuild_txns = files.base_offset + 1 > trusted_to or not files.txn_index.entries()
        _replay(files, producers, start, rebuild_txns)
    return producers


def _load_snapshot(fs: FileSystem, directory: Path, producers: ProducerStates, offsets: Sequence[int]) -> int:
    for offset in sorted(offsets, reverse=True):
        path = directory / file_name(offset, SNAPSHOT)
        try:
            states = parse_snapshot(fs.read(path))
        except (SnapshotFormatError, StorageError):
            fs.remove(path)
            continue
        for state in states:
            producers.restore(state)
        return offset
    return 0


def _replay(files: SegmentFiles, producers: ProducerStates, start: int, rebuild_txns: bool) -> None:
    position, size = 0, files.batches.size
    while position < size:
        view, at = files.batches.view(position)
        batch = parse_batch(view, at)
        position += batch.size_bytes
        if batch.base_offset < start or not batch.has_producer_id:
            continue
        completed = producers.replay(batch)
        if completed is not None and completed.aborted and rebuild_txns:
            ongoing = producers.first_ongoing_offset
            stable = batch.next_offset if ongoing is None else ongoing
            files.txn_index.append(
                AbortedTxn(completed.producer_id, completed.first_offset, completed.last_offset, stable)
            )
