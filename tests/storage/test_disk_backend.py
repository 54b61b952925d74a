"""The disk backend against what Kafka wrote, against crashes at every step, and against a failing medium."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    RECOVERY_POINTS,
    MetaProperties,
    format_meta_properties,
)
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.file_system import FileSystem
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import PartitionLog
from tests.fakes.file_system import Crash, FaultyFileSystem, full_after
from tests.storage.logs import NOW, batches, committed, compact, end, put, records

TOPIC_ID = bytes(range(16))
SMALL = LogConfig(segment_bytes=600, index_interval_bytes=64)
COMPACT = LogConfig(
    segment_bytes=600, index_interval_bytes=64, cleanup_policy=frozenset({"compact"}), min_cleanable_dirty_ratio=0.0
)


def open_backend(directory: Path, fs: FileSystem | None = None) -> DiskBackend:
    return DiskBackend(directory, now_ms=lambda: NOW, fs=fs or FaultyFileSystem())


def open_log(backend: DiskBackend, config: LogConfig = SMALL) -> PartitionLog:
    return PartitionLog("t", 0, config, backend, now_ms=NOW, topic_id=TOPIC_ID)


def abandon(backend: DiskBackend) -> None:
    """What the death of the process does: the lock is free, nothing else is written."""
    backend._unlock()


def reopened(directory: Path, config: LogConfig = SMALL) -> PartitionLog:
    return open_log(open_backend(directory), config)


# --- what Kafka wrote -------------------------------------------------------------------------------------------------


def test_opens_a_log_directory_of_kafka(kafka_log_dir: Path) -> None:
    backend = open_backend(kafka_log_dir)
    found = backend.partitions()
    logs = {
        (topic, index): PartitionLog(topic, index, LogConfig(), backend, now_ms=NOW, topic_id=topic_id or bytes(16))
        for (topic, index), topic_id in found.items()
    }
    assert len(logs) == 14
    assert (logs["d-seg", 0].log_start_offset, logs["d-seg", 0].log_end_offset) == (100, 360)
    txn = logs["d-txn", 0]
    assert (txn.log_end_offset, txn.last_stable_offset) == (55, 53)
    assert txn.aborted_transactions(0, 55) == [(29, 6), (28, 18), (30, 30), (29, 42)]
    assert len(txn.producers) == 6
    assert logs["__consumer_offsets", 0].log_end_offset == 61
    assert [r.offset for r in records(logs["d-seg", 0])] == list(range(100, 360))
    assert backend.recovered == []


def test_an_unclean_stop_of_kafka_gives_the_same_log(kafka_log_dir: Path) -> None:
    (kafka_log_dir / CLEAN_SHUTDOWN).unlink()
    (kafka_log_dir / RECOVERY_POINTS).unlink()
    backend = open_backend(kafka_log_dir)
    txn = PartitionLog("d-txn", 0, LogConfig(), backend, now_ms=NOW)
    assert (txn.log_end_offset, txn.last_stable_offset) == (55, 53)
    assert txn.aborted_transactions(0, 55) == [(29, 6), (28, 18), (30, 30), (29, 42)]
    assert [e._asdict() for s in txn.segments for e in s.stores.txn_index.entries()] == [
        {"producer_id": 29, "first_offset": 6, "last_offset": 11, "last_stable_offset": 12},
        {"producer_id": 28, "first_offset": 18, "last_offset": 23, "last_stable_offset": 24},
        {"producer_id": 30, "first_offset": 30, "last_offset": 35, "last_stable_offset": 36},
        {"producer_id": 29, "first_offset": 42, "last_offset": 47, "last_stable_offset": 48},
    ]


# --- restarts ---------------------------------------------------------------------------------------------------------


def test_a_clean_restart_keeps_everything(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend)
    for i in range(50):
        put(log, (b"k%d" % i, b"v" * 20), producer=(7, 0, i), epoch=i // 25)
    log.delete_records(10)
    before = [(b.base_offset, bytes(b.data)) for b in batches(log)]
    log.close()
    backend.close()
    assert (tmp_path / CLEAN_SHUTDOWN).exists()
    log = reopened(tmp_path)
    assert [(b.base_offset, bytes(b.data)) for b in batches(log)] == before
    assert (log.log_start_offset, log.log_end_offset) == (10, 50)
    assert log.leader_epochs.entries() == [(0, 10), (1, 25)]
    assert put(log, producer=(7, 0, 49)).duplicate
    assert put(log, producer=(7, 0, 50)).base_offset == 50


def test_disk_log_survives_the_death_of_the_process(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend)
    for i in range(50):
        put(log, (b"k%d" % i, b"v" * 20), producer=(7, 0, i))
    abandon(backend)
    log = reopened(tmp_path)
    assert [r.key for r in records(log)] == [b"k%d" % i for i in range(50)]
    assert put(log, producer=(7, 0, 49)).duplicate


@pytest.mark.parametrize("cut", [1, 30, 61, 62, 89])
def test_a_torn_tail_is_cut_off(tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend, LogConfig())
    for i in range(10):
        put(log, (b"k%d" % i, b"v" * 20))
    abandon(backend)
    path = tmp_path / "t-0" / "00000000000000000000.log"
    path.write_bytes(path.read_bytes()[:-cut])
    backend = open_backend(tmp_path)
    log = open_log(backend, LogConfig())
    assert log.log_end_offset == 9
    assert len(backend.recovered) == 1
    assert f"{path}: {90 - cut} bytes cut off at position {path.stat().st_size}, offset 9: " in backend.recovered[0]
    assert backend.recovered[0] in caplog.text
    assert put(log).base_offset == 9


def test_a_corrupt_batch_cuts_the_log_and_drops_what_follows(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend)
    for i in range(40):
        put(log, (b"k%d" % i, b"v" * 20))
    assert len(log.segments) > 3
    second = log.segments[1].base_offset
    abandon(backend)
    path = tmp_path / "t-0" / f"{second:020d}.log"
    data = bytearray(path.read_bytes())
    data[70] ^= 0xFF
    path.write_bytes(data)
    assert reopened(tmp_path).log_end_offset == second


def test_lost_indexes_are_built_anew(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend)
    for i in range(40):
        put(log, (b"k%d" % i, b"v" * 20), at=NOW + i)
    expected = [(s.stores.offset_index.entries(), s.stores.time_index.entries()) for s in log.segments[:-1]]
    log.close()
    backend.close()
    for path in (tmp_path / "t-0").glob("*index"):
        path.unlink()
    log = reopened(tmp_path)
    assert [(s.stores.offset_index.entries(), s.stores.time_index.entries()) for s in log.segments[:-1]] == expected
    assert log.offset_for_timestamp(NOW + 33).offset == 33  # type: ignore[union-attr]


def test_a_clean_stop_leaves_the_broker_epoch_behind(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    assert backend.last_broker_epoch == -1
    backend.broker_epoch = 74
    backend.close()
    assert (tmp_path / CLEAN_SHUTDOWN).read_bytes() == b'{"version":0,"brokerEpoch":74}'
    backend = open_backend(tmp_path)
    assert (backend.last_broker_epoch, backend.broker_epoch) == (74, -1)
    backend.close(clean=False)
    assert open_backend(tmp_path).last_broker_epoch == -1


def test_a_directory_without_an_id_gets_one_for_good(tmp_path: Path) -> None:
    (tmp_path / META_PROPERTIES).write_bytes(format_meta_properties(MetaProperties("c", 3)))
    backend = open_backend(tmp_path)
    assert (backend.meta.cluster_id, backend.meta.node_id) == ("c", 3)
    assert backend.meta.directory_id is not None
    backend.close()
    assert open_backend(tmp_path).meta == backend.meta


# --- crashes at every step --------------------------------------------------------------------------------------------


Acknowledged = tuple[bytes, bytes]
"""Key and value of a record that the log has acknowledged."""


def crash_everywhere(
    directory: Path, config: LogConfig, work: Callable[[PartitionLog, list[Acknowledged]], None]
) -> int:
    """Run `work` again and again, dying one call later each time, and look at the log that is left each time.

    `work` notes what was acknowledged in the list it is given. Returns the number of deaths.
    """
    stop = 0
    while True:
        target = directory / str(stop)
        fs = FaultyFileSystem(stop_at=stop)
        acknowledged: list[Acknowledged] = []
        backend = None
        try:
            backend = open_backend(target, fs)
            work(open_log(backend, config), acknowledged)
            abandon(backend)
            return stop
        except Crash:
            if backend is not None:
                abandon(backend)
            check_left(target, config, acknowledged)
        stop += 1


def check_left(directory: Path, config: LogConfig, acknowledged: list[Acknowledged]) -> None:
    log = reopened(directory, config)
    latest = {r.key: r.value for r in records(log)}
    expected = dict(acknowledged)
    for key, value in expected.items():
        assert latest.get(key) == value, (directory, key)
    offsets = [r.offset for r in records(log)]
    assert offsets == sorted(set(offsets))
    info = put(log, (b"after", b"the crash"))
    assert records(log)[-1].offset == info.base_offset
    abandon(log.backend)  # type: ignore[arg-type]
    again = reopened(directory, config)
    assert records(again)[-1].key == b"after"
    abandon(again.backend)  # type: ignore[arg-type]


@pytest.mark.long
def test_a_death_at_any_step_of_appending_rolling_and_flushing_loses_nothing(tmp_path: Path) -> None:
    def work(log: PartitionLog, acknowledged: list[Acknowledged]) -> None:
        for i in range(24):
            put(log, (b"k%d" % i, b"v" * 30), producer=(5, 0, i))
            acknowledged.append((b"k%d" % i, b"v" * 30))
            if i % 10 == 9:
                log.flush()
        log.close()

    assert crash_everywhere(tmp_path, SMALL, work) > 40


@pytest.mark.long
def test_a_death_at_any_step_of_compaction_loses_no_latest_value(tmp_path: Path) -> None:
    def work(log: PartitionLog, acknowledged: list[Acknowledged]) -> None:
        for i in range(30):
            put(log, (b"k%d" % (i % 4), b"v%d" % i + b"." * 30))
            acknowledged.append((b"k%d" % (i % 4), b"v%d" % i + b"." * 30))
        compact(log, NOW, force=True)
        assert len(records(log)) < 30

    assert crash_everywhere(tmp_path, COMPACT, work) > 40


def test_a_death_at_any_step_of_deletion_leaves_a_whole_log(tmp_path: Path) -> None:
    def work(log: PartitionLog, acknowledged: list[Acknowledged]) -> None:
        for i in range(20):
            put(log, (b"k%d" % i, b"v" * 30))
        log.delete_records(15)
        acknowledged += [(b"k%d" % i, b"v" * 30) for i in range(15, 20)]

    assert crash_everywhere(tmp_path, SMALL, work) > 20


def test_transactions_come_back_as_they_were(tmp_path: Path) -> None:
    random_source = random.Random(3)
    for round_number in range(12):
        directory = tmp_path / str(round_number)
        backend = open_backend(directory)
        log = open_log(backend)
        sequences = dict.fromkeys((1, 2, 3), 0)
        is_open = dict.fromkeys(sequences, False)
        for _ in range(random_source.randrange(10, 60)):
            producer = random_source.choice((1, 2, 3))
            if is_open[producer] and random_source.random() < 0.3:
                end(log, producer, 0, commit=random_source.random() < 0.5)
                is_open[producer] = False
            else:
                put(log, (b"k", b"v"), producer=(producer, 0, sequences[producer]), transactional=True)
                sequences[producer] += 1
                is_open[producer] = True
        expected = (log.last_stable_offset, log.aborted_transactions(0, log.log_end_offset), committed(log))
        abandon(backend)
        log = reopened(directory)
        assert (log.last_stable_offset, log.aborted_transactions(0, log.log_end_offset), committed(log)) == expected


# --- a failing medium -------------------------------------------------------------------------------------------------


def test_disk_backend_continues_short_writes(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    fs.short_writes = True
    backend = open_backend(tmp_path, fs)
    log = open_log(backend)
    for i in range(30):
        put(log, (b"k%d" % i, b"v" * 20))
    abandon(backend)
    assert [r.key for r in records(reopened(tmp_path))] == [b"k%d" % i for i in range(30)]


def test_a_full_disk_refuses_the_append_and_names_the_file(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    backend = open_backend(tmp_path, fs)
    log = open_log(backend, LogConfig())
    put(log, (b"a", b"1"))
    fs.refuse = full_after(0)
    with pytest.raises(StorageError, match=r"00000000000000000000\.log: No space left on device") as caught:
        put(log, (b"b", b"2"))
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert [r.key for r in records(log)] == [b"a"]
    fs.refuse = lambda call, path: None
    assert put(log, (b"c", b"3")).base_offset == 1
    abandon(backend)
    assert [r.key for r in records(reopened(tmp_path, LogConfig()))] == [b"a", b"c"]


def test_a_failed_sync_is_reported_and_tried_again(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    backend = open_backend(tmp_path, fs)
    log = open_log(backend)
    put(log)
    fs.refuse = lambda call, path: errno.EIO if call == "sync" and path.suffix == ".log" else None
    sync = log.begin_sync()
    assert sync is not None
    with pytest.raises(StorageError, match="Input/output error"):
        sync()
    fs.refuse = lambda call, path: None
    again = log.begin_sync()
    assert again is not None
    again()
    assert log.begin_sync() is None


def test_disk_backend_locks_its_directory(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    with pytest.raises(StorageError, match="another broker"):
        open_backend(tmp_path)
    backend.close()
    open_backend(tmp_path).close()


@pytest.mark.parametrize("name", ["recovery-point-offset-checkpoint", "log-start-offset-checkpoint"])
def test_kafka_and_we_do_without_these_checkpoints(kafka_log_dir: Path, name: str) -> None:
    (kafka_log_dir / name).write_bytes(b"\xff\xfe garbage")
    backend = open_backend(kafka_log_dir)
    assert name in backend.recovered[0]
    assert PartitionLog("d-seg", 0, LogConfig(), backend, now_ms=NOW).log_end_offset == 360


@pytest.mark.parametrize("name", ["meta.properties", "cleaner-offset-checkpoint", "replication-offset-checkpoint"])
def test_a_damaged_file_is_named(kafka_log_dir: Path, name: str) -> None:
    (kafka_log_dir / name).write_bytes(b"\xff\xfe garbage")
    with pytest.raises(StorageError, match=name):
        open_backend(kafka_log_dir)


def test_a_folder_with_the_name_of_a_segment_is_named(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend)
    put(log)
    log.close()
    (tmp_path / "t-0" / f"{9:020}.index").mkdir()
    with pytest.raises(StorageError, match=f"{9:020}.index"):
        open_log(backend)


def test_a_damaged_leader_epoch_file_fails_only_its_partition(kafka_log_dir: Path) -> None:
    (kafka_log_dir / "d-seg-0" / "leader-epoch-checkpoint").write_text("nonsense")
    backend = open_backend(kafka_log_dir)
    with pytest.raises(KafkaError, match="d-seg-0/leader-epoch-checkpoint"):
        PartitionLog("d-seg", 0, LogConfig(), backend, now_ms=NOW)
    assert PartitionLog("d-txn", 0, LogConfig(), backend, now_ms=NOW).log_end_offset == 55


def test_a_deleted_log_leaves_no_folder_and_no_checkpoint(tmp_path: Path) -> None:
    backend = open_backend(tmp_path)
    log = open_log(backend, LogConfig(file_delete_delay_ms=0))
    put(log)
    log.flush()
    log.delete()
    backend.close()
    assert not list(tmp_path.glob("t-0*"))
    assert "t 0" not in (tmp_path / RECOVERY_POINTS).read_text()


# --- many partitions --------------------------------------------------------------------------------------------------


def test_folders_of_new_partitions_become_durable_together_with_a_flush(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    backend = open_backend(tmp_path, fs)
    synced = []
    fs.refuse = lambda call, path: synced.append(path) if call == "sync_directory" else None
    logs = [PartitionLog("t", index, SMALL, backend, now_ms=NOW, topic_id=TOPIC_ID) for index in range(3)]
    assert synced == []
    put(logs[0])
    logs[0].flush()
    assert synced == [tmp_path / "t-0", tmp_path]
    logs[1].flush()
    assert synced[2:] == [tmp_path / "t-1"]
    backend.sync_rolls = True
    PartitionLog("t", 3, SMALL, backend, now_ms=NOW, topic_id=TOPIC_ID)
    assert synced[3:] == [tmp_path, tmp_path / "t-3"]


def test_snapshots_of_producers_go_with_what_they_are_of(tmp_path: Path) -> None:
    log = open_log(open_backend(tmp_path))
    for number in range(5):
        put(log, producer=(7, 0, number))
        log.roll(NOW)

    def snapshots() -> list[int]:
        return sorted(int(path.stem) for path in (tmp_path / "t-0").glob("*.snapshot"))

    assert snapshots() == [1, 2, 3, 4, 5]
    log.drop_oldest(2)
    assert snapshots() == [2, 3, 4, 5]
    log.truncate(4, now_ms=NOW)
    assert snapshots() == [2, 3, 4]


@pytest.mark.parametrize("durable", [True, False])
def test_checkpoints_are_synced_where_they_are_to_be_durable(tmp_path: Path, durable: bool) -> None:
    fs = FaultyFileSystem()
    backend = open_backend(tmp_path, fs)
    called: list[str] = []
    fs.refuse = lambda call, path: called.append(call)
    backend.set_offset(RECOVERY_POINTS, ("t", 0), 5)
    backend.write_checkpoints() if durable else backend.write_checkpoints(durable=False)
    assert ("sync" in called, "sync_directory" in called) == (durable, durable)
    called.clear()
    backend.write_checkpoints()
    assert called == []


def test_delete_syncs_nothing_of_what_it_removes(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    backend = open_backend(tmp_path, fs)
    log = open_log(backend)
    put(log)
    called = []
    fs.refuse = lambda call, path: called.append(call)
    log.delete()
    assert called == ["rename"]
    assert not backend.has_log("t", 0)


def test_a_deleted_topic_of_many_partitions_is_removed_in_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("odradek.storage.disk_backend._REMOVED_AT_ONCE", 2)
    now = NOW
    backend = DiskBackend(tmp_path, now_ms=lambda: now, fs=FaultyFileSystem())
    for index in range(5):
        (tmp_path / f"t-{index}").mkdir()
        backend.delete_log("t", index, 1000)
    assert backend.remove_due() == NOW + 1000
    now += 1000
    left = []
    while backend.remove_due() is not None:
        left.append(sum(path.name.endswith("-delete") for path in tmp_path.iterdir()))
    assert left == [3, 1]
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
