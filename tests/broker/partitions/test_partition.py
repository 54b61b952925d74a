"""Partitions: appends wake readers, leadership, the end of a partition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.metadata.image import PartitionRegistration
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.replicas import NOTHING
from odradek.broker.partitions.waiters import Waiter
from odradek.protocol.compression import Codec
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.long_work import LargeBatch
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import OUT_OF_DESCRIPTORS, StorageError
from odradek.storage.broken_log import FULL, Breakage, break_log, mend_log
from odradek.storage.partition_log import AppendOrigin
from tests.fakes.data_plane import START_MS, DataPlane
from tests.fakes.durable import opened


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
    assert partition.log.leader_epochs.entries() == [(0, 0), (1, 3)]
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


def test_readers_of_committed_records_are_woken_by_what_is_stable(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(), now_ms=START_MS)
    one, other = Waiter(1, committed=True), Waiter(1, committed=True)
    partition.waiters.add(one)
    partition.append(plane.batch(), now_ms=START_MS)
    assert one.woken
    open_one = build_batch([Record(0, START_MS, b"k", b"v")], producer_id=7, transactional=True)
    origin = AppendOrigin.COORDINATOR
    partition.append(open_one, now_ms=START_MS, origin=origin)
    partition.waiters.add(other)
    partition.append(plane.batch(), now_ms=START_MS)
    assert (partition.log.last_stable_offset, other.woken) == (2, False)


def test_a_lack_of_descriptors_is_reported_once_for_all(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cluster = opened(tmp_path)
    partition = cluster.create_topic("a").partitions[0]
    assert partition.durability is not None
    told: list[str] = []
    partition.durability.report = lambda where, error: told.append(where)
    partition.fail(StorageError(f"a-0/0.log: {OUT_OF_DESCRIPTORS}"))
    assert (told, caplog.records) == (["a-0"], [])
    partition.fail(StorageError("a-0/0.log: gone"))
    assert (told, len(caplog.records)) == (["a-0"], 1)
    cluster.close_logs()


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


class Held:
    """Records that are appended before anybody sees the log."""

    def __init__(self, plane: DataPlane, partition: Partition) -> None:
        self.plane = plane
        self.partition = partition
        partition.held = self

    def write(self) -> None:
        self.partition.append_plainly(self.plane.batch(2), START_MS)


@pytest.mark.parametrize(
    ("look", "end"),
    [
        (lambda plane, partition: partition.log, 2),
        (lambda plane, partition: partition.append(plane.batch(), now_ms=START_MS), 3),
        (lambda plane, partition: follow(partition, leader_epoch=1), 2),
        (lambda plane, partition: partition.close(), 2),
        (lambda plane, partition: partition.delete_records(-1), 2),
        (lambda plane, partition: setattr(partition, "leadership", partition.leadership), 2),
    ],
    ids=["log", "append", "follow", "close", "delete_records", "leadership"],
)
def test_held_records_are_appended_before_anybody_sees_the_log(
    plane: DataPlane, partition: Partition, look: Callable[[DataPlane, Partition], object], end: int
) -> None:
    log = partition.log
    Held(plane, partition)
    look(plane, partition)
    assert (partition.held, log.log_end_offset) == (None, end)


def test_records_may_be_held_where_nobody_could_refuse_them(plane: DataPlane, partition: Partition) -> None:
    assert partition.may_hold
    break_log(partition.log, Breakage(FULL, lambda: None))
    assert not partition.may_hold
    mend_log(partition.log)
    apart(plane, partition)
    assert not partition.may_hold
    partition.join_replicas()
    assert partition.may_hold
    plane.cluster.delete_topic("a")
    assert not partition.may_hold


def test_a_segment_that_begins_wakes_all_readers(plane: DataPlane) -> None:
    """Kafka answers a fetch whose segment has ended, however few bytes there are."""
    partition = plane.topic("rolls", internal_segment_bytes="100").partitions[0]
    waiters = [Waiter(1 << 20), Waiter(1 << 20)]
    for number, waiter in enumerate(waiters):
        partition.waiters.add(waiter)
        partition.append(plane.batch(), now_ms=START_MS)
        assert partition.log.active.base_offset == number
        assert waiter.woken is bool(number)


def test_a_batch_that_is_long_work_is_appended_all_the_same(partition: Partition) -> None:
    batch = build_batch([Record(0, START_MS, b"k", bytes(6 << 20))], codec=Codec.ZSTD)
    with pytest.raises(LargeBatch):
        partition.append_plainly(batch, START_MS)
    assert partition.append(batch, now_ms=START_MS).base_offset == 0
    assert partition.log.log_end_offset == 1


def test_who_looks_at_an_unused_partition_makes_no_log(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    used, unused = cluster.create_topic("a", partitions=2).partitions
    used.append(DataPlane().batch(), now_ms=START_MS)
    cluster.close_logs()
    again = opened(tmp_path)
    used, unused = again.topics.by_name("a").partitions
    assert (unused.log_if_any, unused.opened, used.opened) == (None, False, False)
    log = used.log_if_any
    assert log is not None
    assert (log.log_end_offset, used.log_if_any, used.active) == (1, log, True)
    assert unused.log.log_end_offset == 0
    assert not unused.active
    assert unused.log_if_any is unused.log
    again.close_logs()


# -- replicas apart


def apart(plane: DataPlane, partition: Partition) -> None:
    partition.track_replicas(plane.cluster.replicator, START_MS)


class Idle:
    """A replicator that copies nothing and elects nobody."""

    def replicate(self, partition: Partition) -> None:
        """Nothing is copied."""

    def now_ms(self) -> int:
        return START_MS


def test_while_a_replica_is_behind_only_followers_see_the_news(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(), now_ms=START_MS)
    assert (partition.copy_on(3), partition.low_watermark(lambda node: True)) == (None, 0)
    apart(plane, partition)
    behind = partition.copy_on(3)
    assert behind is not None
    behind.lag = NOTHING
    reader, follower = Waiter(1), Waiter(1, uncommitted=True)
    for waiter in (reader, follower):
        partition.waiters.add(waiter)
    partition.append(plane.batch(2), now_ms=START_MS)
    assert (reader.woken, follower.woken) == (False, True)
    assert (behind.end, partition.log.high_watermark, partition.log.log_end_offset) == (1, 1, 3)
    behind.lag = None
    partition.append(plane.batch(), now_ms=START_MS)
    assert (behind.end, partition.log.high_watermark, reader.woken) == (4, 4, True)
    partition.join_replicas()
    partition.append(plane.batch(), now_ms=START_MS)
    assert (partition.replica_set, partition.log.high_watermark) == (None, 5)


def test_deleted_records_are_deleted_on_the_replicas_that_are_up(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(3), now_ms=START_MS)
    apart(plane, partition)
    behind = partition.copy_on(3)
    assert behind is not None
    behind.lag = NOTHING
    assert partition.delete_records(-1) == 3
    lows = partition.low_watermark(lambda node: True), partition.low_watermark(lambda node: node != 3)
    assert lows == (0, 3)


def test_a_leader_that_lacks_records_goes_on_with_a_log_of_its_own(plane: DataPlane, partition: Partition) -> None:
    partition.append(plane.batch(), now_ms=START_MS)
    apart(plane, partition)
    behind = partition.copy_on(3)
    assert behind is not None
    behind.lag = NOTHING
    partition.append(plane.batch(), now_ms=START_MS)
    before = partition.log
    partition.replicator = Idle()
    follow(partition, leader=-1, leader_epoch=1)
    assert (partition.log, partition.leader_id) == (before, -1)
    follow(partition, leader=3, leader_epoch=2, isr=(3,))
    assert partition.log is not before
    assert (partition.log.log_end_offset, partition.log.leader_epochs.entries()) == (1, [(0, 0), (2, 1)])
    partition.check_leader(3)
    behind.lost = True
    assert refusal(lambda: partition.check_leader(3)) is ErrorCode.KAFKA_STORAGE_ERROR
    assert refusal(lambda: partition.check_leader(1)) is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_epochs_are_compared_where_a_replica_is(partition: Partition) -> None:
    follow(partition, replicas=(1, 2), leader_epoch=3)
    assert refusal(lambda: partition.check_leader(2, 2)) is ErrorCode.FENCED_LEADER_EPOCH
    assert refusal(lambda: partition.check_leader(2, 4)) is ErrorCode.UNKNOWN_LEADER_EPOCH
    assert refusal(lambda: partition.check_leader(3, 2)) is ErrorCode.NOT_LEADER_OR_FOLLOWER
    for known in (-1, 3):
        partition.check_epoch(known)


# -- logs that change


def test_a_log_is_brought_elsewhere(plane: DataPlane, tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    partition = cluster.create_topic("a").partitions[0]
    partition.append(plane.batch(producer_id=1, producer_epoch=0, base_sequence=0), now_ms=START_MS)
    before, waiter, moved = partition.log, Waiter(1), []
    partition.waiters.add(waiter)
    partition.relocate(lambda: moved.append(partition.opened))
    assert (moved, waiter.woken, partition.log is before) == ([False], True, False)
    assert partition.log.log_end_offset == 1
    assert [each.producer_id for each in partition.log.producers] == [1]

    def refuse() -> None:
        raise StorageError("no room")

    with pytest.raises(StorageError, match="no room"):
        partition.relocate(refuse)
    assert partition.append(plane.batch(), now_ms=START_MS).base_offset == 1
    cluster.close_logs()


def test_a_partition_goes_on_with_another_log(plane: DataPlane, partition: Partition) -> None:
    other = plane.cluster.create_topic("other").partitions[0]
    other.append(plane.batch(3), now_ms=START_MS)
    seen: list[Partition] = []
    plane.cluster.topics.on_activity = seen.append
    waiter = Waiter(1)
    partition.waiters.add(waiter)
    follow(partition, leader_epoch=4)
    partition.go_on_with(other.log, None, plane.cluster.replicator)
    assert (waiter.woken, seen, partition.replicator) == (True, [partition], None)
    assert (partition.log, partition.log.leader_epochs.entries()) == (other.log, [(0, 0), (4, 3)])
    partition.go_on_with(None, None, plane.cluster.replicator)
    assert not partition.opened
