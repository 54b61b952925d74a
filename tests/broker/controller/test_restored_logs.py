"""Logs that take the place of others when the metadata log says so; the whole way is in facade/state/test_disk_logs."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from odradek.broker.controller.commands import Adopt
from odradek.broker.controller.snapshot_files import KeptLogs
from odradek.protocol.errors import KafkaError
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.restored_folders import MARK
from tests.fakes.durable import durable
from tests.fakes.file_system import FaultyFileSystem


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
        cluster.controller.ask(Adopt([NoOpRecord()]))


def test_once_the_records_are_written_nothing_is_given_up(tmp_path: Path) -> None:
    cluster = durable(tmp_path)
    cluster.open_directory()
    cluster.create_topic("t", partitions=1).partitions[0].open()
    assert cluster.directory is not None
    logs = cluster.directory.new_restored_logs()
    logs.drop(("t", 0))
    logs.begin(1)
    cluster.controller.ask(Adopt([NoOpRecord()]))
    logs.give_up()
    assert (tmp_path / MARK).exists()
    cluster.topics.by_name("t").partitions[0].let_go()
    logs.carry_out()
    assert not (tmp_path / MARK).exists()
    assert not (tmp_path / "t-0").exists()
