"""Partitions: appends wake readers, leadership, the end of a partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from odradek.broker.metadata.image import PartitionRegistration
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.waiters import Waiter
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.backend import StorageError
from odradek.storage.broken_log import FULL, Breakage, break_log, mend_log
from tests.fakes.data_plane import START_MS, DataPlane


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane(nodes=3)


@pytest.fixture
def partition(plane: DataPlane) -> Partition:
    topic = plane.cluster.create_topic("a", assignments={0: [1, 2, 3]}, configs={"min.insync.replicas": "2"})
    return topic.partitions[0]


def refusal(call: Callable[[], object]) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        call()
    return caught.value.code


def test_an_append_counts_towards_what_readers_wait_for(plane: DataPlane, partition: Partition) -> None:
    batch = plane.batch()
    waiter = Waiter(2 * len(batch))
    partition.waiters.add(waiter)
    partition.append(batch, now_ms=START_MS)
    assert not waiter.woken
    partition.append(batch, now_ms=START_MS)
    assert waiter.woken


def test_append_of_a_duplicate_wakes_nobody(plane: DataPlane, partition: Partition) -> None:
    batch = plane.batch(producer_id=1, producer_epoch=0, base_sequence=0)
    partition.append(batch, now_ms=START_MS)
    waiter = Waiter(1)
    partition.waiters.add(waiter)
    assert partition.append(batch, now_ms=START_MS).duplicate
    assert not waiter.woken


def test_the_first_append_is_reported_once(plane: DataPlane, partition: Partition) -> None:
    seen: list[Partition] = []
    plane.cluster.topics.on_activity = seen.append
    for _ in range(3):
        partition.append(plane.batch(), now_ms=START_MS)
    assert seen == [partition]
    partition.config_changed()
    assert len(seen) == 2


def follow(partition: Partition, **fields: Any) -> None:
    """Let the partition's registration be as it was, but for these fields."""
    registered = PartitionRegistration((1, 2, 3), (1, 2, 3), 1, partition.leader_epoch, 0, (b"", b"", b""))
    partition.follow(registered._replace(**fields))


def test_check_leader_refuses_other_nodes_and_epochs(partition: Partition) -> None:
    partition.check_leader(1)
    partition.check_leader(1, 0)
    assert refusal(lambda: partition.check_leader(1, -2)) is ErrorCode.FENCED_LEADER_EPOCH
    assert refusal(lambda: partition.check_leader(2)) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert refusal(lambda: partition.check_leader(1, 1)) is ErrorCode.UNKNOWN_LEADER_EPOCH
    waiter = Waiter(1)
    partition.waiters.add(waiter)
    follow(partition, leader=2, leader_epoch=1, isr=(2, 3), partition_epoch=1)
    assert waiter.woken
    assert (partition.leader_id, partition.leader_epoch, partition.isr) == (2, 1, (2, 3))
    assert refusal(lambda: partition.check_leader(2, 0)) is ErrorCode.FENCED_LEADER_EPOCH
    partition.check_leader(2, 1)


def test_batches_carry_the_leader_epoch_they_were_appended_in(plane: DataPlane, partition: Partition) -> None:
    follow(partition, leader_epoch=6)
    partition.append(plane.batch(), now_ms=START_MS)
    assert partition.log.end_offset_for_epoch(6) == (6, 1)


def test_epochs_begin_with_their_leader(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(3), now_ms=START_MS)
    follow(partition, leader=2, leader_epoch=1)
    follow(partition, leader=-1, leader_epoch=2)
    follow(partition, leader=1, leader_epoch=3)
    assert partition.log.leader_epochs.entries() == [(0, 0), (3, 3)]


@pytest.mark.parametrize(("isr", "under"), [([1, 2, 3], False), ([1, 2], False), ([1], True), ([], True)])
def test_partition_tells_whether_it_is_under_min_isr(partition: Partition, isr: list[int], under: bool) -> None:
    follow(partition, isr=tuple(isr))
    assert partition.under_min_isr is under


@pytest.mark.parametrize("end", [Partition.delete, Partition.close])
def test_after_its_end_a_partition_takes_nothing(
    plane: DataPlane, partition: Partition, end: Callable[[Partition], None]
) -> None:
    partition.append(plane.batch(), now_ms=START_MS)
    waiter = Waiter(1)
    partition.waiters.add(waiter)
    end(partition)
    end(partition)
    assert waiter.woken
    code = refusal(lambda: partition.append(plane.batch(), now_ms=START_MS))
    assert code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_deleting_records_lets_readers_look_again(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(3), now_ms=START_MS)
    waiter = Waiter(1000)
    partition.waiters.add(waiter)
    assert partition.delete_records(2) == 2
    assert waiter.woken
    assert refusal(lambda: partition.delete_records(4)) is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_failing_medium_is_logged_once_and_named(
    plane: DataPlane, partition: Partition, caplog: pytest.LogCaptureFixture
) -> None:
    """Each refused request is answered; the log says it once, until something else is wrong."""

    break_log(partition.log, Breakage(FULL, lambda: None))
    for _ in range(3):
        assert refusal(lambda: partition.append(plane.batch(), now_ms=START_MS)) is ErrorCode.KAFKA_STORAGE_ERROR
    mend_log(partition.log)
    assert [each.getMessage() for each in caplog.records] == [
        "a-0 cannot be written: a-0/00000000000000000000.log: No space left on device"
    ]
    assert partition.append(plane.batch(), now_ms=START_MS).base_offset == 0
    partition.fail(StorageError("/data/a-0/0.log: Input/output error", "/data/a-0/0.log"))
    assert refusal(lambda: partition.append(plane.batch(), now_ms=START_MS)) is ErrorCode.KAFKA_STORAGE_ERROR
    assert partition.failure is not None
    assert partition.failure.__traceback__ is None, "each refused append would add its frames"
    assert len(caplog.records) == 2
