"""Offsets by time."""

from __future__ import annotations

import pytest

from odradek.protocol.record_batch import Codec, Record, TimestampType, build_batch
from tests.storage.logs import NOW, make_log, put


def test_the_first_record_from_a_time_on() -> None:
    log = make_log(segment_bytes=400, index_interval_bytes=100)
    for i in range(30):
        put(log, at=NOW + 10 * i, epoch=i // 10)
    for i in range(30):
        for timestamp in (NOW + 10 * i - 9, NOW + 10 * i):
            assert log.offset_for_timestamp(timestamp) == (NOW + 10 * i, i, i // 10)
    assert log.offset_for_timestamp(NOW + 291) is None
    log.delete_records(7)
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


def test_nothing_to_find() -> None:
    log = make_log()
    assert log.offset_for_timestamp(0) is None
    assert log.max_timestamp_offset() is None
    put(log, at=-1, now_ms=NOW)
    assert log.max_timestamp_offset() is None
