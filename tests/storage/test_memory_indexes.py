"""Indexes in memory, and copies that share their arrays."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.storage.formats.segment_files import IndexEntry, TimeEntry
from odradek.storage.memory_indexes import MemoryOffsetIndex, MemoryTimeIndex
from tests.fakes.examples import examples


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
