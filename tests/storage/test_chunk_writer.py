"""The thread that writes chunks to the temporary file: what the disk does when it is slow, full or gone."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterator

import pytest

from odradek.protocol.file_slice import FileSlice, joined
from odradek.storage.chunk_writer import THREAD_NAME
from odradek.storage.chunks import ChunkPool
from odradek.storage.memory_backend import MemoryBackend, MemoryBatchStore
from tests.fakes.held_file import Disk, held_disk, settle
from tests.storage.chunk_stores import KB, MB, filled, in_files, whole

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


def test_it_is_crowded_while_more_than_the_slack_is_to_be_written(disk: Disk) -> None:
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

    monkeypatch.setattr("odradek.storage.chunk_writer.temporary_file", refuse)
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
