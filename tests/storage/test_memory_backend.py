"""Chunks in memory: content by model, few views for many batches, bounded memory under retention."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.formats.segment_files import AbortedTxn, IndexEntry, TimeEntry
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import (
    MemoryBackend,
    MemoryBatchStore,
    MemoryOffsetIndex,
    MemoryTimeIndex,
    MemoryTxnIndex,
)
from odradek.storage.partition_log import PartitionLog
from tests.fakes.examples import examples
from tests.storage.chunk_stores import sized
from tests.storage.logs import NOW, make_log


@given(
    st.lists(st.integers(16, 3000) | st.sampled_from([4096, 100_000, 140_000]), min_size=1, max_size=40),
    st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_memory_store_reads_any_range_back(sizes: list[int], data: st.DataObject) -> None:
    store = MemoryBatchStore()
    model = b""
    for i, size in enumerate(sizes):
        batch = sized(bytes([i % 251]) * size)
        assert store.append(batch, i, 7) == len(model)
        model += i.to_bytes(8, "big") + batch[8:12] + (7).to_bytes(4, "big") + batch[16:]
    assert store.size == len(model)
    start = data.draw(st.integers(0, len(model) - 1))
    stop = data.draw(st.integers(start + 1, len(model)))
    assert b"".join(store.read(start, stop - start)) == model[start:stop]
    view, at = store.view(start)
    assert model[start:].startswith(view[at:])
    cut = data.draw(st.integers(0, len(model)))
    before = store.read(0, len(model))
    store.truncate(cut)
    assert store.size == cut
    assert b"".join(before) == model
    store.append(b"x" * 20, 1, 1)
    assert b"".join(store.read(0, store.size))[:cut] == model[:cut]
    assert b"".join(before) == model


def test_many_small_batches_are_few_views() -> None:
    store = MemoryBatchStore()
    for i in range(100_000):
        store.append(bytes(70), i, 0)
    assert len(store.read(0, store.size)) < 20
    assert len(store.read(3_000_000, 1 << 20)) <= 2


def test_memory_store_gives_read_only_views() -> None:
    store = MemoryBatchStore()
    store.append(bytes(100), 0, 0)
    view = store.read(0, 100)[0]
    with pytest.raises(TypeError):
        view[0] = 1


def test_a_sealed_segment_holds_no_unused_memory() -> None:
    tracemalloc.start()
    try:
        stores = [MemoryBatchStore() for _ in range(4)]
        for store in stores:
            for _ in range(11_000):  # the last chunk, of 1 MiB, is hardly used
                store.append(bytes(100), 0, 0)
        view = stores[0].read(stores[0].size - 100, 100)[0]
        before = bytes(view)
        for store in stores:
            store.seal()
        view_after = stores[0].read(stores[0].size - 100, 100)[0]
        assert bytes(view) == bytes(view_after) == before
        del view
        assert tracemalloc.get_traced_memory()[0] < 4 * 1_150_000
        stores[0].append(bytes(100), 7, 0)
        assert bytes(stores[0].read(1_100_000, 100)[0])[:8] == (7).to_bytes(8, "big")
    finally:
        tracemalloc.stop()


def test_an_idle_log_costs_little() -> None:
    config, backend = LogConfig(), MemoryBackend()  # which logs share
    PartitionLog("t", 0, config, backend)
    tracemalloc.start()
    try:
        logs = [PartitionLog("t", index, config, backend) for index in range(100)]
        assert tracemalloc.get_traced_memory()[0] / len(logs) < 5_000
    finally:
        tracemalloc.stop()


def test_the_offset_index_finds_the_position_of_an_offset() -> None:
    index = MemoryOffsetIndex(24)
    assert (index.floor(5), index.floor_position(5)) == (0, 0)
    for offset, position in ((10, 100), (20, 200), (30, 300)):
        assert not index.is_full()
        index.append(offset, position)
    assert index.is_full()
    assert [index.floor(o) for o in (9, 10, 19, 20, 99)] == [0, 100, 100, 200, 300]
    assert [index.floor_position(p) for p in (99, 100, 299, 300)] == [0, 100, 200, 300]
    index.truncate(20)
    assert [tuple(e) for e in index.entries()] == [(10, 100)]


def test_time_index_only_rises() -> None:
    index = MemoryTimeIndex(1000)
    assert index.last() == TimeEntry(-1, -1)
    for timestamp, offset in ((50, 1), (50, 2), (40, 3), (60, 4)):
        index.append(timestamp, offset)
    assert [tuple(e) for e in index.entries()] == [(50, 1), (60, 4)]
    assert [index.floor(t) for t in (49, 50, 59, 60)] == [-1, 1, 1, 4]
    index.truncate(4)
    assert index.last() == TimeEntry(50, 1)


def test_txn_index_truncates_by_marker() -> None:
    index = MemoryTxnIndex()
    entries = [AbortedTxn(1, 0, 5, 6), AbortedTxn(2, 3, 9, 10)]
    for entry in entries:
        index.append(entry)
    index.truncate(9)
    assert list(index.entries()) == entries[:1]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, 1 << 30),
        ({"retention_bytes": 64 << 20}, 8 << 20),
        ({"retention_bytes": 1000}, 1 << 20),
        ({"retention_bytes": 64 << 20, "segment_bytes": 1 << 20}, 1 << 20),
        ({"retention_bytes": 64 << 20, "cleanup_policy": frozenset({"compact"})}, 1 << 30),
    ],
)
def test_segments_shrink_where_a_size_limit_could_not_hold(config: dict[str, object], expected: int) -> None:
    assert MemoryBackend().segment_bytes(LogConfig(**config)) == expected  # type: ignore[arg-type]


def test_memory_stays_near_the_retention_limit() -> None:
    """A sixteenth of the size that the limit is promised for: 64 MiB into a log that keeps 4."""
    log = make_log(retention_bytes=4 << 20)
    data = build_batch([Record(0, NOW, b"k", bytes(900_000))])
    tracemalloc.start()
    try:
        for _ in range((64 << 20) // len(data)):
            log.append(data, now_ms=NOW)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert log.size_bytes >= 4 << 20
    assert log.log_start_offset > 0


def test_a_copy_and_its_original_grow_apart() -> None:
    index = MemoryOffsetIndex(1024)
    index.append(5, 100)
    copy = index.copy_below(1 << 60)
    index.append(9, 200)
    assert copy.entries() == [IndexEntry(5, 100)]
    copy.append(7, 150)
    assert (index.floor(8), copy.floor(8)) == (100, 150)
    assert index.entries() == [IndexEntry(5, 100), IndexEntry(9, 200)]
    assert copy.offset_at_or_after(151) is None


def test_an_original_that_is_cut_leaves_its_copies_alone() -> None:
    index = MemoryTimeIndex(1024)
    for number in range(4):
        index.append(number * 10, number)
    copy = index.copy_below(3)
    index.truncate(1)
    index.append(15, 1)
    assert index.entries() == [TimeEntry(0, 0), TimeEntry(15, 1)]
    assert copy.entries() == [TimeEntry(0, 0), TimeEntry(10, 1), TimeEntry(20, 2)]
    assert copy.last() == TimeEntry(20, 2)


_CHANGES = st.lists(
    st.tuples(st.sampled_from(["append", "truncate", "copy"]), st.integers(0, 3), st.integers(1, 9)), max_size=40
)


@given(_CHANGES)
@settings(max_examples=examples(200), deadline=None)
def test_copies_of_copies_are_like_lists(changes: list[tuple[str, int, int]]) -> None:
    indexes = [MemoryOffsetIndex(1 << 20)]
    models: list[list[IndexEntry]] = [[]]
    for change, which, step in changes:
        which %= len(indexes)
        index, model = indexes[which], models[which]
        last = model[-1] if model else IndexEntry(0, 0)
        if change == "append":
            index.append(last.offset + step, last.position + step)
            model.append(IndexEntry(last.offset + step, last.position + step))
        elif change == "truncate":
            index.truncate(last.offset - step)
            model[:] = [entry for entry in model if entry.offset < last.offset - step]
        else:
            indexes.append(index.copy_below(last.offset - step + 5))
            models.append([entry for entry in model if entry.offset < last.offset - step + 5])
    assert [index.entries() for index in indexes] == models
    for index, model in zip(indexes, models, strict=True):
        assert index.floor(20) == max([entry.position for entry in model if entry.offset <= 20], default=0)
        assert index.offset_at_or_after(10) == next((e.offset for e in model if e.position >= 10), None)
