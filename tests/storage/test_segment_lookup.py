"""Offsets by time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.errors import CorruptDataError, ErrorCode, KafkaError
from odradek.protocol.long_work import MOST_EFFORT, LongWork
from odradek.protocol.record_batch import Codec, Record, TimestampType, build_batch, iter_batches
from odradek.storage.partition_log import PartitionLog
from odradek.storage.segment_lookup import LargeLook, Looks, TimestampOffset, aborted_between
from odradek.storage.trimming import apply_retention
from tests.fakes.examples import examples
from tests.storage.logs import NOW, end, make_log, put


def test_the_first_record_from_a_time_on() -> None:
    log = make_log(segment_bytes=400, index_interval_bytes=100)
    for i in range(30):
        put(log, at=NOW + 10 * i, epoch=i // 10)
    for i in range(30):
        for timestamp in (NOW + 10 * i - 9, NOW + 10 * i):
            assert log.offset_for_timestamp(timestamp) == (NOW + 10 * i, i, i // 10)
    assert log.offset_for_timestamp(NOW + 291) is None
    log.delete_records(7)
    assert log.offset_for_timestamp(0) is None  # the first segment reaches that time, and none of it is left
    apply_retention(log, NOW)
    assert log.offset_for_timestamp(0) == (NOW + 70, 7, 0)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_a_record_within_a_batch(codec: Codec) -> None:
    log = make_log()
    times = [NOW + 5, NOW + 1, NOW + 9, NOW + 3]
    log.append(build_batch([Record(0, t, b"k", b"v") for t in times], codec=codec), now_ms=NOW)
    assert log.offset_for_timestamp(NOW + 2) == (NOW + 5, 0, 0)
    assert log.offset_for_timestamp(NOW + 6) == (NOW + 9, 2, 0)
    assert log.max_timestamp_offset() == (NOW + 9, 2, 0)


def test_times_out_of_order_over_segments() -> None:
    log = make_log(segment_bytes=200, index_interval_bytes=0)
    for t in (50, 90, 10, 70, 95, 20, 95, 60):
        put(log, at=NOW + t)
    assert log.offset_for_timestamp(NOW + 60) == (NOW + 90, 1, 0)
    assert log.offset_for_timestamp(NOW + 91) == (NOW + 95, 4, 0)
    assert log.max_timestamp_offset() == (NOW + 95, 4, 0)


def test_log_append_time_counts_for_the_whole_batch() -> None:
    log = make_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    put(log, (b"a", b""), (b"b", b""), at=5, now_ms=NOW)
    assert log.offset_for_timestamp(NOW) == (NOW, 0, 0)
    assert log.max_timestamp_offset() == (NOW, 0, 0)


def test_the_lookup_of_a_segment_may_find_nothing() -> None:
    log = make_log()
    assert log.offset_for_timestamp(0) is None
    assert log.max_timestamp_offset() is None


def test_the_largest_timestamp_where_no_record_has_one() -> None:
    log = make_log()
    put(log, at=-1, now_ms=NOW)
    assert log.max_timestamp_offset() == (-1, 0, 0)


# -- Look-ups that would stop other clients.


def large(*times: int, codec: Codec = Codec.NONE) -> bytes:
    """A batch that is long work: behind a large record there are small ones with these times."""
    rows = [Record(0, NOW, None, bytes(MOST_EFFORT << 6))]
    return build_batch([*rows, *(Record(0, NOW + time, None, None) for time in times)], codec=codec)


def found(log: PartitionLog, looks: Looks, timestamp: int) -> tuple[int, TimestampOffset | None]:
    """What a look-up finds, and how many large batches it had to leave to others before."""
    times = 0
    while True:
        try:
            return times, log.offset_for_timestamp(timestamp, looks)
        except LargeLook as look:
            look.found(look.run(LongWork()))
            times += 1


def test_large_batches_are_looked_into_elsewhere_and_once() -> None:
    log = make_log(max_message_bytes=1 << 22)
    log.append(large(5, 9), now_ms=NOW)
    put(log, at=NOW + 20)
    looks = Looks()
    assert found(log, looks, NOW + 6) == (1, (NOW + 9, 2, 0))
    assert found(log, looks, NOW + 6) == (0, (NOW + 9, 2, 0))
    assert found(log, looks, NOW + 5) == (1, (NOW + 5, 1, 0))
    assert found(log, looks, NOW + 10) == (0, (NOW + 20, 3, 0))
    assert log.offset_for_timestamp(NOW + 6) == (NOW + 9, 2, 0)
    with pytest.raises(LargeLook) as large_look:
        log.offset_for_timestamp(NOW + 6, Looks())
    assert large_look.value.base_offset == 0


def test_a_request_looks_into_so_many_small_batches_itself() -> None:
    log = make_log()
    batch = build_batch([Record(0, NOW + 9 * (number % 2), None, None) for number in range(MOST_EFFORT // 3)])
    log.append(batch, now_ms=NOW)
    looks = Looks()
    asked = [found(log, looks, NOW + time)[0] for time in range(1, 5)]
    assert asked[0] == 0
    assert sum(asked) >= 1


def test_records_that_cannot_be_read_elsewhere_are_the_requests_error() -> None:
    log = make_log(max_message_bytes=1 << 22)
    log.append(large(5, codec=Codec.GZIP), now_ms=NOW)
    looks = Looks()
    with pytest.raises(LargeLook) as look:
        log.offset_for_timestamp(NOW + 1, looks)
    look.value.found(CorruptDataError("torn"))
    with pytest.raises(KafkaError, match="torn") as error:
        log.offset_for_timestamp(NOW + 1, looks)
    assert error.value.code is ErrorCode.CORRUPT_MESSAGE
    assert error.value.__class__ is KafkaError


def test_the_largest_timestamp_of_a_large_batch_is_looked_for_elsewhere() -> None:
    log = make_log(max_message_bytes=1 << 22)
    log.append(large(7, 3), now_ms=NOW)
    looks = Looks()
    with pytest.raises(LargeLook) as look:
        log.max_timestamp_offset(looks)
    look.value.found(look.value.run(LongWork()))
    assert log.max_timestamp_offset(looks) == (NOW + 7, 1, 0)


steps = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["data", "commit", "abort", "plain"])), max_size=60)


@given(steps, st.data())
@settings(max_examples=examples(80), deadline=None)
def test_a_reader_learns_of_all_that_concerns_it(script: list[tuple[int, str]], data: st.DataObject) -> None:
    log = make_log(segment_bytes=400)
    sequences = dict.fromkeys(range(1, 5), 0)
    first: dict[int, int] = {}
    aborted: list[tuple[int, int, int]] = []
    for producer, step in script:
        if step == "plain":
            put(log)
        elif step == "data":
            first.setdefault(producer, log.log_end_offset)
            put(log, producer=(producer, 0, sequences[producer]), transactional=True)
            sequences[producer] += 1
        else:
            begun = first.pop(producer, None)
            marker = end(log, producer, 0, commit=step == "commit").base_offset
            if begun is not None and step == "abort":
                aborted.append((producer, begun, marker))
    low = data.draw(st.integers(0, log.log_end_offset))
    high = data.draw(st.integers(low, log.log_end_offset))
    must = {(p, f) for p, f, marker in aborted if f < high and marker >= low}
    if high > log.last_stable_offset:
        return  # no reader of committed data asks beyond the stable offset
    assert set(log.aborted_transactions(low, high)) == must
    assert set(aborted_between(log.segments, 0, low, high)) == must
    read = log.read(low, max_bytes=150, up_to_offset=high)
    read_to = max((b.next_offset for b in iter_batches(read.parts)), default=low)
    concerned = {(p, f) for p, f, marker in aborted if f < read_to and marker >= low}
    assert concerned <= set(log.aborted_in_read(low, read.size_bytes))
