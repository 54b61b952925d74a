"""A segment's look-ups against its batches, and what it knows after loading."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.storage.segment import Segment
from tests.fakes.examples import examples
from tests.storage.logs import NOW, make_log, put

sizes = st.lists(st.integers(0, 300), min_size=1, max_size=40)


@given(sizes, st.sampled_from([0, 100, 1000, 4096]), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_segment_finds_positions_and_ends_of_batches(lengths: list[int], interval: int, data: st.DataObject) -> None:
    log = make_log(index_interval_bytes=interval)
    for i, length in enumerate(lengths):
        put(log, *[(b"k", bytes(length))] * (1 + i % 3))
    segment = log.active
    found = list(segment.iter_batches())
    starts = [position for position, _ in found]
    offset = data.draw(st.integers(0, log.log_end_offset))
    expected = next((p for p, b in found if b.last_offset >= offset), None)
    assert segment.position_of(offset) == expected
    start = data.draw(st.sampled_from(starts))
    limit = start + data.draw(st.integers(0, segment.size))
    assert segment.boundary_before(start, limit) == max(p for p in [*starts, segment.size] if start <= p <= limit)
    size = segment.batch_size(start)
    assert segment.boundary_before(start, limit, min_one=True) == max(
        segment.boundary_before(start, limit), start + size
    )
    assert size == segment.batch_at(start).size_bytes
    assert segment.end_of_batch(start) == (start + size, segment.batch_at(start).next_offset)


@given(sizes, st.sampled_from([0, 100, 4096]))
@settings(max_examples=examples(30), deadline=None)
def test_a_loaded_segment_knows_what_the_written_one_knew(lengths: list[int], interval: int) -> None:
    log = make_log(index_interval_bytes=interval)
    for i, length in enumerate(lengths):
        put(log, (b"k", bytes(length)), at=NOW + (i * 37) % 101)
    written = log.active
    loaded = Segment(written.stores, NOW)
    loaded.restore(None, NOW)
    assert loaded.next_offset == written.next_offset
    assert (loaded.max_timestamp, loaded.max_timestamp_offset) == (written.max_timestamp, written.max_timestamp_offset)
    assert loaded.first_timestamp == written.first_timestamp


def test_batches_of_a_segment_have_their_positions_from_wherever_one_begins() -> None:
    """The bytes lie in several pieces of memory."""
    log = make_log()
    for _ in range(40):
        put(log, (b"k", bytes(30_000)))
    segment = log.active
    found = [(position, batch.base_offset) for position, batch in segment.iter_batches()]
    size = segment.batch_size(0)
    assert found == [(number * size, number) for number in range(40)]
    for number in (1, 17, 39):
        assert [position for position, _ in segment.iter_batches(number * size)] == [p for p, _ in found[number:]]


def test_index_entries_hold_a_batchs_last_offset_and_position() -> None:
    log = make_log(index_interval_bytes=150)
    for i in range(10):
        put(log, (b"a", b""), (b"b", b""), at=NOW + i)
    size = log.active.batch_size(0)
    every = 150 // size + 1
    assert [tuple(e) for e in log.active.stores.offset_index.entries()] == [
        (2 * i + 1, i * size) for i in range(every, 10, every)
    ]
    assert [tuple(e) for e in log.active.stores.time_index.entries()] == [
        (NOW + i, 2 * i + 1) for i in range(every, 10, every)
    ]
