"""The folder of `__cluster_metadata-0` as a partition's log: Kafka's is opened, and its other files are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.protocol.generated.metadata_records.broker_registration_change_record import BrokerRegistrationChangeRecord
from odradek.protocol.metadata_batch import metadata_records
from odradek.protocol.record_batch import iter_batches
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.log_config import LogConfig
from odradek.storage.metadata_snapshot import SnapshotId, newest_snapshot
from odradek.storage.partition_log import PartitionLog
from odradek.storage.quorum_state import QUORUM_STATE, read_quorum_state
from tests.protocol.metadata_logs import LOG, metadata_file
from tests.storage.logs import NOW

TOPIC = "__cluster_metadata"
TOPIC_ID = (1).to_bytes(16, "big")
SNAPSHOT = "00000000000000000158-0000000005.checkpoint"
KEPT = (LOG, SNAPSHOT, QUORUM_STATE, "partition.metadata", "leader-epoch-checkpoint")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / f"{TOPIC}-0"
    folder.mkdir()
    for name in KEPT:
        (folder / name).write_bytes(metadata_file(f"static/{name}"))
    (tmp_path / "meta.properties").write_bytes(metadata_file("static/meta.properties"))
    return folder


def test_kafkas_metadata_log_is_a_log(folder: Path) -> None:
    backend = DiskBackend(folder.parent, now_ms=lambda: NOW)
    log = PartitionLog(TOPIC, 0, LogConfig(), backend, now_ms=NOW, topic_id=TOPIC_ID)
    assert (log.log_start_offset, log.log_end_offset) == (0, 183)
    batches = [batch for batch in iter_batches((folder / LOG).read_bytes()) if not batch.is_control]
    last = list(metadata_records(batches[-1]))
    assert last == [BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=158, fenced=1)]
    log.close()
    backend.close()
    assert backend.recovered == []
    for name in KEPT:
        assert (folder / name).read_bytes() == metadata_file(f"static/{name}")


def test_its_other_files_are_found(folder: Path) -> None:
    backend = DiskBackend(folder.parent, now_ms=lambda: NOW)
    state = read_quorum_state(backend.fs, folder)
    assert state is not None
    assert (newest_snapshot(folder), state.leader_epoch) == (SnapshotId(158, 5), 5)
    assert backend.partitions() == {}
    backend.close()
