"""Going back on disk: as in memory for clients, and all or nothing for whoever finds the directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odradek import KafkaBroker
from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import MAX_BATCH_RECORDS
from odradek.broker.facade.state import disk_logs
from odradek.broker.facade.state.restoring import restore
from odradek.broker.facade.state.snapshot import take
from odradek.broker.partitions.partition import Partition
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.record_batch import build_batch, iter_batches
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from tests.fakes.durable import die, durable, opened
from tests.fakes.examples import examples
from tests.fakes.file_system import Crash, FaultyFileSystem
from tests.fakes.state_walk import CONFIG, StateWalk

_STEPS = st.lists(st.tuples(st.integers(0, 22), st.integers(0, 11)), max_size=12)


@pytest.fixture
def no_syncs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pulls the plug in a test."""
    monkeypatch.setattr("odradek.storage.file_system.os.fsync", lambda descriptor: None)


@pytest.mark.long
@pytest.mark.usefixtures("no_syncs")
def test_a_restored_broker_is_what_it_was(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics={"a": 1, "b": 2}, config=CONFIG) as broker:
        broker.clock.freeze()
        walk = StateWalk(broker)
        beginning = broker.snapshot()

        @given(before=_STEPS, after=_STEPS, again=_STEPS)
        @settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
        def goes_back(
            before: list[tuple[int, int]], after: list[tuple[int, int]], again: list[tuple[int, int]]
        ) -> None:
            broker.restore(beginning)
            walk.reconnect()
            walk.walk(before)
            seen = walk.look()
            snapshot = broker.snapshot()
            assert walk.look() == seen, "a snapshot changes nothing"
            for steps in (after, again):
                walk.walk(steps)
                broker.restore(snapshot)
                walk.reconnect()
                assert walk.look() == seen
            assert not broker.bugs, broker.bugs[0]

        goes_back()
        broker.restore(beginning)
        walk.reconnect()


@pytest.mark.long
def test_a_start_finds_what_the_broker_went_back_to(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with KafkaBroker(data_dir=data, topics={"a": 2}) as broker:
        broker.produce_all("a", ["1", "2", "3"])
        broker.produce("a", "maybe", transactional_id="tx", transaction="open")
        broker.set_offsets("g", {("a", 0): 1})
        snapshot = broker.snapshot()
        for number in range(3):
            broker.delete_topic("a")
            broker.create_topic("a", partitions=2)
            broker.produce("a", "other")
            broker.create_topic(f"b{number}")
            broker.set_offsets("g", {(f"b{number}", 0): 0})
            broker.restore(snapshot)
            broker.produce("a", "behind")
        broker.restore(snapshot)
        before = sorted(record.value or b"" for record in broker.records("a"))
        assert before == [b"1", b"2", b"3", b"maybe"]
    with KafkaBroker(data_dir=data) as broker:
        assert sorted(record.value or b"" for record in broker.records("a")) == before
        assert list(broker.topics) == ["a"]
        assert broker.transactions["tx"].state == "Ongoing"
        assert broker.group("g").offsets["a", 0].offset == 1
        assert not broker.bugs


def test_the_files_of_a_snapshot_go_with_it(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics=["a"]) as broker:
        broker.produce("a", "1")
        one, other = broker.snapshot(), broker.snapshot()
        assert len(list((tmp_path / "data.odradek-snapshots").iterdir())) == 2
        del one
        broker.restore(other)
        assert len(list((tmp_path / "data.odradek-snapshots").iterdir())) == 1
        del other
        assert [path.name for path in tmp_path.iterdir()] == ["data"]
        broker.kept = broker.snapshot()  # type: ignore[attr-defined]
        assert len(list(tmp_path.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_dead_process_kept_goes_with_the_next_start(tmp_path: Path) -> None:
    cluster = opened(tmp_path / "data")
    append(cluster.create_topic("a").partitions[0], b"1")
    snapshot = take(cluster)
    die(cluster)
    assert (tmp_path / "data.odradek-snapshots").exists()
    again = opened(tmp_path / "data")
    assert not (tmp_path / "data.odradek-snapshots").exists()
    again.close_logs()
    del snapshot


def append(partition: Partition, value: bytes) -> None:
    partition.append(build_batch([Record(0, 0, None, value)]), now_ms=0)


State = dict[str, list[bytes]]


def state(cluster: Cluster) -> State:
    """The records of each topic."""
    found: State = {}
    for topic in cluster.topics:
        values = found[topic.name] = []
        for partition in topic.partitions:
            log = partition.log
            position = log.log_start_offset
            while position < log.log_end_offset:
                for part in log.read(position, max_bytes=1 << 20, up_to_offset=log.log_end_offset).parts:
                    for batch in iter_batches(part):
                        values += (bytes(record.value or b"") for record in batch.records())
                        position = batch.next_offset
    return found


def _change(cluster: Cluster) -> None:
    """One topic gets more, one is made anew, one goes, one comes; one has lost its start."""
    append(cluster.topics.by_name("a").partitions[0], b"a2")
    cluster.delete_topic("b")
    append(cluster.create_topic("b", partitions=1).partitions[0], b"other b")
    cluster.delete_topic("c")
    append(cluster.create_topic("d").partitions[0], b"d1")
    append(cluster.topics.by_name("late").partitions[0], b"late")
    cluster.topics.by_name("start").partitions[0].delete_records(-1, now_ms=0)


_BEFORE: State = {"a": [b"a1"], "b": [b"b1"], "c": [b"c1"], "late": [], "start": [b"s1"]}
_AFTER: State = {"a": [b"a1", b"a2"], "b": [b"other b"], "d": [b"d1"], "late": [b"late"], "start": []}


def _filled(where: Path | list[Path], fs: FaultyFileSystem, nodes: int) -> Cluster:
    cluster = durable(where, fs, nodes=nodes)
    cluster.open_directory()
    for name, values in _BEFORE.items():
        topic = cluster.create_topic(name, partitions=1, replication_factor=nodes)
        for value in values:
            append(topic.partitions[0], value)
    return cluster


def _one(path: Path) -> Path:
    return path


def _two(path: Path) -> list[Path]:
    return [path / "one", path / "two"]


class _Dying(FaultyFileSystem):
    """Behind the call to die in there are no others."""

    def _before(self, call: str, path: Path) -> bool:
        if self.stop_at is not None and self.calls > self.stop_at:
            raise Crash
        return super()._before(call, path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("paths", "nodes", "batch", "stride"),
    [(_one, 1, 10_000, 2), (_one, 1, 3, 5), (_two, 1, 10_000, 7), (_one, 3, 10_000, 7)],
    ids=["plain", "in a transaction", "log.dirs", "nodes"],
)
def test_a_death_at_any_call_leaves_the_one_state_or_the_other(
    tmp_path: Path,
    paths: Callable[[Path], Path | list[Path]],
    nodes: int,
    batch: int,
    stride: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`batch`: how many records of the metadata log are one batch. `stride`: which calls are tried."""
    for module in ("broker.controller.machine", "broker.controller.metadata_log", "broker.facade.state.disk_logs"):
        monkeypatch.setattr(f"odradek.{module}.MAX_BATCH_RECORDS", batch)
    found: list[bool] = []
    over = False
    while not over:
        where = paths(tmp_path / str(len(found)))
        fs = _Dying()
        cluster = _filled(where, fs, nodes)
        snapshot = take(cluster)
        _change(cluster)
        fs.stop_at = fs.calls + len(found) * stride
        try:
            restore(cluster, snapshot)
            over = True
        except Crash:
            pass
        die(cluster)
        again = opened(where, nodes=nodes)
        left = state(again)
        assert left in (_BEFORE, _AFTER), (len(found), left)
        found.append(left == _BEFORE)
        again.close_logs()
    assert found == sorted(found), "once it has happened it stays so"
    assert (found[0], found[-1]) == (False, True)
    assert sum(found) * stride > 10


@pytest.mark.parametrize("call", ["link", "write", "sync_directory"])
def test_a_disk_that_refuses_leaves_the_broker_as_it_is(tmp_path: Path, call: str) -> None:
    fs = FaultyFileSystem()
    cluster = _filled(tmp_path, fs, 1)
    snapshot = take(cluster)
    _change(cluster)
    folders = {path.name for path in tmp_path.iterdir()}
    fs.refuse = lambda name, path: 28 if name == call and "delete" in str(path) else None
    with pytest.raises(StorageError, match="No space left"):
        restore(cluster, snapshot)
    fs.refuse = lambda name, path: None
    assert state(cluster) == _AFTER
    assert {path.name for path in tmp_path.iterdir()} == folders
    restore(cluster, snapshot)
    assert state(cluster) == _BEFORE
    cluster.close_logs()


def test_a_broken_log_has_a_snapshot_and_goes_back(tmp_path: Path) -> None:
    with KafkaBroker(data_dir=tmp_path / "data", topics=["a"]) as broker:
        broker.produce("a", "1")
        broker.fail_disk(topic="a", partition=0)
        snapshot = broker.snapshot()
        broker.heal()
        broker.produce("a", "2")
        broker.restore(snapshot)
        assert [record.value for record in broker.records("a")] == [b"1"]
        assert not broker.bugs


def test_many_records_are_one_transaction() -> None:
    few = [NoOpRecord()] * 3
    assert disk_logs.whole(few) == few
    many = disk_logs.whole([NoOpRecord()] * (MAX_BATCH_RECORDS + 1))
    assert [type(each).__name__ for each in (many[0], many[1], many[-1])] == [
        "BeginTransactionRecord",
        "NoOpRecord",
        "EndTransactionRecord",
    ]
    assert len(disk_logs.whole([])) == 1
