"""Retention: whole segments, oldest first, by time, by size and by the log start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.log_config import LogConfig
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog
from tests.fakes.examples import examples
from tests.storage.cut_model import CutModel
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


# -- A log whose end is cut off: nothing of it is left, in the batches, the indexes or what is known of producers.


def _offsets(log: PartitionLog) -> list[int]:
    return [record.offset for record in records(log)]


def test_a_cut_takes_the_batches_behind_it() -> None:
    log = make_log()
    for _ in range(5):
        put(log, (b"k", b"1"), (b"k", b"2"))
    log.truncate(4, now_ms=NOW)
    assert (log.log_end_offset, log.high_watermark, _offsets(log)) == (4, 4, [0, 1, 2, 3])
    assert put(log).base_offset == 4


def test_a_cut_within_a_batch_takes_the_whole_batch_and_leaves_a_gap() -> None:
    log = make_log()
    put(log)
    put(log, (b"k", b"1"), (b"k", b"2"), (b"k", b"3"))
    log.truncate(2, now_ms=NOW)
    assert (log.log_end_offset, _offsets(log)) == (2, [0])
    assert put(log).base_offset == 2
    assert _offsets(log) == [0, 2]


def test_a_cut_at_the_end_or_behind_it_changes_nothing() -> None:
    log = make_log()
    put(log)
    log.truncate(1, now_ms=NOW)
    log.truncate(9, now_ms=NOW)
    assert (log.log_end_offset, _offsets(log)) == (1, [0])


def test_a_cut_before_the_start_leaves_an_empty_log_that_begins_there() -> None:
    log = make_log(segment_bytes=100)
    for _ in range(4):
        put(log)
    log.delete_records(3)
    log.truncate(1, now_ms=NOW)
    assert (log.log_start_offset, log.log_end_offset, _offsets(log)) == (1, 1, [])
    assert put(log).base_offset == 1


def test_segments_behind_the_cut_are_dropped() -> None:
    log = make_log(segment_bytes=100)
    for _ in range(4):
        put(log)
    assert len(log.segments) == 4
    log.truncate(2, now_ms=NOW)
    assert [segment.base_offset for segment in log.segments] == [0, 1]
    put(log, (b"k", b"new"))
    assert [(record.offset, record.value) for record in records(log)][-1] == (2, b"new")


def test_producers_are_known_as_far_as_the_log_goes() -> None:
    log = make_log()
    put(log, producer=(7, 0, 0))
    put(log, producer=(7, 0, 1))
    log.truncate(1, now_ms=NOW)
    with pytest.raises(KafkaError) as refused:
        put(log, producer=(7, 0, 2))
    assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert put(log, producer=(7, 0, 1)).base_offset == 1


def test_a_transaction_whose_marker_is_cut_off_is_open_again() -> None:
    log = make_log()
    put(log, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=False)
    assert log.last_stable_offset == 2
    log.truncate(1, now_ms=NOW)
    assert log.last_stable_offset == 0
    assert log.aborted_transactions(0, 2) == []
    end(log, 7, 0, commit=True)
    assert log.last_stable_offset == 2


def test_leader_epochs_behind_the_cut_are_forgotten() -> None:
    log = make_log()
    put(log, epoch=1)
    put(log, epoch=2)
    put(log, epoch=3)
    log.truncate(2, now_ms=NOW)
    assert log.leader_epochs.entries() == [(1, 0), (2, 1)]


def test_times_of_what_was_cut_off_are_not_found() -> None:
    log = make_log(index_interval_bytes=0)
    for number in range(3):
        put(log, at=NOW + number)
    log.truncate(2, now_ms=NOW)
    assert log.offset_for_timestamp(NOW + 2) is None
    found = log.max_timestamp_offset()
    assert found is not None
    assert (found.offset, found.timestamp) == (1, NOW + 1)


def test_a_view_that_was_read_before_keeps_its_bytes() -> None:
    log = make_log()
    put(log, (b"k", b"old"))
    read = log.read(0, max_bytes=1000, up_to_offset=1)
    before = bytes(read.parts[0])
    log.truncate(0, now_ms=NOW)
    put(log, (b"k", b"new"))
    assert bytes(read.parts[0]) == before


def test_the_high_watermark_waits_where_it_is_held() -> None:
    log = make_log()
    put(log)
    log.hold_high_watermark(1)
    put(log, producer=(7, 0, 0), transactional=True)
    end(log, 7, 0, commit=True)
    assert (log.high_watermark, log.last_stable_offset, log.log_end_offset) == (1, 1, 3)
    assert log.advance_high_watermark(2)
    assert (log.high_watermark, log.last_stable_offset) == (2, 1), "the transaction's marker is not committed yet"
    assert not log.advance_high_watermark(2)
    assert log.advance_high_watermark(9)
    assert (log.high_watermark, log.last_stable_offset) == (3, 3)
    put(log)
    log.release_high_watermark()
    assert log.high_watermark == 4
    put(log)
    assert log.high_watermark == 5


def test_a_log_in_memory_is_cut_by_its_own_config() -> None:
    log = PartitionLog("t", 0, LogConfig(segment_bytes=150, index_interval_bytes=0), MemoryBackend(), now_ms=NOW)
    for number in range(6):
        put(log, (b"k", bytes([number])))
    log.truncate(3, now_ms=NOW)
    for number in range(3, 8):
        put(log, (b"k", bytes([number])))
    assert [record.value for record in records(log)] == [bytes([number]) for number in range(8)]


TestCutModel = CutModel.TestCase
TestCutModel.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
