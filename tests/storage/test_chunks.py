"""Where the bytes of logs in memory are: the limit, files, logs that share bytes; a model against plain bytes."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.protocol.file_slice import FileSlice, joined
from odradek.storage.chunks import THREAD_NAME, ChunkPool
from odradek.storage.memory_backend import MemoryBackend, MemoryBatchStore
from tests.fakes.examples import examples
from tests.fakes.held_file import Disk, held_disk, settle
from tests.storage.chunk_stores import KB, MB, as_stored, filled, in_files, sized, whole

linux = pytest.mark.skipif(sys.platform != "linux", reason="files are sent by descriptor on Linux")


def test_chunk_pool_keeps_small_logs_in_memory() -> None:
    pool = ChunkPool()
    stores = [filled(pool, [100] * 1000)[0] for _ in range(20)]
    assert all(not in_files(store) for store in stores)
    assert not pool.leaving
    assert pool.held <= 20 * 260 * KB


@pytest.mark.parametrize("size", [300, 10 * KB, 100 * KB, 5 * MB])
def test_chunk_pool_moves_full_chunks_to_a_file_when_memory_is_full(size: int) -> None:
    pool = ChunkPool(MB)
    store, model = filled(pool, [size] * (10 * MB // size))
    store.seal()
    settle(pool)
    assert in_files(store) >= len(model) - max(MB, size)
    assert whole(store) == model == joined(store.slices(0, store.size))


@pytest.mark.long("300")
@pytest.mark.parametrize("size", [300, 10 * KB, 100 * KB, 5 * MB])
@pytest.mark.parametrize("limit", [0, 3 * MB, 10 * MB])
def test_the_limit_holds_and_nothing_is_lost(size: int, limit: int) -> None:
    pool = ChunkPool(limit)
    stores = [filled(pool, [size] * (8 * MB // size)) for _ in range(4)]
    settle(pool)
    assert pool.held <= max(limit, MB, size), "what is being filled is in memory"
    for store, model in stores:
        assert whole(store) == model
        assert joined(store.slices(1000, 2 * MB)) == model[1000 : 1000 + 2 * MB]
    del stores, store
    gc.collect()
    pool.collect()
    assert pool.held == 0


def test_chunk_pool_moves_the_oldest_to_files_first() -> None:
    pool = ChunkPool(4 * MB)
    old, _ = filled(pool, [200] * (2 * MB // 200))
    young = [filled(pool, [200] * 1000)[0] for _ in range(14)]
    settle(pool)
    assert pool.held <= 4 * MB
    assert in_files(old) == old.size, "all of it has moved"
    assert not in_files(young[-1])


@pytest.mark.long
def test_chunk_pool_without_a_limit_moves_nothing() -> None:
    pool = ChunkPool(-1)
    stores = [filled(pool, [100 * KB] * 300) for _ in range(5)]
    assert not pool.leaving
    assert all(whole(store) == model for store, model in stores)


def test_an_open_chunk_that_moved_is_followed_by_another() -> None:
    pool = ChunkPool(100 * KB)
    one, model = filled(pool, [300] * 20)
    view = one.read(0, 3000)[0]
    before = bytes(view)
    others = [filled(pool, [300] * 100) for _ in range(10)]
    settle(pool)
    assert in_files(one) == len(model)
    one.append(bytes(200), 99, 1)
    assert whole(one)[: len(model)] == model
    assert (one.size, whole(one)[-200:-192]) == (len(model) + 200, (99).to_bytes(8, "big"))
    assert bytes(view) == before
    assert all(whole(store) == content for store, content in others)


@linux
@pytest.mark.parametrize("size", [700, 100 * KB, 900 * KB])
def test_what_is_sent_again_and_again_moves(size: int) -> None:
    pool = ChunkPool()
    store, model = filled(pool, [size] * (6 * MB // size))
    other, _ = filled(pool, [size] * (6 * MB // size))
    for start in range(0, store.size, MB):
        store.slices(start, min(MB, store.size - start))
    settle(pool)
    assert not in_files(store), "one reader of everything does not pay for others"
    for _ in range(4):  # what would crowd the writer is left for the next time
        for start in range(0, store.size, MB):
            store.slices(start, min(MB, store.size - start))
        settle(pool)
    assert in_files(store) >= store.size - MB, "the first chunks of small batches are too small for it"
    assert not in_files(other)
    assert whole(store) == joined(store.slices(0, store.size)) == model
    store.append(sized(bytes(700)), 9, 9)
    assert whole(store) == model + as_stored(sized(bytes(700)), 9, 9)


@linux
def test_nothing_moves_for_its_readers_where_memory_has_no_limit() -> None:
    pool = ChunkPool(-1)
    store, _ = filled(pool, [900 * KB])
    for _ in range(5):
        assert all(isinstance(part, memoryview) for part in store.slices(0, store.size))
    assert not pool.leaving


@linux
def test_readers_of_a_twin_leave_the_pool_alone() -> None:
    pool = ChunkPool()
    store, _ = filled(pool, [900 * KB])
    twin = store.shared(store.size, ChunkPool())  # of another broker, in another thread
    for _ in range(5):
        twin.slices(0, twin.size)
    assert not pool.leaving


@linux
def test_chunk_pool_readers_make_nobody_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with held_disk(monkeypatch):
        pool = ChunkPool(100 * MB, least_slack=4 * MB)
        stores = [filled(pool, [900 * KB])[0] for _ in range(60)]
        for store in stores * 4:
            store.slices(0, store.size)
        assert pool.leaving > 0
        assert not pool.crowded
    settle(pool)


@linux
def test_a_disk_that_fails_is_not_asked_for_readers_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with held_disk(monkeypatch) as disk:
        disk.error = OSError(28, "No space left on device")
        pool = ChunkPool()
        store, model = filled(pool, [900 * KB] * 3)
        for _ in range(2):
            store.slices(0, store.size)
        disk.work()
        settle(pool)
        for _ in range(3):
            store.slices(0, store.size)
        assert not pool.leaving
        assert caplog.text.count("No space left") == 1
        assert joined(store.slices(0, store.size)) == model


def test_logs_that_share_bytes_move_together() -> None:
    pool, other_pool = ChunkPool(200 * KB), ChunkPool()
    store, model = filled(pool, [300] * 100)
    twin = store.shared(store.size, other_pool)
    prefix = store.shared(3000, other_pool)
    twin.append(b"t" * 100, 7, 0)
    store.append(b"s" * 100, 7, 0)
    keep = filled(pool, [300] * 1000)
    settle(pool)
    assert in_files(twin) == len(model), "only what it appended itself is in its pool"
    assert whole(twin)[: len(model)] == whole(store)[: len(model)] == model
    assert (whole(twin)[-20:], whole(store)[-20:], whole(prefix)) == (b"t" * 20, b"s" * 20, model[:3000])
    del store
    assert whole(twin)[: len(model)] == model
    assert whole(keep[0]) == keep[1]


def test_bytes_under_way_stay_as_they_are() -> None:
    pool = ChunkPool(2 * MB)
    store, model = filled(pool, [100 * KB] * 60)
    slices, views = store.slices(0, store.size), store.read(0, store.size)
    store.truncate(50 * KB)
    store.append(bytes(200 * KB), 1, 1)
    store.close()
    filled(pool, [100 * KB] * 60)
    settle(pool)
    assert joined(slices) == b"".join(views) == model


@pytest.mark.long
def test_chunk_pool_lets_other_threads_read_what_moves() -> None:
    pool = ChunkPool(2 * MB)
    store, model = filled(pool, [700] * 3000)
    twin = store.shared(store.size, ChunkPool())
    over = threading.Event()
    wrong: list[int] = []

    def look() -> None:
        at = 0
        while not over.is_set():
            at = (at * 7 + 70_001) % (len(model) - 10_000)
            if b"".join(twin.read(at, 10_000)) != model[at : at + 10_000]:
                wrong.append(at)

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for _ in range(6):
            filled(pool, [300] * 10_000)
    finally:
        over.set()
        reader.join()
    assert not wrong


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

    monkeypatch.setattr("odradek.storage.chunks.temporary_file", refuse)
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


class PoolModel(RuleBasedStateMachine):
    """Stores of one small pool on a disk that writes, or fails, when the test says so: appended to, read, forked, cut
    and dropped in any order, against plain bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.exit = ExitStack()
        self.disk = self.exit.enter_context(held_disk(self.exit.enter_context(pytest.MonkeyPatch.context())))
        self.pool = ChunkPool(600 * KB, least_slack=300 * KB)
        self.told: list[bool] = []
        self.pool.on_crowded = self.told.append
        self.stores: list[tuple[MemoryBatchStore, bytes]] = [(MemoryBatchStore(self.pool), b"")]
        self.under_way: list[tuple[list[memoryview | FileSlice], bytes]] = []
        self.count = 0

    def _some(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, len(self.stores) - 1))

    @rule(
        data=st.data(),
        sizes=st.lists(st.sampled_from([20, 3000, 60_000, 70_000, 300_000]), min_size=1, max_size=8),
    )
    def append(self, data: st.DataObject, sizes: list[int]) -> None:
        which = self._some(data)
        store, model = self.stores[which]
        for size in sizes:
            self.count += 1
            batch = sized(bytes([self.count % 251]) * size)
            assert store.append(batch, self.count, 5) == len(model)
            model += as_stored(batch, self.count, 5)
        self.stores[which] = store, model

    @rule()
    def create(self) -> None:
        self.stores.append((MemoryBatchStore(self.pool), b""))

    @rule(data=st.data())
    def seal(self, data: st.DataObject) -> None:
        self.stores[self._some(data)][0].seal()

    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        store, model = self.stores[self._some(data)]
        size = data.draw(st.integers(0, len(model)))
        self.stores.append((store.shared(size, self.pool), model[:size]))

    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        which = self._some(data)
        store, model = self.stores[which]
        size = data.draw(st.integers(0, len(model)))
        store.truncate(size)
        self.stores[which] = store, model[:size]

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        store, model = self.stores[self._some(data)]
        if not model:
            return
        start = data.draw(st.integers(0, len(model) - 1))
        stop = data.draw(st.integers(start + 1, len(model)))
        assert b"".join(store.read(start, stop - start)) == model[start:stop]
        self.under_way.append((list(store.slices(start, stop - start)), model[start:stop]))
        view, at = store.view(start)
        assert model[start:].startswith(view[at:])

    @precondition(lambda self: len(self.stores) > 1)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        del self.stores[self._some(data)]

    @precondition(lambda self: self.under_way)
    @rule()
    def arrive(self) -> None:
        parts, expected = self.under_way.pop(0)
        assert joined(parts) == expected

    @precondition(lambda self: waits(self.pool))
    @rule(count=st.integers(1, 4))
    def write(self, count: int) -> None:
        """The disk writes a few of the chunks."""
        for _ in range(count):
            if waits(self.pool):
                self.disk.let_one_through(self.pool)

    @precondition(lambda self: waits(self.pool))
    @rule()
    def fail(self) -> None:
        """The disk is full: nothing of what was handed over moves."""
        self.disk.error = OSError(28, "No space left on device")
        self.disk.let_one_through(self.pool)
        self.disk.error = None
        assert (self.pool.leaving, self.pool.crowded) == (0, False)

    @invariant()
    def the_writer_has_begun(self) -> None:
        """A chunk that is being written lives until it is: whether a step that drops it comes before is not left to
        the threads, or the same steps would not lead to the same state."""
        if waits(self.pool):
            self.disk.wait_for_write()

    @invariant()
    def sizes_are_told(self) -> None:
        for store, model in self.stores:
            assert store.size == len(model)

    @invariant()
    def what_is_held_is_counted(self) -> None:
        pool = self.pool
        assert 0 <= pool.leaving <= pool.held
        assert pool.crowded is (pool.leaving > 300 * KB)
        assert self.told[-1:] in ([], [pool.crowded])

    def teardown(self) -> None:
        self.disk.work()
        self.append_until_room()
        settle(self.pool)
        for parts, expected in self.under_way:
            assert joined(parts) == expected
        for store, model in self.stores:
            assert whole(store) == model
        assert self.pool.held <= 600 * KB
        self.under_way.clear()
        self.stores.clear()
        gc.collect()
        settle(self.pool)
        self.exit.close()
        assert self.pool.held == 0

    def append_until_room(self) -> None:
        """A pool that gave up tries again when a lot more has come."""
        store, _ = filled(self.pool, [100 * KB] * 200)
        store.close()


PoolModel.TestCase.settings = settings(max_examples=examples(25), stateful_step_count=30, deadline=None)
TestPoolModel = PoolModel.TestCase


def waits(pool: ChunkPool) -> bool:
    """Whether the writer has something to write."""
    pool.collect()
    return any(which() is not None for which, _ in pool._leaving.values())
