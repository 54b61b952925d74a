"""Where the bytes of logs in memory are: the limit, files, logs that share bytes; a model against plain bytes."""

from __future__ import annotations

import gc
import sys
import threading
from contextlib import ExitStack

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.protocol.file_slice import FileSlice, joined
from odradek.storage.chunks import ChunkPool
from odradek.storage.memory_backend import MemoryBatchStore
from tests.fakes.examples import examples
from tests.fakes.held_file import held_disk, settle
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
