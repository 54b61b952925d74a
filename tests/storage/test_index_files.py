"""Indexes on disk: what they say after a restart, and what their files hold."""

from __future__ import annotations

from pathlib import Path

from odradek.storage.formats.segment_files import OFFSET_ENTRY, TIME_ENTRY, AbortedTxn, IndexEntry, TimeEntry
from odradek.storage.index_files import DiskOffsetIndex, DiskTimeIndex, DiskTxnIndex
from tests.fakes.file_system import FaultyFileSystem

FS = FaultyFileSystem()


def test_an_offset_index_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "a.index"
    index = DiskOffsetIndex(FS, path, 100, 16, new=True)
    for offset, position in ((110, 4000), (120, 8000)):
        assert not index.is_full()
        index.append(offset, position)
    assert index.is_full()
    index.close()
    assert path.read_bytes() == OFFSET_ENTRY.pack(10, 4000) + OFFSET_ENTRY.pack(20, 8000)
    again = DiskOffsetIndex(FS, path, 100, 24, new=False)
    assert again.entries() == [IndexEntry(110, 4000), IndexEntry(120, 8000)]
    assert [again.floor(offset) for offset in (109, 110, 119, 500)] == [0, 4000, 4000, 8000]
    assert [again.floor_position(position) for position in (3999, 4000, 9000)] == [0, 4000, 8000]
    assert [again.offset_at_or_after(position) for position in (0, 4001, 8001)] == [110, 120, None]
    again.append(130, 9000)
    again.flush()
    assert path.stat().st_size == 24
    again.truncate(120)
    again.flush()
    assert path.read_bytes() == OFFSET_ENTRY.pack(10, 4000)


def test_a_preallocated_index_is_trimmed_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.index"
    path.write_bytes(OFFSET_ENTRY.pack(10, 4000) + bytes(800))
    index = DiskOffsetIndex(FS, path, 0, 1000, new=False)
    assert index.is_whole()
    assert index.entries() == [IndexEntry(10, 4000)]
    index.close()
    assert path.read_bytes() == OFFSET_ENTRY.pack(10, 4000)


def test_a_time_index_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "a.timeindex"
    index = DiskTimeIndex(FS, path, 100, 24, new=True)
    assert index.last() == TimeEntry(-1, -1)
    for timestamp, offset in ((1000, 110), (1000, 115), (2000, 120)):
        index.append(timestamp, offset)
    assert index.is_full()
    index.close()
    assert path.read_bytes() == TIME_ENTRY.pack(1000, 10) + TIME_ENTRY.pack(2000, 20)
    again = DiskTimeIndex(FS, path, 100, 24, new=False)
    assert again.entries() == [TimeEntry(1000, 110), TimeEntry(2000, 120)]
    assert [again.floor(timestamp) for timestamp in (999, 1000, 5000)] == [-1, 110, 120]
    again.truncate(115)
    again.close()
    assert path.read_bytes() == TIME_ENTRY.pack(1000, 10)


def test_a_transaction_index_has_a_file_only_when_needed(tmp_path: Path) -> None:
    path = tmp_path / "a.txnindex"
    index = DiskTxnIndex(FS, path, new=True)
    index.close()
    assert not path.exists()
    entry = AbortedTxn(7, 1, 5, 6)
    index.append(entry)
    index.close()
    again = DiskTxnIndex(FS, path, new=False)
    assert again.entries() == [entry]
    again.append(AbortedTxn(8, 6, 9, 10))
    again.truncate(9)
    again.close()
    assert DiskTxnIndex(FS, path, new=False).entries() == [entry]


def test_an_index_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.index"
    assert not DiskOffsetIndex(FS, path, 0, 100, new=False).is_whole()
    path.write_bytes(b"123")
    index = DiskOffsetIndex(FS, path, 0, 100, new=False)
    assert not index.is_whole()
    index.clear()
    index.close()
    assert path.read_bytes() == b""
