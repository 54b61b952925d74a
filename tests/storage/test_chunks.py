"""Where the bytes of logs in memory are: the limit, files, logs that share bytes; a model against plain bytes."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from odradek.protocol.file_slice import FileSlice, joined
from odradek.storage.backing_file import BackingFile, temporary_file
from odradek.storage.chunks import ChunkPool
from odradek.storage.memory_backend import MemoryBatchStore

KB, MB = 1024, 1024 * 1024


def filled(pool: ChunkPool, sizes: list[int]) -> tuple[MemoryBatchStore, bytes]:
    """A store with batches of these sizes, and what it holds."""
    store, model = MemoryBatchStore(pool), []
    for i, size in enumerate(sizes):
        batch = os.urandom(size)
        store.append(batch, i, 3)
        model.append(i.to_bytes(8, "big") + batch[8:12] + (3).to_bytes(4, "big") + batch[16:])
    return store, b"".join(model)


def whole(store: MemoryBatchStore) -> bytes:
    return b"".join(store.read(0, store.size)) if store.size else b""


def in_files(store: MemoryBatchStore) -> int:
    """How many bytes are sent by descriptor."""
    return sum(len(part) for part in store.slices(0, store.size) if isinstance(part, FileSlice))


def test_small_logs_need_no_file() -> None:
    pool = ChunkPool()
    stores = [filled(pool, [100] * 1000)[0] for _ in range(20)]
    assert all(not in_files(store) for store in stores)
    assert pool._disk is None
    assert pool.held <= 20 * 260 * KB


@pytest.mark.parametrize("size", [300, 10 * KB, 100 * KB, 5 * MB])
def test_what_is_full_goes_to_a_file_when_memory_is(size: int) -> None:
    pool = ChunkPool(MB)
    store, model = filled(pool, [size] * (10 * MB // size))
    store.seal()
    assert in_files(store) >= 8 * MB
    assert whole(store) == model == joined(store.slices(0, store.size))


@pytest.mark.parametrize("size", [300, 10 * KB, 100 * KB, 5 * MB])
@pytest.mark.parametrize("limit", [0, 3 * MB, 10 * MB])
def test_the_limit_holds_and_nothing_is_lost(size: int, limit: int) -> None:
    pool = ChunkPool(limit)
    stores = [filled(pool, [size] * (8 * MB // size)) for _ in range(4)]
    assert pool.held <= max(limit, MB), "what is being filled is in memory"
    for store, model in stores:
        assert whole(store) == model
        assert joined(store.slices(1000, 2 * MB)) == model[1000 : 1000 + 2 * MB]
    del stores, store
    gc.collect()
    pool.make_room(0)
    assert pool.held == 0


def test_the_oldest_move_first() -> None:
    pool = ChunkPool(4 * MB)
    old, _ = filled(pool, [200] * (2 * MB // 200))
    young = [filled(pool, [200] * 1000)[0] for _ in range(14)]
    assert pool.held <= 4 * MB
    assert in_files(old) == old.size, "all of it has moved"
    assert not in_files(young[-1])


def test_without_a_limit_nothing_moves() -> None:
    pool = ChunkPool(-1)
    stores = [filled(pool, [100 * KB] * 300) for _ in range(5)]
    assert pool._disk is None
    assert all(whole(store) == model for store, model in stores)


def test_an_open_chunk_that_moved_is_followed_by_another() -> None:
    pool = ChunkPool(100 * KB)
    one, model = filled(pool, [300] * 20)
    view = one.read(0, 3000)[0]
    before = bytes(view)
    others = [filled(pool, [300] * 100) for _ in range(10)]
    assert in_files(one) == len(model)
    one.append(bytes(200), 99, 1)
    assert whole(one)[: len(model)] == model
    assert (one.size, whole(one)[-200:-192]) == (len(model) + 200, (99).to_bytes(8, "big"))
    assert bytes(view) == before
    assert all(whole(store) == content for store, content in others)


def test_logs_that_share_bytes_move_together() -> None:
    pool, other_pool = ChunkPool(200 * KB), ChunkPool()
    store, model = filled(pool, [300] * 100)
    twin = store.shared(store.size, other_pool)
    prefix = store.shared(3000, other_pool)
    twin.append(b"t" * 100, 7, 0)
    store.append(b"s" * 100, 7, 0)
    keep = filled(pool, [300] * 1000)
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
    assert joined(slices) == b"".join(views) == model


def test_little_is_mapped_at_a_time() -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [MB] * 300)
    for at in range(300):
        view, start = store.view(at * MB)
        assert bytes(view[start : start + 16]) == model[at * MB : at * MB + 16]
    assert sum(chunk.view is not None for chunk in store._chunks) <= 33


class Full(BackingFile):
    """A file on a disk that is full."""

    __slots__ = ()

    def extent(self, size: int) -> object:  # type: ignore[override]
        raise OSError(28, "No space left on device")


def test_without_room_on_the_disk_records_stay_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("odradek.storage.chunks.temporary_file", lambda: Full(os.open(os.devnull, os.O_RDWR)))
    pool = ChunkPool(MB)
    with caplog.at_level(logging.WARNING, "odradek.storage"):
        stores = [filled(pool, [size] * (3 * MB // size)) for size in (200, 30 * KB, 100 * KB, MB)]
    assert all(whole(store) == model for store, model in stores)
    assert "stay in memory" in caplog.text
    assert len(caplog.records) < 10


def test_a_write_that_fails_goes_to_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ChunkPool(0)
    store, model = filled(pool, [100 * KB])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("odradek.storage.backing_file.write_all", full)
        for i in range(3):
            store.append(b"m" * 100 * KB, i, 0)
    store.append(b"n" * 100 * KB, 9, 0)
    assert store.size == 500 * KB
    content = whole(store)
    assert content[: 100 * KB] == model
    assert [content[at * 100 * KB : at * 100 * KB + 8] for at in (1, 2, 3, 4)] == [
        number.to_bytes(8, "big") for number in (0, 1, 2, 9)
    ]


def test_another_thread_reads_what_is_moving() -> None:
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
    """Stores of one small pool, forked, cut and dropped in any order, against plain bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = ChunkPool(600 * KB)
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
            batch = bytes([self.count % 251]) * size
            assert store.append(batch, self.count, 5) == len(model)
            model += self.count.to_bytes(8, "big") + batch[8:12] + (5).to_bytes(4, "big") + batch[16:]
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

    @invariant()
    def sizes_are_told(self) -> None:
        for store, model in self.stores:
            assert store.size == len(model)

    @invariant()
    def memory_is_limited(self) -> None:
        self.pool.make_room(0)
        assert 0 <= self.pool.held <= 600 * KB

    def teardown(self) -> None:
        for parts, expected in self.under_way:
            assert joined(parts) == expected
        for store, model in self.stores:
            assert whole(store) == model


PoolModel.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestPoolModel = PoolModel.TestCase


@pytest.fixture(autouse=True)
def no_file_stays_open() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    gc.collect()
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before


def test_a_temporary_file_is_made_when_it_is_needed() -> None:
    pool = ChunkPool(MB)
    filled(pool, [100] * 100)
    assert pool._disk is None
    assert temporary_file().descriptor >= 0
