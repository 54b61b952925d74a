"""What goes at the start of a log: retention, and the remote tier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.forking import fork
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog, Tier
from odradek.storage.trimming import apply_retention, copy_to_tier, expire_tiered
from tests.storage.logs import NOW, end, make_log, put, records

DAY = 86_400_000


def filled(**config: Any) -> PartitionLog:
    log = make_log(segment_bytes=300, **config)
    for i in range(12):
        put(log, at=NOW + i * 1000)
    assert [s.base_offset for s in log.segments] == [0, 4, 8]
    return log


def test_retention_deletes_nothing_without_a_reason() -> None:
    log = filled()
    assert apply_retention(log, NOW + DAY) == 0
    assert apply_retention(log, NOW + 8 * DAY) == 3  # the default of a week


def test_segments_go_by_their_largest_timestamp() -> None:
    log = filled(retention_ms=60_000)
    assert apply_retention(log, NOW + 3_000 + 60_000) == 0
    assert apply_retention(log, NOW + 3_000 + 60_001) == 1
    assert (log.log_start_offset, records(log)[0].offset) == (4, 4)


def test_the_active_segment_goes_by_time_after_a_new_one_began() -> None:
    log = filled(retention_ms=1000)
    assert apply_retention(log, NOW + DAY) == 3
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes, len(log.segments)) == (12, 12, 0, 1)
    assert apply_retention(log, NOW + 2 * DAY) == 0
    assert put(log, at=NOW + DAY).base_offset == 12


def test_size_keeps_at_least_the_limit() -> None:
    log = filled(retention_bytes=-1)
    segment = log.segments[0].size
    log.config = make_log(segment_bytes=300, retention_bytes=segment * 2).config
    assert apply_retention(log, NOW) == 1
    assert log.log_start_offset == 4
    assert apply_retention(log, NOW) == 0


def test_size_never_takes_the_active_segment() -> None:
    log = filled()
    log.config = make_log(segment_bytes=300, retention_bytes=0).config
    apply_retention(log, NOW)
    assert log.log_end_offset == 12
    assert len(log.segments) >= 1


def test_size_is_enforced_when_a_segment_rolls() -> None:
    log = make_log(segment_bytes=300, retention_bytes=600)
    for _ in range(100):
        put(log)
    assert 600 <= log.size_bytes <= 600 + 2 * 300
    assert log.log_start_offset > 80


def test_size_takes_nothing_of_a_log_that_is_only_compacted() -> None:
    log = make_log(cleanup=["compact"], segment_bytes=300, retention_bytes=1)
    for _ in range(12):
        put(log)
    assert (log.log_start_offset, len(log.segments)) == (0, 3)


def test_segments_before_the_log_start_go() -> None:
    log = filled()
    log.delete_records(8)
    assert [s.base_offset for s in log.segments] == [0, 4, 8]
    apply_retention(log, NOW)
    assert [s.base_offset for s in log.segments] == [8]
    log.delete_records(12)
    assert [s.base_offset for s in log.segments] == [8]


def test_a_compacted_log_loses_nothing_to_time() -> None:
    log = make_log(segment_bytes=300, cleanup=["compact"], retention_ms=1)
    for _ in range(12):
        put(log)
    assert apply_retention(log, NOW + DAY) == 0
    log.config = make_log(segment_bytes=300, cleanup=["compact", "delete"], retention_ms=1).config
    assert apply_retention(log, NOW + DAY) == 3


def test_retention_keeps_what_is_not_replicated() -> None:
    log = filled(retention_ms=1)
    log.high_watermark = 5
    assert apply_retention(log, NOW + DAY) == 1
    assert log.log_start_offset == 4


def test_records_without_timestamps_age_from_the_last_write() -> None:
    log = make_log(retention_ms=1000)
    put(log, at=-1, now_ms=NOW)
    assert apply_retention(log, NOW + 1000) == 0
    assert apply_retention(log, NOW + 1001) == 1


def test_aborted_transactions_go_with_their_segment() -> None:
    log = make_log(segment_bytes=300)
    for i in range(10):
        put(log, producer=(1, i, 0), transactional=True)
        end(log, 1, i, commit=False)
    assert len(log.aborted_transactions(0, 20)) == 10
    log.delete_records(10)
    assert log.aborted_transactions(log.log_start_offset, 20) == [(1, i) for i in range(10, 20, 2)]


def tiered(**config: Any) -> PartitionLog:
    """Segments 0 to 3, 4 to 7 and the active one, 8 to 11; a second between two records."""
    log = make_log(segment_bytes=300, remote_storage_enable=True, **config)
    for i in range(12):
        put(log, at=NOW + i * 1000)
    assert [s.base_offset for s in log.segments] == [0, 4, 8]
    return log


def offsets(log: PartitionLog) -> tuple[int, int, int]:
    """Where the log starts, where it starts locally, and the last offset that is tiered."""
    assert log.tier is not None
    return log.log_start_offset, *log.tier


def configure(log: PartitionLog, **config: Any) -> None:
    log.config = replace(log.config, **config)


def test_closed_segments_are_copied() -> None:
    log = tiered()
    assert offsets(log) == (0, 0, -1)
    assert copy_to_tier(log)
    assert offsets(log) == (0, 0, 7)
    assert not copy_to_tier(log)
    log.roll(NOW)
    assert copy_to_tier(log)
    assert offsets(log) == (0, 0, 11)


def test_tiering_copies_nothing_behind_an_open_transaction() -> None:
    log = make_log(segment_bytes=300, remote_storage_enable=True)
    put(log)
    put(log, producer=(7, 0, 0), transactional=True)
    for _ in range(8):
        put(log)
    assert len(log.segments) > 2
    assert not copy_to_tier(log)
    end(log, 7, 0, commit=True)
    assert copy_to_tier(log)
    assert log.tier == Tier(0, log.active.base_offset - 1)


def test_tiering_copies_nothing_that_is_not_committed() -> None:
    log = tiered()
    log.hold_high_watermark(5)
    configure(log)
    log.high_watermark = 5
    assert copy_to_tier(log)
    assert offsets(log) == (0, 0, 3)


def test_local_segments_go_only_when_they_are_copied() -> None:
    log = tiered(local_retention_bytes=0)
    assert apply_retention(log, NOW) == 0
    copy_to_tier(log)
    whole = log.size_bytes
    assert apply_retention(log, NOW) == 2
    assert offsets(log) == (0, 8, 7)
    assert 0 < log.size_bytes < whole
    assert [record.offset for record in records(log)] == list(range(12)), "the tier has them"


def test_the_active_segment_is_rolled_to_be_copied() -> None:
    log = tiered(local_retention_ms=1000)
    copy_to_tier(log)
    assert apply_retention(log, NOW + DAY) == 2
    assert (offsets(log), log.active.base_offset) == ((0, 8, 7), 12)
    copy_to_tier(log)
    assert apply_retention(log, NOW + DAY) == 1
    assert offsets(log) == (0, 12, 11)


def test_local_size_keeps_at_least_the_limit() -> None:
    log = tiered()
    copy_to_tier(log)
    configure(log, local_retention_bytes=2 * log.segments[0].size)
    assert apply_retention(log, NOW) == 1
    assert offsets(log) == (0, 4, 7)
    assert apply_retention(log, NOW) == 0


def test_the_whole_log_keeps_its_own_limits() -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    configure(log, retention_bytes=2 * log.segments[0].size)
    assert expire_tiered(log, NOW) == 1
    assert offsets(log) == (4, 8, 7)
    configure(log, retention_bytes=-1, retention_ms=60_000)
    assert expire_tiered(log, NOW + 7000 + 59_999) == 0
    assert expire_tiered(log, NOW + 7000 + 60_000) == 1
    assert offsets(log) == (8, 8, 7)


@pytest.mark.parametrize(
    ("left", "dropped"), [(0, 2), (1, 2), (4, 2), (5, 1), (8, 1), (9, 0)], ids=lambda batches: f"{batches}"
)
def test_a_tiered_log_keeps_so_many_bytes_at_least(left: int, dropped: int) -> None:
    """Of three segments with four batches each; the last one is active."""
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    configure(log, retention_bytes=left * log.segments[0].size // 4)
    assert expire_tiered(log, NOW) == dropped


def test_segments_that_are_not_copied_never_expire() -> None:
    log = tiered(retention_ms=0, retention_bytes=0)
    assert expire_tiered(log, NOW + DAY) == 0
    assert apply_retention(log, NOW + DAY) == 0
    assert log.log_start_offset == 0


def test_a_full_segment_drops_no_others() -> None:
    log = make_log(segment_bytes=300, remote_storage_enable=True, retention_bytes=1)
    for _ in range(12):
        put(log)
    assert log.log_start_offset == 0


def test_without_copying_the_usual_limits_move_the_start() -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    configure(log, remote_log_copy_disable=True)
    log.roll(NOW)
    assert not copy_to_tier(log)
    assert apply_retention(log, NOW) == 0
    configure(log, retention_bytes=0)
    apply_retention(log, NOW)
    assert (log.log_start_offset, log.log_end_offset) == (12, 12)


def test_deleted_records_move_both_starts() -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    log.delete_records(5)
    assert offsets(log) == (5, 8, 7)
    log.delete_records(10)
    assert offsets(log) == (10, 10, 7)


def test_tiering_that_stops_loses_what_was_tiered() -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    configure(log, remote_storage_enable=False)
    assert (log.tier, log.log_start_offset) == (None, 8)
    assert [record.offset for record in records(log)] == list(range(8, 12))
    configure(log, remote_storage_enable=True)
    assert offsets(log) == (8, 8, -1)


def test_log_with_a_tier_that_forgets_answers_from_its_records() -> None:
    log = tiered(local_retention_bytes=0, retention_bytes=0, remote_storage_keeps=False)
    copy_to_tier(log)
    apply_retention(log, NOW)
    assert expire_tiered(log, NOW + DAY) == 0
    assert offsets(log) == (0, 8, 7)
    with pytest.raises(KafkaError) as refused:
        log.read(7, max_bytes=1000, up_to_offset=12)
    assert refused.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(8, max_bytes=1000, up_to_offset=12).size_bytes
    found = log.offset_for_timestamp(NOW)
    assert found is not None
    assert found.offset == 8


def test_the_largest_timestamp_is_that_of_local_segments() -> None:
    log = make_log(segment_bytes=300, remote_storage_enable=True, local_retention_bytes=0)
    for i in range(12):
        put(log, at=NOW - i * 1000)
    copy_to_tier(log)
    apply_retention(log, NOW)
    found = log.max_timestamp_offset()
    assert found is not None
    assert (found.timestamp, found.offset) == (NOW - 8000, 8)


def test_a_cut_log_is_tiered_no_further_than_it_goes() -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    log.truncate(6, now_ms=NOW)
    assert offsets(log) == (0, 6, 5)


@pytest.mark.parametrize(("at", "told"), [(None, (0, 8, 7)), (6, (0, 6, 5))])
def test_a_fork_is_tiered_like_its_origin(at: int | None, told: tuple[int, int, int]) -> None:
    log = tiered(local_retention_bytes=0)
    copy_to_tier(log)
    apply_retention(log, NOW)
    assert offsets(fork(log, MemoryBackend(), end_offset=at, now_ms=NOW)) == told
