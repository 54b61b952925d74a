"""Tiered logs: what is copied, what stops being local, what goes; and logs that are forked, cut or no longer tiered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage import tiering
from odradek.storage.forking import fork
from odradek.storage.memory_backend import MemoryBackend
from odradek.storage.partition_log import PartitionLog
from odradek.storage.tiering import Tier
from tests.storage.logs import NOW, end, make_log, put, records

DAY = 86_400_000


def filled(**config: Any) -> PartitionLog:
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
    log = filled()
    assert offsets(log) == (0, 0, -1)
    assert tiering.copy(log)
    assert offsets(log) == (0, 0, 7)
    assert not tiering.copy(log)
    log.roll(NOW)
    assert tiering.copy(log)
    assert offsets(log) == (0, 0, 11)


def test_nothing_is_copied_behind_an_open_transaction() -> None:
    log = make_log(segment_bytes=300, remote_storage_enable=True)
    put(log)
    put(log, producer=(7, 0, 0), transactional=True)
    for _ in range(8):
        put(log)
    assert len(log.segments) > 2
    assert not tiering.copy(log)
    end(log, 7, 0, commit=True)
    assert tiering.copy(log)
    assert log.tier == Tier(0, log.active.base_offset - 1)


def test_nothing_is_copied_that_is_not_committed() -> None:
    log = filled()
    log.hold_high_watermark(5)
    configure(log)
    log.high_watermark = 5
    assert tiering.copy(log)
    assert offsets(log) == (0, 0, 3)


def test_local_segments_go_only_when_they_are_copied() -> None:
    log = filled(local_retention_bytes=0)
    assert log.apply_retention(NOW) == 0
    tiering.copy(log)
    whole = log.size_bytes
    assert log.apply_retention(NOW) == 2
    assert offsets(log) == (0, 8, 7)
    assert 0 < log.size_bytes < whole
    assert [record.offset for record in records(log)] == list(range(12)), "the tier has them"


def test_the_active_segment_is_rolled_to_be_copied() -> None:
    log = filled(local_retention_ms=1000)
    tiering.copy(log)
    assert log.apply_retention(NOW + DAY) == 2
    assert (offsets(log), log.active.base_offset) == ((0, 8, 7), 12)
    tiering.copy(log)
    assert log.apply_retention(NOW + DAY) == 1
    assert offsets(log) == (0, 12, 11)


def test_local_size_keeps_at_least_the_limit() -> None:
    log = filled()
    tiering.copy(log)
    configure(log, local_retention_bytes=2 * log.segments[0].size)
    assert log.apply_retention(NOW) == 1
    assert offsets(log) == (0, 4, 7)
    assert log.apply_retention(NOW) == 0


def test_the_whole_log_keeps_its_own_limits() -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    configure(log, retention_bytes=2 * log.segments[0].size)
    assert tiering.expire(log, NOW) == 1
    assert offsets(log) == (4, 8, 7)
    configure(log, retention_bytes=-1, retention_ms=60_000)
    assert tiering.expire(log, NOW + 7000 + 59_999) == 0
    assert tiering.expire(log, NOW + 7000 + 60_000) == 1
    assert offsets(log) == (8, 8, 7)


def test_segments_that_are_not_copied_never_expire() -> None:
    log = filled(retention_ms=0, retention_bytes=0)
    assert tiering.expire(log, NOW + DAY) == 0
    assert log.apply_retention(NOW + DAY) == 0
    assert log.log_start_offset == 0


def test_a_full_segment_drops_no_others() -> None:
    log = make_log(segment_bytes=300, remote_storage_enable=True, retention_bytes=1)
    for _ in range(12):
        put(log)
    assert log.log_start_offset == 0


def test_without_copying_the_usual_limits_move_the_start() -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    configure(log, remote_log_copy_disable=True)
    log.roll(NOW)
    assert not tiering.copy(log)
    assert log.apply_retention(NOW) == 0
    configure(log, retention_bytes=0)
    log.apply_retention(NOW)
    assert (log.log_start_offset, log.log_end_offset) == (12, 12)


def test_deleted_records_move_both_starts() -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    log.delete_records(5)
    assert offsets(log) == (5, 8, 7)
    log.delete_records(10)
    assert offsets(log) == (10, 10, 7)


def test_who_stops_tiering_loses_what_is_tiered() -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    configure(log, remote_storage_enable=False)
    assert (log.tier, log.log_start_offset) == (None, 8)
    assert [record.offset for record in records(log)] == list(range(8, 12))
    configure(log, remote_storage_enable=True)
    assert offsets(log) == (8, 8, -1)


def test_a_tier_that_forgets() -> None:
    log = filled(local_retention_bytes=0, retention_bytes=0, remote_storage_keeps=False)
    tiering.copy(log)
    log.apply_retention(NOW)
    assert tiering.expire(log, NOW + DAY) == 0
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
    tiering.copy(log)
    log.apply_retention(NOW)
    found = log.max_timestamp_offset()
    assert found is not None
    assert (found.timestamp, found.offset) == (NOW - 8000, 8)


def test_a_cut_log_is_tiered_no_further_than_it_goes() -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    log.truncate(6, now_ms=NOW)
    assert offsets(log) == (0, 6, 5)


@pytest.mark.parametrize(("at", "told"), [(None, (0, 8, 7)), (6, (0, 6, 5))])
def test_a_fork_is_tiered_like_its_origin(at: int | None, told: tuple[int, int, int]) -> None:
    log = filled(local_retention_bytes=0)
    tiering.copy(log)
    log.apply_retention(NOW)
    assert offsets(fork(log, MemoryBackend(), end_offset=at, now_ms=NOW)) == told
