"""Where a snapshot keeps its files, and when they go."""

from __future__ import annotations

import errno
import gc
from pathlib import Path

import pytest

from odradek.broker.controller.machine import adopt
from odradek.broker.controller.snapshot_files import KeptLogs, remove_left
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_folders import MARK
from odradek.storage.partition_log import PartitionLog
from tests.fakes.durable import durable
from tests.fakes.file_system import FaultyFileSystem


def log_in(directory: Path, fs: FaultyFileSystem | None = None) -> PartitionLog:
    backend = DiskBackend(directory, now_ms=lambda: 0, fs=fs or FaultyFileSystem())
    log = PartitionLog("t", 0, LogConfig(), backend)
    log.append(build_batch([Record(0, 0, None, b"x")]), now_ms=0)
    return log


def test_the_files_lie_beside_each_log_directory_until_they_are_removed(tmp_path: Path) -> None:
    logs = [log_in(tmp_path / name) for name in ("a", "b")]
    kept = KeptLogs()
    copies = [kept.keep(log, bytes(16), 0) for log in logs]
    assert [copy.log_end_offset for copy in copies] == [1, 1]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"a", "a.odradek-snapshots", "b", "b.odradek-snapshots"}
    kept.remove()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_snapshot_files_are_temporary_where_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fs = FaultyFileSystem()
    log = log_in(tmp_path / "a", fs)
    (tmp_path / "a.odradek-snapshots").touch()
    kept = KeptLogs()
    copy = kept.keep(log, bytes(16), 0)
    assert copy.log_end_offset == 1
    assert len(list(tmp_path.glob("odradek-snapshot-*"))) == 1
    del kept
    gc.collect()  # the error that was met may hold it a little longer
    assert not list(tmp_path.glob("odradek-snapshot-*"))


def test_a_disk_that_takes_no_new_segment_has_no_snapshot(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    log = log_in(tmp_path / "a", fs)
    fs.refuse = lambda call, path: 28 if call == "create" else None
    with pytest.raises(StorageError, match="No space left"):
        KeptLogs().keep(log, bytes(16), 0)


def test_snapshot_files_of_a_dead_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / "a.odradek-snapshots" / "one" / "t-0").mkdir(parents=True)
    remove_left(tmp_path / "a")
    remove_left(tmp_path / "a")
    assert not list(tmp_path.iterdir())


# -- Logs that take the place of others when the metadata log says so; the whole way is in
# facade/state/test_disk_logs.


def test_a_mark_that_stays_by_mistake_never_counts(tmp_path: Path) -> None:
    """The metadata log takes nothing more, as it would come to the end that the mark names."""
    fs = FaultyFileSystem()
    cluster = durable(tmp_path, fs)
    cluster.open_directory()
    partition = cluster.create_topic("t", partitions=1).partitions[0]
    partition.append(build_batch([Record(0, 0, None, b"x")]), now_ms=0)
    kept = KeptLogs()
    copy = kept.keep(partition.log, partition.topic.topic_id, 0)
    assert cluster.directory is not None
    logs = cluster.directory.new_restored_logs()
    registration = cluster.image.topics["t"].partitions[0]
    assert logs.is_empty
    logs.add(copy, partition.topic.topic_id, registration)
    assert not logs.is_empty
    logs.begin(1)
    assert (tmp_path / MARK).exists()
    fs.refuse = lambda call, path: errno.EIO if path.name == MARK else None
    with pytest.raises(StorageError):
        logs.give_up()
    with pytest.raises(KafkaError, match="Input/output error"):
        cluster.controller.ask(adopt, [NoOpRecord()])


def test_once_the_records_are_written_nothing_is_given_up(tmp_path: Path) -> None:
    cluster = durable(tmp_path)
    cluster.open_directory()
    cluster.create_topic("t", partitions=1).partitions[0].open()
    assert cluster.directory is not None
    logs = cluster.directory.new_restored_logs()
    logs.drop(("t", 0))
    logs.begin(1)
    cluster.controller.ask(adopt, [NoOpRecord()])
    logs.give_up()
    assert (tmp_path / MARK).exists()
    cluster.topics.by_name("t").partitions[0].let_go()
    logs.execute()
    assert not (tmp_path / MARK).exists()
    assert not (tmp_path / "t-0").exists()
