"""What a snapshot is of, what it costs, and what it does not touch."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from odradek import Fault, KafkaBroker, open_broker
from odradek.broker.facade.stored_record import StoredRecord

_MIB = 1024 * 1024


def _values(records: list[StoredRecord]) -> list[bytes | None]:
    return [record.value for record in records]


def test_a_snapshot_tells_how_much_it_holds() -> None:
    with KafkaBroker(topics={"a": 2, "b": 1}) as broker:
        broker.set_offsets("g", {("a", 0): 0})
        assert repr(broker.snapshot()) == "<Snapshot: 2 topics, 3 partitions>"


def test_a_broker_on_disk_has_no_snapshots_of_replicas_that_differ(tmp_path: Path) -> None:
    topic = {"partitions": 1, "replication_factor": 3}
    with KafkaBroker(nodes=3, data_dir=tmp_path, topics={"t": topic}) as broker:
        follower = broker.topics["t"].partitions[0].replicas[1]
        broker.pause_replication("t", 0, follower)
        broker.produce("t", "1")
        with pytest.raises(ValueError, match="the replicas of t-0 differ"):
            broker.snapshot()
        broker.heal()
        snapshot = broker.snapshot()
        broker.pause_replication("t", 0, follower)
        broker.produce("t", "2")
        broker.restore(snapshot)
        assert _values(list(broker.records("t"))) == [b"1"]
        assert broker.topics["t"].partitions[0].replica_ends[follower] == 1


def test_snapshots_share_the_records() -> None:
    """64 MiB in 64 partitions: what a snapshot takes itself is less than a hundredth."""
    with KafkaBroker(topics={"a": 64}) as broker:
        for _ in range(64):
            broker.produce_all("a", [bytes(_MIB // 16)] * 16)
        tracemalloc.start()
        try:
            snapshot = broker.snapshot()
            taken, _ = tracemalloc.get_traced_memory()
            broker.restore(snapshot)
            restored, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert (taken < _MIB // 2, restored < _MIB) == (True, True), (taken, restored)


def test_a_snapshot_outlives_what_it_was_taken_of() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        broker.produce_all("a", ["1", "2", "3"])
        snapshot = broker.snapshot()
        for _ in range(3):
            broker.delete_topic("a")
            broker.create_topic("a")
            broker.produce("a", "other")
            broker.restore(snapshot)
            assert _values(list(broker.records("a"))) == [b"1", b"2", b"3"]
            broker.delete_records("a")


def test_snapshots_are_gone_to_in_any_order() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        taken = []
        for number in range(4):
            taken.append(broker.snapshot())
            broker.produce("a", str(number))
        for number in (3, 0, 2, 2, 1, 3):
            broker.restore(taken[number])
            assert _values(list(broker.records("a"))) == [b"0", b"1", b"2"][:number]
            broker.produce("a", "elsewhere")


def test_faults_set_later_end_and_those_that_ended_do_not_return() -> None:
    with KafkaBroker(topics=["a"]) as broker:
        ended, kept, later = (Fault("Produce", delay_ms=1) for _ in range(3))
        broker.set_faults(ended, kept)
        snapshot = broker.snapshot()
        broker.set_faults(kept, later)
        broker.restore(snapshot)
        faults = broker.cluster.dispatcher.faults
        assert faults is not None
        assert faults.faults == [kept]


@pytest.mark.trio
async def test_in_a_trio_run_of_the_caller() -> None:
    async with open_broker(topics=["a"]) as broker:
        await broker.produce("a", "1")
        snapshot = await broker.snapshot()
        await broker.produce("a", "2")
        await broker.restore(snapshot)
        assert _values(list(broker.records("a"))) == [b"1"]
