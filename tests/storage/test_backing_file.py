"""Extents of files without a name."""

from __future__ import annotations

import gc
import logging
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from odradek.protocol.file_slice import WORTH_SENDING, FileSlice, joined
from odradek.storage.backing_file import THREAD_NAME, BackingFile, temporary_file
from odradek.storage.chunks import ChunkPool
from odradek.storage.memory_backend import MemoryBackend, MemoryBatchStore
from tests.fakes.held_file import Disk, held_disk, settle
from tests.storage.chunk_stores import KB, MB, filled, in_files, whole


def blocks(file: BackingFile) -> int:
    """Bytes that the file takes."""
    return os.fstat(file.descriptor).st_blocks * 512


def test_extents_keep_what_is_written() -> None:
    file = temporary_file()
    one, two = file.extent(10_000), file.extent(5)
    one.write(b"a" * 6000 + b"b" * 4000)
    two.write(b"\0\0\0xy")
    assert bytes(one.view(one.offset + 5998, 4)) == b"aabb"
    assert bytes(two.view(two.offset, 5)) == b"\0\0\0xy"
    assert one.size >= 10_000
    assert two.offset >= one.offset + one.size


def test_views_are_read_only_and_outlive_their_extent() -> None:
    file = temporary_file()
    extent = file.extent(300_000)
    extent.write(b"z" * 300_000)
    view = extent.view(extent.offset + 100_000, 100_000)
    assert view.readonly
    del extent, file
    gc.collect()
    assert bytes(view) == b"z" * 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="holes are made on Linux")
def test_room_is_given_back_when_nobody_looks_any_more() -> None:
    file = temporary_file()
    extents = [file.extent(1 << 20) for _ in range(4)]
    for extent in extents:
        extent.write(b"q" * (1 << 20))
    view = extents[2].view(extents[2].offset, 10)
    full = blocks(file)
    assert full >= 4 << 20
    del extent, extents
    assert blocks(file) <= full - (3 << 20)
    assert blocks(file) >= 1 << 20
    assert bytes(view) == b"q" * 10
    del view
    assert blocks(file) < 1 << 20
    assert file.extent(1 << 20).offset >= 8 << 20, "what may be in a socket is not written over"


@pytest.mark.skipif(sys.platform != "linux", reason="files are sent by descriptor on Linux")
def test_a_hole_takes_nothing_of_what_a_socket_has() -> None:
    file = temporary_file()
    sizes = (300_000, 1_000_000, 64 * 1024, 5000, 3_000_000)
    extents = [file.extent(size) for size in sizes]
    large = [extent for extent, size in zip(extents, sizes, strict=True) if size >= WORTH_SENDING]
    assert all(extent.offset % (2 << 20) == 0 for extent in large), "no page of the system holds parts of two of them"
    assert sorted(extents, key=lambda extent: extent.offset) == extents
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    with client, server:
        for extent in extents:
            extent.write(b"q" * extent.size)
        sent = os.sendfile(server.fileno(), file.descriptor, extents[0].offset, 300_000)
        full = blocks(file)
        del extent, extents, large
        assert blocks(file) <= full - sum(sizes), "all of the room is back"
        assert client.recv(sent, socket.MSG_WAITALL) == b"q" * sent


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_file_closes_with_its_last_extent_and_has_no_name() -> None:
    file = temporary_file()
    extent = file.extent(10)
    link = Path(f"/proc/self/fd/{file.descriptor}")
    assert "(deleted)" in str(link.readlink())
    descriptor = file.descriptor
    del file
    os.fstat(descriptor)
    del extent
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_without_holes_the_room_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.storage.backing_file._PUNCHES", False)
    file = temporary_file()
    first = file.extent(70_000)
    offset = first.offset
    del first
    assert file.extent(200_000).offset != offset
    assert file.extent(70_000).offset == offset


def test_a_folder_for_temporary_files_may_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert os.fstat(temporary_file().descriptor).st_dev == tmp_path.stat().st_dev


@pytest.mark.skipif(sys.platform != "linux", reason="holes are made on Linux")
def test_room_may_be_given_back_later() -> None:
    file = temporary_file()
    jobs: list[Callable[[], None]] = []
    file.later = jobs.append
    extent = file.extent(1 << 20)
    extent.write(b"q" * (1 << 20))
    full = blocks(file)
    del extent
    assert blocks(file) == full
    (job,) = jobs
    job()
    assert blocks(file) < full


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_backing_file_continues_short_writes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    file = temporary_file()
    write_some = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: write_some(fd, data[:most], at))
    file.write(b"abcdefgh", 2)
    assert os.pread(file.descriptor, 20, 0) == b"\0\0abcdefgh"


@pytest.fixture
def without_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: reading and writing move the position of the file."""
    for name in ("pread", "preadv", "pwrite", "pwritev", "sendfile"):
        monkeypatch.delattr(os, name)
    monkeypatch.setattr("odradek.storage.backing_file._PUNCHES", False)


@pytest.mark.usefixtures("without_positions")
def test_where_positions_cannot_be_written_to() -> None:
    file = temporary_file()
    file.write(b"abcde", 2)
    file.write(b"x", 0)
    assert file.read(0, 20) == b"x\0abcde"


@pytest.mark.usefixtures("without_positions")
def test_a_reader_does_not_move_what_is_being_written() -> None:
    file = temporary_file()
    extents = [file.extent(1 << 20) for _ in range(8)]
    over = threading.Event()
    wrong: list[bytes] = []

    def look() -> None:
        while not over.is_set():
            for extent in extents[:2]:
                seen = extent.read(extent.offset + 5000, 10), bytes(extent.view(extent.offset + 5000, 10))
                wrong.extend(each for each in seen if each not in (bytes(10), b"w" * 10))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for extent in extents:
            extent.write(b"w" * (1 << 20))
    finally:
        over.set()
        reader.join()
    assert not wrong
    assert all(extent.read(extent.offset, 1 << 20) == b"w" * (1 << 20) for extent in extents)


@pytest.mark.usefixtures("without_positions")
def test_chunk_pool_works_in_a_backing_file() -> None:
    pool = ChunkPool(2 << 20)
    stores = [filled(pool, [size] * (4_000_000 // size)) for size in (300, 200_000)]
    settle(pool)
    assert pool.held <= 3 << 20
    assert all(whole(store) == model for store, model in stores)


@pytest.mark.long
def test_little_is_mapped_at_a_time() -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 300)
    settle(pool)
    for at in range(299):
        view, start = store.view(at * MB)
        assert bytes(view[start : start + 16]) == model[at * MB : at * MB + 16]
    assert sum(chunk.view is not None and chunk.extent is not None for chunk in store._chunks) <= 64


def test_what_was_looked_at_last_stays_mapped() -> None:
    pool = ChunkPool(0)
    store, _ = filled(pool, [200 * KB] * 100)
    settle(pool)
    first = store.view(0)[0]
    assert store._chunks[0].view is not None
    for at in range(99):
        store.view(at * 200 * KB)
    assert store._chunks[0].view is None, "64 others were looked at"
    assert store._chunks[98].view is not None
    assert len(bytes(first)) == 200 * KB, "a view stays"


@pytest.mark.long
def test_one_large_chunk_is_mapped_whatever_its_size() -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [70 * MB, 100])
    settle(pool)
    view, start = store.view(0)
    assert bytes(view[start + 69 * MB : start + 69 * MB + 100]) == model[69 * MB : 69 * MB + 100]
    assert store._chunks[0].view is not None


FULL = OSError(28, "No space left on device")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    with held_disk(monkeypatch) as disk:
        yield disk


def writers() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == THREAD_NAME}


def test_records_are_in_memory_until_they_are_written(disk: Disk) -> None:
    pool = ChunkPool(2 * MB)
    store, model = filled(pool, [MB] * 6)
    disk.begun.acquire()
    assert (pool.held, pool.leaving) == (6 * MB, 4 * MB)
    assert not in_files(store)
    assert whole(store) == model
    disk.work()
    settle(pool)
    assert (pool.held, pool.leaving) == (2 * MB, 0)
    assert in_files(store) == 4 * MB
    assert whole(store) == model == joined(store.slices(0, store.size))


def test_one_chunk_leaves_memory_after_the_other(disk: Disk) -> None:
    pool = ChunkPool(MB)
    store, model = filled(pool, [MB] * 4)
    for count in (1, 2, 3):
        disk.let_one_through(pool)
        assert pool.held == (4 - count) * MB
        assert [isinstance(part, FileSlice) for part in store.slices(0, store.size)] == [
            number < count for number in range(4)
        ]
        assert whole(store) == model


def test_a_backing_file_is_crowded_while_more_than_the_slack_is_to_be_written(disk: Disk) -> None:
    pool = ChunkPool(4 * MB, least_slack=2 * MB)
    told: list[bool] = []
    pool.on_crowded = told.append
    store = MemoryBatchStore(pool)
    crowded = []
    for number in range(8):
        store.append(bytes(MB), number, 0)
        crowded.append(pool.crowded)
    assert crowded == [False] * 6 + [True] * 2, "at more than four in memory and two on their way"
    disk.let_one_through(pool)
    assert pool.crowded
    disk.let_one_through(pool)
    assert not pool.crowded
    assert told == [True, False]


def test_what_is_deleted_before_its_turn_is_not_written(disk: Disk) -> None:
    pool = ChunkPool(0)
    first, second = filled(pool, [MB])[0], filled(pool, [MB] * 5)[0]
    third, model = filled(pool, [MB] * 2)
    disk.begun.acquire()
    second.close()
    pool.collect()
    assert (pool.leaving, pool.held) == (2 * MB, 3 * MB), "the first, which is being written, and one of the third"
    disk.begun.release()
    disk.let_one_through(pool)
    disk.let_one_through(pool)
    assert (pool.leaving, pool.held) == (0, MB)
    assert in_files(first) == in_files(third) == MB
    assert whole(third) == model


def test_what_is_deleted_while_it_is_written_leaves_nothing_behind(disk: Disk) -> None:
    pool = ChunkPool(0)
    store, _ = filled(pool, [MB] * 2)
    disk.begun.acquire()
    store.close()
    del store
    gc.collect()
    disk.begun.release()
    disk.let_one_through(pool)
    settle(pool)
    assert (pool.leaving, pool.held) == (0, 0)


def test_bytes_under_way_outlive_the_move_and_the_log(disk: Disk) -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 3)
    before = store.slices(0, store.size)
    disk.let_one_through(pool)
    between = store.slices(0, store.size)
    disk.work()
    settle(pool)
    store.close()
    assert joined(before) == joined(between) == model


def test_a_log_that_is_cut_while_it_is_written(disk: Disk) -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 3)
    disk.begun.acquire()
    store.truncate(MB // 2)
    store.append(b"n" * 100, 7, 1)
    disk.begun.release()
    disk.work()
    settle(pool)
    assert whole(store)[: MB // 2] == model[: MB // 2]
    assert whole(store)[-20:] == b"n" * 20
    assert store.size == MB // 2 + 100


def test_a_fork_goes_on_when_its_original_has_gone(disk: Disk) -> None:
    pool, other = ChunkPool(0), ChunkPool()
    before = writers()
    store, model = filled(pool, [MB] * 4)
    disk.begun.acquire()
    (thread,) = writers() - before
    twin = store.shared(store.size, other)
    store.close()
    pool.close()
    gone = pool.gone
    del pool, store
    gc.collect()
    twin.append(b"t" * 100, 4, 0)
    assert whole(twin)[: len(model)] == model
    disk.work()
    thread.join()
    assert in_files(twin) == 3 * MB, "what had been handed over is written all the same"
    assert whole(twin)[: len(model)] == model
    assert len(gone) == 3


def test_a_pool_that_closes_takes_more_afterwards(disk: Disk) -> None:
    backend = MemoryBackend(0)
    pool = backend.pool
    store, model = filled(pool, [MB] * 20)
    assert pool.crowded
    disk.begun.acquire()
    backend.close()
    assert (pool.leaving, pool.crowded) == (0, False)
    assert whole(store) == model
    later, later_model = filled(pool, [MB] * 3)
    disk.work()
    settle(pool)
    assert in_files(store) == 20 * MB
    assert (whole(store), whole(later)) == (model, later_model)


@pytest.mark.long
def test_threads_and_files_go_with_their_pool() -> None:
    before = writers()
    pool = ChunkPool(0)
    store, _ = filled(pool, [MB] * 3)
    settle(pool)
    (slices,) = (part for part in store.slices(0, MB) if isinstance(part, FileSlice))
    descriptor = slices.source.descriptor
    (thread,) = writers() - before
    del store, pool
    gc.collect()
    thread.join()
    assert slices.view().nbytes == MB
    del slices
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_on_a_full_disk_records_stay_in_memory_and_a_later_try_brings_them_there(
    disk: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    pool = ChunkPool(2 * MB, least_slack=MB)
    store, model = filled(pool, [MB] * 5)
    assert pool.crowded
    with caplog.at_level(logging.INFO, "odradek.storage"):
        disk.error = FULL
        disk.let_one_through(pool)
        (said,) = caplog.messages
        assert "No space left on device" in said
        assert "stay in memory" in said
        assert (pool.held, pool.leaving, pool.crowded) == (5 * MB, 0, False), "nobody waits for a disk that is full"
        assert whole(store) == model
        disk.error = None
        more, more_model = filled(pool, [MB] * 6)
        assert (pool.held, pool.leaving) == (11 * MB, 0), "the next try comes with a quarter more and 4 MiB"
        last, _ = filled(pool, [MB])
        assert pool.leaving == 10 * MB
        disk.work()
        settle(pool)
    assert caplog.messages[1:] == ["the temporary file takes records again"]
    assert pool.held == 2 * MB
    assert in_files(store) == 5 * MB
    assert (whole(store), whole(more)) == (model, more_model)
    filled(pool, [MB] * 2)
    assert pool.leaving, "the limit is what it was"
    assert last.size == MB


def test_a_disk_that_is_full_twice_is_told_of_twice(disk: Disk, caplog: pytest.LogCaptureFixture) -> None:
    pool = ChunkPool(0)
    disk.error = FULL
    stores = [filled(pool, [MB] * 4)]
    disk.let_one_through(pool)
    while not pool.leaving:
        stores.append(filled(pool, [MB]))
    disk.let_one_through(pool)
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert pool.leaving == 0
    assert all(whole(store) == model for store, model in stores)


@pytest.mark.parametrize("error", [MemoryError("no more"), ValueError("a bug")])
def test_whatever_goes_wrong_nobody_waits_for_ever(disk: Disk, error: Exception) -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 20)
    assert pool.crowded
    disk.error = error
    disk.let_one_through(pool)
    assert not pool.crowded
    assert whole(store) == model


def test_where_no_temporary_file_can_be_made(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def refuse() -> object:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("odradek.storage.backing_file.temporary_file", refuse)
    pool = ChunkPool(100 * KB)
    store, model = filled(pool, [200 * KB] * 3)
    settle(pool)
    assert "No usable temporary directory" in caplog.text
    assert whole(store) == model


def test_without_a_thread_records_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = ChunkPool(100 * KB)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        store, model = filled(pool, [200 * KB] * 3)
    assert "can't start new thread" in caplog.text
    assert (pool.leaving, pool.crowded, pool.held) == (0, False, 600 * KB)
    assert whole(store) == model
