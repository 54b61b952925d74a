"""Retention: whole segments, oldest first, by time, by size and by the log start."""

from __future__ import annotations

from typing import Any

from odradek.storage.partition_log import PartitionLog
from tests.storage.logs import NOW, end, make_log, put, records

DAY = 86_400_000


def filled(**config: Any) -> PartitionLog:
    log = make_log(segment_bytes=300, **config)
    for i in range(12):
        put(log, at=NOW + i * 1000)
    assert [s.base_offset for s in log.segments] == [0, 4, 8]
    return log


def test_nothing_goes_without_a_reason() -> None:
    log = filled()
    assert log.apply_retention(NOW + DAY) == 0
    assert log.apply_retention(NOW + 8 * DAY) == 3  # the default of a week


def test_segments_go_by_their_largest_timestamp() -> None:
    log = filled(retention_ms=60_000)
    assert log.apply_retention(NOW + 3_000 + 60_000) == 0
    assert log.apply_retention(NOW + 3_000 + 60_001) == 1
    assert (log.log_start_offset, records(log)[0].offset) == (4, 4)


def test_the_active_segment_goes_by_time_after_a_new_one_began() -> None:
    log = filled(retention_ms=1000)
    assert log.apply_retention(NOW + DAY) == 3
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes, len(log.segments)) == (12, 12, 0, 1)
    assert log.apply_retention(NOW + 2 * DAY) == 0
    assert put(log, at=NOW + DAY).base_offset == 12


def test_size_keeps_at_least_the_limit() -> None:
    log = filled(retention_bytes=-1)
    segment = log.segments[0].size
    log.config = make_log(segment_bytes=300, retention_bytes=segment * 2).config
    assert log.apply_retention(NOW) == 1
    assert log.log_start_offset == 4
    assert log.apply_retention(NOW) == 0


def test_size_never_takes_the_active_segment() -> None:
    log = filled()
    log.config = make_log(segment_bytes=300, retention_bytes=0).config
    log.apply_retention(NOW)
    assert log.log_end_offset == 12
    assert len(log.segments) >= 1


def test_size_is_enforced_when_a_segment_rolls() -> None:
    log = make_log(segment_bytes=300, retention_bytes=600)
    for _ in range(100):
        put(log)
    assert 600 <= log.size_bytes <= 600 + 2 * 300
    assert log.log_start_offset > 80


def test_segments_before_the_log_start_go() -> None:
    log = filled()
    log.delete_records(8)
    assert [s.base_offset for s in log.segments] == [0, 4, 8]
    log.apply_retention(NOW)
    assert [s.base_offset for s in log.segments] == [8]
    log.delete_records(12)
    assert [s.base_offset for s in log.segments] == [8]


def test_a_compacted_log_loses_nothing_to_time() -> None:
    log = make_log(segment_bytes=300, cleanup=["compact"], retention_ms=1)
    for _ in range(12):
        put(log)
    assert log.apply_retention(NOW + DAY) == 0
    log.config = make_log(segment_bytes=300, cleanup=["compact", "delete"], retention_ms=1).config
    assert log.apply_retention(NOW + DAY) == 3


def test_what_is_not_replicated_stays() -> None:
    log = filled(retention_ms=1)
    log.high_watermark = 5
    assert log.apply_retention(NOW + DAY) == 1
    assert log.log_start_offset == 4


def test_records_without_timestamps_age_from_the_last_write() -> None:
    log = make_log(retention_ms=1000)
    put(log, at=-1, now_ms=NOW)
    assert log.apply_retention(NOW + 1000) == 0
    assert log.apply_retention(NOW + 1001) == 1


def test_aborted_transactions_go_with_their_segment() -> None:
    log = make_log(segment_bytes=300)
    for i in range(10):
        put(log, producer=(1, i, 0), transactional=True)
        end(log, 1, i, commit=False)
    assert len(log.aborted_transactions(0, 20)) == 10
    log.delete_records(10)
    assert log.aborted_transactions(log.log_start_offset, 20) == [(1, i) for i in range(10, 20, 2)]
