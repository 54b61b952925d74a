"""Appends that are held back in a turn: one batch in the end, and nobody can tell it from appends one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.fast.held_appends import HeldAppends, HoldingJournal
from odradek.broker.metadata.image import PartitionRegistration
from odradek.broker.partitions.partition import Partition
from odradek.broker.partitions.waiters import Waiter
from odradek.broker.runtime.machine import NewRecord, Producer
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.file_slice import joined
from odradek.protocol.record_batch import iter_batches
from odradek.storage.backend import StorageError
from odradek.storage.broken_log import FULL, Breakage, break_log, mend_log
from tests.fakes.data_plane import START_MS, DataPlane

Pair = tuple[bytes, bytes | None]


class Coordinator:
    """What writes to one partition."""

    def __init__(self, plane: DataPlane, name: str = "state", **configs: str) -> None:
        values = {key.replace("_", "."): value for key, value in configs.items()}
        self.partition: Partition = plane.cluster.create_topic(name, configs=values).partitions[0]
        self.held_appends = HeldAppends()
        self.journal = HoldingJournal(self.partition, self.held_appends, base_sequence=0)

    def put(self, *pairs: Pair, at_ms: int = START_MS, producer: Producer | None = None) -> list[int]:
        """Offsets of these records, which are one append of a request of its own."""
        self.held_appends.request += 1
        records = [NewRecord(key, value) for key, value in pairs]
        return [record.offset for record in self.journal.append(records, at_ms, producer)]

    @contextmanager
    def turn(self) -> Iterator[None]:
        self.held_appends.begin_turn()
        yield
        self.held_appends.end_turn()

    def batches(self) -> list[tuple[int, int, int, list[Pair]]]:
        """Offset, leader epoch, time and records of each batch in the log."""
        return batches_of(self.partition)


def batches_of(partition: Partition) -> list[tuple[int, int, int, list[Pair]]]:
    log = partition.log
    data = joined(log.read(0, max_bytes=1 << 20, up_to_offset=log.log_end_offset).parts)
    return [
        (
            batch.base_offset,
            batch.partition_leader_epoch,
            batch.max_timestamp,
            [
                (bytes(record.key or b""), None if record.value is None else bytes(record.value))
                for record in batch.records()
            ],
        )
        for batch in iter_batches(data)
    ]


@pytest.fixture
def plane() -> DataPlane:
    return DataPlane()


@pytest.fixture
def coordinator(plane: DataPlane) -> Coordinator:
    return Coordinator(plane)


def test_what_is_appended_in_one_turn_is_one_batch_with_the_offsets_that_were_told(coordinator: Coordinator) -> None:
    assert coordinator.put((b"a", b"1")) == [0]
    with coordinator.turn():
        assert coordinator.put((b"b", b"1"), (b"c", None)) == [1, 2]
        assert coordinator.put((b"d", b"2")) == [3]
    assert coordinator.put((b"e", b"3")) == [4]
    assert coordinator.batches() == [
        (0, 0, START_MS, [(b"a", b"1")]),
        (1, 0, START_MS, [(b"b", b"1"), (b"c", None), (b"d", b"2")]),
        (4, 0, START_MS, [(b"e", b"3")]),
    ]


def test_two_appends_of_one_request_are_two_batches(coordinator: Coordinator) -> None:
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        coordinator.put((b"b", b"1"))
        coordinator.held_appends.request -= 1  # the next one is of the same request
        coordinator.put((b"c", b"1"))
        coordinator.put((b"d", b"1"))
    assert [batch[3] for batch in coordinator.batches()] == [
        [(b"a", b"1"), (b"b", b"1")],
        [(b"c", b"1"), (b"d", b"1")],
    ]


def test_readers_who_wait_are_woken_once_answers_leave(coordinator: Coordinator) -> None:
    waiter = Waiter(1)
    coordinator.partition.waiters.add(waiter)
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        assert not waiter.woken
        coordinator.held_appends.write()
        assert waiter.woken
        assert coordinator.put((b"b", b"1")) == [1]
    assert [batch[0] for batch in coordinator.batches()] == [0, 1]


def test_whoever_looks_at_the_log_in_the_turn_finds_all(coordinator: Coordinator) -> None:
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        assert coordinator.journal.end_offset == 1
        assert coordinator.put((b"b", b"1")) == [1]
        assert [batch[0] for batch in coordinator.batches()] == [0, 1]


def test_records_of_another_time_are_another_batch(coordinator: Coordinator) -> None:
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        assert coordinator.put((b"b", b"1"), at_ms=START_MS + 1) == [1]
        assert coordinator.put((b"c", b"1"), at_ms=START_MS + 1) == [2]
    assert [(batch[0], batch[2], len(batch[3])) for batch in coordinator.batches()] == [
        (0, START_MS, 1),
        (1, START_MS + 1, 2),
    ]


def test_a_batch_does_not_outgrow_what_the_topic_takes(plane: DataPlane) -> None:
    coordinator = Coordinator(plane, max_message_bytes="400")
    with coordinator.turn():
        offsets = [coordinator.put((b"k", bytes(100))) for _ in range(5)]
        with pytest.raises(KafkaError) as refused:
            coordinator.put((b"k", bytes(400)))
        assert coordinator.put((b"k", b"small")) == [5]
    assert refused.value.code == ErrorCode.MESSAGE_TOO_LARGE
    assert offsets == [[0], [1], [2], [3], [4]]
    assert [(batch[0], len(batch[3])) for batch in coordinator.batches()] == [(0, 3), (3, 2), (5, 1)]


def test_what_belongs_to_a_transaction_is_a_batch_of_its_own_and_in_its_place(coordinator: Coordinator) -> None:
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        assert coordinator.put((b"b", b"1"), producer=Producer(7, 0)) == [1]
        assert coordinator.put((b"c", b"1")) == [2]
        assert coordinator.journal.append_marker(Producer(7, 0), 0, commit=True, now_ms=START_MS) == 3
        assert coordinator.put((b"d", b"1")) == [4]
    assert [batch[0] for batch in coordinator.batches()] == [0, 1, 2, 3, 4]


def test_a_log_that_is_broken_refuses_at_once(coordinator: Coordinator) -> None:
    hits: list[int] = []
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        break_log(coordinator.partition.log, Breakage(FULL, lambda: hits.append(1)))
        for _ in range(2):
            with pytest.raises(StorageError):
                coordinator.put((b"b", b"1"))
        mend_log(coordinator.partition.log)
        assert coordinator.put((b"c", b"1")) == [1]
    assert len(hits) == 2
    assert [batch[3] for batch in coordinator.batches()] == [[(b"a", b"1")], [(b"c", b"1")]]


def test_a_log_that_compresses_gets_each_append_at_once(plane: DataPlane) -> None:
    coordinator = Coordinator(plane, compression_type="gzip")
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        assert coordinator.partition.held is None
    assert [batch[3] for batch in coordinator.batches()] == [[(b"a", b"1")]]


def test_what_was_appended_before_a_new_leader_came_has_the_old_epoch(coordinator: Coordinator) -> None:
    partition = coordinator.partition
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        partition.follow(PartitionRegistration((1,), (1,), 1, 5, 1, (b"",)))
        coordinator.put((b"b", b"1"))
    assert [batch[:2] for batch in coordinator.batches()] == [(0, 0), (1, 5)]


@pytest.mark.parametrize("end", [Partition.delete, Partition.close])
def test_the_end_of_the_partition_leaves_nothing_behind(
    coordinator: Coordinator, end: Callable[[Partition], None]
) -> None:
    with coordinator.turn():
        coordinator.put((b"a", b"1"))
        log = coordinator.partition._log
        end(coordinator.partition)
        assert log is not None
        assert log.log_end_offset == 1
        with pytest.raises(KafkaError):
            coordinator.put((b"b", b"1"))
    assert coordinator.partition.held is None


def test_replicas_that_are_kept_apart_get_each_append_at_once() -> None:
    plane = DataPlane(nodes=3)
    partition = plane.cluster.create_topic("state", assignments={0: [1, 2, 3]}).partitions[0]
    held_appends = HeldAppends()
    journal = HoldingJournal(partition, held_appends)
    held_appends.begin_turn()
    journal.append([NewRecord(b"a", b"1")], START_MS, None)
    partition.track_replicas(plane.cluster.replicator, START_MS)
    journal.append([NewRecord(b"b", b"1")], START_MS, None)
    assert partition.held is None
    held_appends.end_turn()
    assert [batch[0] for batch in batches_of(partition)] == [0, 1]


def test_a_log_on_disk_gets_each_append_at_once(tmp_path: Path) -> None:
    from odradek import KafkaBroker

    with KafkaBroker(data_dir=tmp_path) as broker:

        def in_a_turn() -> bool:
            partition = broker.cluster.create_topic("state").partitions[0]
            held_appends = HeldAppends()
            journal = HoldingJournal(partition, held_appends)
            held_appends.begin_turn()
            journal.append([NewRecord(b"a", b"1")], START_MS, None)
            return partition.held is None and partition.log.log_end_offset == 1

        assert broker._look(in_a_turn)


_APPENDS = st.lists(
    st.tuples(
        st.lists(st.tuples(st.binary(max_size=3), st.none() | st.binary(max_size=90)), min_size=1, max_size=4),
        st.integers(0, 1),  # time that passes
        st.sampled_from(["", "", "", "look", "write", "transaction"]),
    ),
    max_size=12,
)


@given(_APPENDS, st.sampled_from(["300", "20000"]))
def test_records_and_offsets_are_those_of_appends_one_by_one(
    appends: list[tuple[list[Pair], int, str]], largest: str
) -> None:
    plane = DataPlane()
    logs = []
    for name in ("held", "plain"):
        coordinator = Coordinator(plane, name, max_message_bytes=largest)
        now_ms, told = START_MS, []
        with coordinator.turn() if name == "held" else nullcontext():
            for pairs, passed_ms, also in appends:
                now_ms += passed_ms
                producer = Producer(9, 0) if also == "transaction" else None
                try:
                    told += coordinator.put(*pairs, at_ms=now_ms, producer=producer)
                except KafkaError as error:
                    told.append(-error.code)
                if also == "look":
                    told.append(coordinator.journal.end_offset)
                elif also == "write":
                    coordinator.held_appends.write()
        found = [
            (offset + index, time_ms, pair)
            for offset, _, time_ms, pairs in coordinator.batches()
            for index, pair in enumerate(pairs)
        ]
        logs.append((told, found))
    assert logs[0] == logs[1]
