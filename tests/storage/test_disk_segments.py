"""The files of a segment: made, written, read, renamed, removed."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from odradek.protocol.file_slice import FileSlice, joined
from odradek.protocol.record_batch import Record, build_batch, read_batch
from odradek.storage.backend import StorageError
from odradek.storage.disk_segments import (
    DiskBatchStore,
    DiskOffsetIndex,
    DiskSegmentStores,
    DiskTimeIndex,
    DiskTxnIndex,
    SentFile,
)
from odradek.storage.formats.segment_files import OFFSET_ENTRY, TIME_ENTRY, AbortedTxn, IndexEntry, TimeEntry
from tests.fakes.file_system import FaultyFileSystem

FS = FaultyFileSystem()


def stores(directory: Path, *, size: int | None = None, suffix: str = "") -> DiskSegmentStores:
    return DiskSegmentStores(FS, directory, 42, 1000, size=size, suffix=suffix)


def names(directory: Path) -> set[str]:
    return {path.name.removeprefix(f"{42:020d}") for path in directory.iterdir()}


def test_a_new_segment_has_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / f"{42:020d}.log").write_bytes(b"what a crash left")
    made = stores(tmp_path)
    assert (made.batches.size, made.base_offset) == (0, 42)
    assert (tmp_path / f"{42:020d}.log").read_bytes() == b""
    made.close()
    assert names(tmp_path) == {".log", ".index", ".timeindex"}


def test_all_files_go_to_another_name_and_work_on(tmp_path: Path) -> None:
    made = stores(tmp_path, suffix=".cleaned")
    made.batches.append(build_batch([Record(0, 0, None, b"v")]), 42, 0)
    made.offset_index.append(42, 0)
    made.txn_index.append(AbortedTxn(1, 42, 43, 44))
    made.txn_index.flush()
    assert names(tmp_path) == {".log.cleaned", ".txnindex.cleaned"}
    renamed = made.rename(".swap")
    assert {path.name for path in renamed} == {path.name for path in tmp_path.iterdir()}
    assert made.rename("")[-1].name.endswith(".log")  # the last, as it tells what was finished
    made.close()
    assert names(tmp_path) == {".log", ".index", ".timeindex", ".txnindex"}
    again = stores(tmp_path, size=(tmp_path / f"{42:020d}.log").stat().st_size)
    assert again.batches.size == made.batches.size
    assert again.txn_index.entries() == [AbortedTxn(1, 42, 43, 44)]
    again.forget_indexes()
    again.close()
    assert [again.offset_index.entries(), again.txn_index.entries()] == [[], []]
    again.release()
    again.remove()
    assert names(tmp_path) == set()


def test_segment_file_is_open_while_a_slice_of_it_is_held(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789" * 10)
    fs = FaultyFileSystem()
    descriptor = fs.open_read(path)
    part = FileSlice(SentFile(fs, descriptor, memoryview(path.read_bytes())), 10, 50)
    path.unlink()
    rest = part.after(45)
    del part
    assert os.pread(rest.source.descriptor, rest.length, rest.offset) == bytes(rest.view()) == rest.head(9) == b"56789"
    del rest
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


MEGABYTE = 1 << 20


def batch(value: bytes) -> bytes:
    return build_batch([Record(0, 0, b"k", value)])


def read(store: DiskBatchStore, position: int, length: int) -> bytes:
    return b"".join(store.read(position, length))


def no_descriptor_left(_: FaultyFileSystem, path: Path) -> int:
    raise StorageError(f"{path}: Too many open files")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{0:020d}.log"


def test_tails_have_one_limit_together_and_the_one_that_grew_least_recently_goes(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    fs.tails.limit = 10_000
    stores = [DiskBatchStore(fs, tmp_path / f"{number}.log", 0) for number in range(5)]
    for number, store in enumerate(stores):
        for _ in range(3):
            store.append(batch(b"%d" % number * 1000), 0, 0)
        assert fs.tails.sum <= 10_000
    assert [store._tail.size > 0 for store in stores] == [False, False, False, True, True]
    for number, store in enumerate(stores):
        assert read(store, 0, store.size) == 3 * batch(b"%d" % number * 1000)
        store.seal()
    assert fs.tails.sum == 0


def test_segment_append_is_in_the_file_at_once(path: Path) -> None:
    store = DiskBatchStore(FaultyFileSystem(), path, 0)
    first = store.append(batch(b"a"), 7, 3)
    second = store.append(batch(b"b"), 8, 3)
    data = path.read_bytes()
    assert (first, second, store.size) == (0, len(data) // 2, len(data))
    assert [(b.base_offset, b.partition_leader_epoch) for b in map(read_batch, (data, data[second:]))] == [
        (7, 3),
        (8, 3),
    ]
    assert read(store, 0, store.size) == data


def test_old_bytes_come_from_the_file_new_ones_from_memory(path: Path) -> None:
    store = DiskBatchStore(FaultyFileSystem(), path, 0)
    positions = [store.append(batch(bytes([65 + i]) * MEGABYTE), i, 0) for i in range(11)]
    data = path.read_bytes()
    early = store.read(0, 1000)
    for position in positions:
        assert read(store, position, 100) == data[position : position + 100]
        view, at = store.view(position)
        assert read_batch(view, at).data == data[position : position + len(batch(b"x" * MEGABYTE))]
    assert read(store, 0, store.size) == data
    store.seal()
    assert read(store, 5, store.size - 5) == data[5:]
    store.close()
    path.unlink()
    assert b"".join(early) == data[:1000]


@pytest.mark.skipif(sys.platform != "linux", reason="files are sent by descriptor on Linux")
def test_what_is_large_is_sent_by_the_files_descriptor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = FaultyFileSystem()
    store = DiskBatchStore(fs, path, 0)
    for i in range(5):
        store.append(batch(bytes([65 + i]) * MEGABYTE), i, 0)
    data = path.read_bytes()
    one = len(data) // 5
    assert [type(part) for part in store.slices(one, one)] == [FileSlice]
    across = store.slices(7, len(data) - 7)
    assert [(type(part), len(part)) for part in across] == [(FileSlice, 4 * one - 7), (memoryview, one)]
    assert joined(across) == data[7:]
    assert [type(part) for part in store.slices(10, 1000)] == [memoryview], "a map costs less for a small one"
    assert [type(part) for part in store.slices(4 * one, one)] == [memoryview], "it is in memory"
    monkeypatch.setattr(FaultyFileSystem, "open_read", no_descriptor_left)
    views = store.slices(7, 3 * one)
    assert FileSlice not in map(type, views)
    assert joined(views) == data[7:][: 3 * one]


@pytest.mark.parametrize("sealed", [False, True])
def test_disk_segment_store_cuts_its_tail(path: Path, sealed: bool) -> None:
    store = DiskBatchStore(FaultyFileSystem(), path, 0)
    for number in range(3):
        store.append(batch(b"v"), number, 0)
    one = store.size // 3
    if sealed:
        store.seal()
    kept = store.read(0, one)
    store.truncate(one)
    assert (store.size, path.stat().st_size) == (one, one)
    store.truncate(5 * one)  # nothing
    assert store.append(batch(b"w"), 1, 0) == one
    assert path.read_bytes() == read(store, 0, 2 * one)
    assert b"".join(kept) == path.read_bytes()[:one]


def test_a_refused_write_leaves_nothing_behind(path: Path) -> None:
    fs = FaultyFileSystem()
    store = DiskBatchStore(fs, path, 0)
    store.append(batch(b"a"), 0, 0)
    data = path.read_bytes()
    fs.refuse = lambda call, _: errno.ENOSPC if call == "write" else None
    with pytest.raises(StorageError, match="No space left"):
        store.append(batch(b"b"), 1, 0)
    assert (path.read_bytes(), store.size) == (data, len(data))
    fs.refuse = lambda call, _: None
    assert store.append(batch(b"c"), 1, 0) == len(data)
    assert path.read_bytes() == read(store, 0, store.size)


def test_a_sync_is_asked_for_once(path: Path) -> None:
    fs = FaultyFileSystem()
    store = DiskBatchStore(fs, path, 0)
    assert store.begin_sync() is None
    store.append(batch(b"a"), 0, 0)
    sync = store.begin_sync()
    assert sync is not None
    assert store.begin_sync() is None
    fs.refuse = lambda call, _: errno.EIO if call == "sync" else None
    with pytest.raises(StorageError):
        sync()
    assert store.begin_sync() is not None  # what failed is still to be done


def test_without_a_descriptor_for_the_thread_it_is_synced_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fs = FaultyFileSystem()
    store = DiskBatchStore(fs, path, 0)
    store.append(batch(b"a"), 0, 0)
    calls = fs.calls
    with monkeypatch.context() as limited:
        limited.setattr(FaultyFileSystem, "duplicate", lambda fs, descriptor, path: no_descriptor_left(fs, path))
        assert store.begin_sync() is None
    assert fs.calls == calls + 1  # the sync
    assert store.begin_sync() is None  # there is nothing to do


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
