"""Housekeeping: what the configs say happens when the clock says so, and only to partitions with data."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from odradek.broker.metadata.image import ResourceType
from odradek.broker.partitions.partition import Partition
from odradek.storage import trimming
from odradek.storage.partition_log import PartitionLog
from odradek.storage.trimming import apply_retention
from tests.fakes.configs import set_configs
from tests.fakes.data_plane import DataPlane, offsets_of, partitions_of

HOUR_MS = 3_600_000


@pytest.fixture
async def plane() -> AsyncIterator[DataPlane]:
    plane = DataPlane(frozen=False)
    async with plane.cluster.run():
        yield plane


async def settle(plane: DataPlane, **step: float) -> None:
    """Move the clock and let the tasks act."""
    plane.cluster.clock.advance(**step)
    await wait_all_tasks_blocked()


def first(plane: DataPlane, topic: str) -> Partition:
    return plane.cluster.topics.get(topic).partitions[0]  # type: ignore[union-attr]


def watched(plane: DataPlane) -> list[Partition]:
    """The partitions that are looked after."""
    return list(dict.fromkeys(each for round_ in plane.cluster.maintenance._rounds for each in round_.members))


@pytest.mark.trio
async def test_old_records_go_when_the_clock_moves(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("t", retention_ms=str(HOUR_MS))
    plane.produce("t", 3)
    await settle(plane, minutes=59)
    assert first(plane, "t").log.log_start_offset == 0
    await settle(plane, hours=1)
    assert (first(plane, "t").log.log_start_offset, first(plane, "t").log.log_end_offset) == (3, 3)


@pytest.mark.trio
async def test_retention_is_checked_after_its_interval_and_not_before(autojump_clock: MockClock) -> None:
    plane = DataPlane(frozen=False, config={"log.retention.check.interval.ms": "60000"})
    async with plane.cluster.run():
        plane.cluster.clock.freeze()
        for name in ("t", "u"):
            plane.topic(name, retention_ms="1000")
        plane.produce("t", 3)
        await settle(plane, seconds=30)
        plane.produce("u", 1)
        await settle(plane, seconds=29.999)
        assert (first(plane, "t").log.log_start_offset, plane.cluster.maintenance.last_rounds()[2]) == (0, 0)
        await settle(plane, seconds=0.001)
        assert [first(plane, name).log.log_start_offset for name in ("t", "u")] == [3, 1]
        assert watched(plane) == []
        rounds = plane.cluster.maintenance.last_rounds()
        assert rounds[1] == plane.cluster.clock.now_ms()
        plane.produce("t", 1)
        await settle(plane, seconds=50)
        plane.cluster.maintenance.go_on_from([each - 10_000 for each in plane.cluster.maintenance.last_rounds()])
        await settle(plane, seconds=0)
        assert first(plane, "t").log.log_start_offset == 4
        plane.cluster.clock.resume()


@pytest.mark.trio
async def test_a_changed_retention_is_obeyed_at_the_next_check(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("t")
    plane.produce("t", 3)
    await settle(plane, hours=2)
    assert first(plane, "t").log.log_start_offset == 0
    set_configs(plane.cluster, ResourceType.TOPIC, "t", {"retention.ms": str(HOUR_MS)})
    await settle(plane, minutes=6)
    assert first(plane, "t").log.log_start_offset == 3


@pytest.mark.trio
async def test_a_compacted_topic_keeps_the_last_value_of_a_key(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("t", cleanup_policy="compact", segment_ms="60000", min_cleanable_dirty_ratio="0.01")
    for key in (b"x", b"y", b"x", b"x"):
        plane.produce("t", plane.batch(key=key))
        await settle(plane, minutes=2)
    data = partitions_of(plane.fetch({"t": 0}))[0]
    # The last batch lies in the active segment, which is never compacted and does not count.
    assert offsets_of(data) == [1, 2]
    assert first(plane, "t").log.log_end_offset == 4


@pytest.mark.trio
async def test_idle_producers_are_forgotten(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("t", retention_ms="-1")
    plane.produce("t", plane.batch(producer_id=5, producer_epoch=0, base_sequence=0))
    assert len(first(plane, "t").log.producers) == 1
    await settle(plane, hours=23)
    assert len(first(plane, "t").log.producers) == 1
    await settle(plane, hours=2)
    assert list(first(plane, "t").log.producers) == []


@pytest.mark.trio
async def test_only_partitions_with_data_are_watched(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("idle", 100)
    plane.topic("t", retention_ms=str(HOUR_MS))
    plane.topic("gone", retention_ms="-1")
    assert watched(plane) == []
    plane.produce("t", 1)
    plane.produce("t", 1)
    plane.produce("gone", 1)
    assert watched(plane) == [first(plane, "t"), first(plane, "gone")]
    plane.cluster.delete_topic("gone")
    await settle(plane, hours=2)
    assert watched(plane) == [], "empty again"
    plane.produce("t", 1)
    assert watched(plane) == [first(plane, "t")]


@pytest.mark.trio
async def test_a_failure_is_a_bug_of_the_cluster_and_stops_no_other(
    plane: DataPlane, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        plane.topic(name, retention_ms=str(HOUR_MS))
        plane.produce(name, 1)
    broken = first(plane, "bad").log

    def chosen(log: PartitionLog, now_ms: int) -> int:
        if log is broken:
            raise RuntimeError("the disk is gone")
        return apply_retention(log, now_ms)

    monkeypatch.setattr(trimming, "apply_retention", chosen)
    await settle(plane, hours=2)
    assert first(plane, "good").log.log_start_offset == 1
    assert [bug.where for bug in plane.cluster.bug_log.bugs] == ["retention of bad-0"]
    await settle(plane, hours=2)
    plane.produce("good", 1)
    await settle(plane, hours=2)
    assert first(plane, "good").log.log_start_offset == 2, "the task lives on"


@pytest.mark.trio
async def test_a_long_jump_runs_each_kind_of_work_once(
    plane: DataPlane, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.topic("t", retention_ms="-1")
    plane.produce("t", 1)
    calls: list[int] = []
    monkeypatch.setattr(trimming, "apply_retention", lambda log, now_ms: calls.append(now_ms))
    await settle(plane, days=30)
    assert len(calls) == 1


@pytest.mark.trio
async def test_nothing_wakes_the_task_while_nothing_is_watched(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("idle")
    before = trio.lowlevel.current_statistics().seconds_to_next_deadline
    await settle(plane, hours=100)
    assert trio.lowlevel.current_statistics().seconds_to_next_deadline in (before, float("inf"))


@pytest.mark.trio
@pytest.mark.parametrize(("enabled", "left"), [("true", 2), ("false", 4)])
async def test_the_cleaner_can_be_switched_off(enabled: str, left: int, autojump_clock: MockClock) -> None:
    plane = DataPlane(frozen=False, config={"log.cleaner.enable": enabled})
    async with plane.cluster.run():
        plane.topic("t", cleanup_policy="compact", segment_ms="60000", min_cleanable_dirty_ratio="0.01")
        for _ in range(4):
            plane.produce("t", plane.batch(key=b"x"))
            await settle(plane, minutes=2)
        log = first(plane, "t").log
        batches = [batch for segment in log.segments for _, batch in segment.iter_batches()]
        assert sum(len(list(batch.records())) for batch in batches) == left


@pytest.mark.trio
async def test_segment_bytes_and_retention_bytes_bound_the_log(plane: DataPlane, autojump_clock: MockClock) -> None:
    plane.topic("t", retention_bytes=str(2 << 20), segment_bytes=str(1 << 20))
    for _ in range(100):
        plane.produce("t", plane.batch(size=100_000))
    assert first(plane, "t").log.size_bytes <= 4 << 20, "as soon as a segment is full, not later"


TIERED = {
    "remote.log.storage.system.enable": "true",
    "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
}


@pytest.mark.trio
async def test_closed_segments_are_tiered_and_stop_being_local(autojump_clock: MockClock) -> None:
    plane = DataPlane(frozen=False, config=TIERED)
    async with plane.cluster.run():
        plane.topic("t", remote_storage_enable="true", internal_segment_bytes="100", local_retention_bytes="1")
        for _ in range(3):
            plane.produce("t", plane.batch())
        log = first(plane, "t").log
        assert len(log.segments) == 3
        await settle(plane, seconds=29)
        assert log.tier == (0, -1)
        await settle(plane, seconds=2)
        assert log.tier == (0, 1)
        await settle(plane, minutes=5)
        assert log.tier == (2, 1)
        assert offsets_of(partitions_of(plane.fetch({"t": 0}))[0]) == [0]
        set_configs(
            plane.cluster, ResourceType.TOPIC, "t", {"retention.ms": str(HOUR_MS), "remote.storage.enable": "true"}
        )
        await settle(plane, hours=2)
        assert log.log_start_offset >= 2
