"""The metadata log on disk: Kafka's files, epochs, snapshots, and what is dropped when."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from odradek.broker.cluster import Cluster
from odradek.broker.controller.disk_metadata_log import FOLDER, TOPIC_ID, DiskMetadataLog
from odradek.broker.controller.topic_control import NewTopic, create_topics
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.metadata_batch import KRaftControl, control_messages
from odradek.protocol.record_batch import RecordBatch, iter_batches
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import PARTITION_METADATA, parse_partition_metadata
from odradek.storage.file_system import FileSystem
from odradek.storage.metadata_snapshot import parse_snapshot_name, read_metadata_snapshot
from odradek.storage.quorum_state import read_quorum_state
from tests.fakes.durable import opened
from tests.fakes.images import picture

OFTEN = {"metadata.log.max.record.bytes.between.snapshots": "1000"}


def log_of(cluster: Cluster) -> DiskMetadataLog:
    log = cluster.controller.log
    assert isinstance(log, DiskMetadataLog)
    return log


def batches(directory: Path) -> list[RecordBatch]:
    return list(iter_batches((directory / FOLDER / "00000000000000000000.log").read_bytes()))


def snapshots(directory: Path) -> list[str]:
    return sorted(path.name for path in (directory / FOLDER).glob("*.checkpoint"))


def test_the_first_epoch_founds_the_quorum(tmp_path: Path) -> None:
    opened(tmp_path).close_logs()
    first = batches(tmp_path)[0]
    messages: list[KRaftControl] = list(control_messages(first))
    assert [type(message) for message in messages] == [LeaderChangeMessage, KRaftVersionRecord, VotersRecord]
    assert (first.partition_leader_epoch, first.producer_id) == (1, -1)
    assert parse_partition_metadata((tmp_path / FOLDER / PARTITION_METADATA).read_bytes()) == TOPIC_ID
    founding = read_metadata_snapshot(FileSystem(), tmp_path / FOLDER / snapshots(tmp_path)[0])
    assert (founding.kraft_version, founding.records) == (1, [])
    assert founding.voters is not None
    assert [voter.voter_id for voter in founding.voters.voters] == [1]


def test_each_start_is_an_epoch(tmp_path: Path) -> None:
    for epoch in (1, 2, 3):
        cluster = opened(tmp_path)
        assert log_of(cluster).leader_epoch == epoch
        assert cluster.image.epoch == epoch
        cluster.close_logs()
        state = read_quorum_state(FileSystem(), tmp_path / FOLDER)
        assert state is not None
        assert (state.leader_epoch, state.leader_id, state.version) == (epoch, 1, 1)
    leaders = [batch for batch in batches(tmp_path) if batch.is_control]
    assert [batch.partition_leader_epoch for batch in leaders] == [1, 2, 3]
    assert [len(list(control_messages(batch))) for batch in leaders] == [3, 1, 1]


def test_a_snapshot_stands_for_the_log_before_it(tmp_path: Path) -> None:
    cluster = opened(tmp_path, OFTEN)
    for number in range(40):
        cluster.create_topic(f"t{number}", configs={"retention.ms": "5"})
    taken = [parse_snapshot_name(name) for name in snapshots(tmp_path)]
    assert len(taken) > 3
    newest = taken[-1]
    assert newest is not None
    assert newest.epoch == 1
    content = read_metadata_snapshot(FileSystem(), tmp_path / FOLDER / newest.file_name)
    assert (content.kraft_version, content.voters is not None) == (1, True)
    assert content.last_contained_log_timestamp > 0
    cluster.close_logs()
    before = picture(cluster.image)
    again = opened(tmp_path, OFTEN)
    assert picture(again.image)["ids"] == before["ids"]
    assert picture(again.image)["configs"] == before["configs"]
    again.close_logs()


@pytest.mark.trio
async def test_metadata_snapshot_lets_other_tasks_run(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    log = log_of(cluster)
    steps: list[int] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log.write_snapshots)
        await wait_all_tasks_blocked()
        cluster.controller.ask(create_topics, [NewTopic(f"t{number}", 1) for number in range(3000)])
        cluster.clock.freeze()
        cluster.clock.advance(hours=1)
        cluster.create_topic("last")
        assert log._under_way is not None
        parts = log._under_way.parts
        cluster.create_topic("behind")
        while log._under_way is not None:
            steps.append(len(parts))
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert len(parts) > 10
    assert max(after - before for before, after in itertools.pairwise(steps)) <= 2
    snapshot = parse_snapshot_name(snapshots(tmp_path)[-1])
    assert snapshot is not None
    content = read_metadata_snapshot(FileSystem(), tmp_path / FOLDER / snapshot.file_name)
    names = {record.name for record in content.records if isinstance(record, TopicRecord)}
    assert names == {*(f"t{number}" for number in range(3000)), "last"}
    cluster.close_logs()
    again = opened(tmp_path)
    assert set(again.image.topics) == {*names, "behind"}
    again.close_logs()


@pytest.mark.trio
async def test_a_clean_end_finishes_the_snapshot_under_way(tmp_path: Path) -> None:
    cluster = opened(tmp_path, OFTEN)
    before = snapshots(tmp_path)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(log_of(cluster).write_snapshots)
        await wait_all_tasks_blocked()
        cluster.controller.ask(create_topics, [NewTopic(f"t{number}", 1) for number in range(100)])
        assert snapshots(tmp_path) == before
        nursery.cancel_scope.cancel()
    assert snapshots(tmp_path) == before
    cluster.close_logs()
    assert len(snapshots(tmp_path)) == len(before) + 1


def test_time_makes_a_snapshot_due(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("a")
    assert len(snapshots(tmp_path)) == 1
    cluster.clock.freeze()
    cluster.clock.advance(hours=1)
    cluster.create_topic("b")
    assert len(snapshots(tmp_path)) == 2
    cluster.close_logs()


def test_old_snapshots_go_with_the_log_before_the_next(tmp_path: Path) -> None:
    cluster = opened(tmp_path, {**OFTEN, "metadata.max.retention.bytes": "0"})
    for number in range(40):
        cluster.create_topic(f"t{number}")
    assert len(snapshots(tmp_path)) == 1
    newest = parse_snapshot_name(snapshots(tmp_path)[0])
    assert newest is not None
    assert log_of(cluster).start_offset == newest.end_offset
    cluster.close_logs()
    again = opened(tmp_path)
    assert len(again.image.topics) == 40
    again.close_logs()


def test_a_log_that_begins_late_needs_its_snapshot(tmp_path: Path) -> None:
    cluster = opened(tmp_path, {**OFTEN, "metadata.max.retention.bytes": "0"})
    for number in range(40):
        cluster.create_topic(f"t{number}")
    cluster.close_logs()
    for name in snapshots(tmp_path):
        (tmp_path / FOLDER / name).unlink()
    with pytest.raises(StorageError, match="no snapshot covers"):
        opened(tmp_path)


def test_a_damaged_snapshot_is_named(tmp_path: Path) -> None:
    cluster = opened(tmp_path, OFTEN)
    for number in range(10):
        cluster.create_topic(f"t{number}")
    cluster.close_logs()
    newest = tmp_path / FOLDER / snapshots(tmp_path)[-1]
    newest.chmod(0o600)
    newest.write_bytes(newest.read_bytes()[:-10])
    with pytest.raises(StorageError, match=newest.name):
        opened(tmp_path)


def test_a_snapshot_alone_is_a_cluster(tmp_path: Path) -> None:
    cluster = opened(tmp_path, OFTEN)
    for number in range(10):
        cluster.create_topic(f"t{number}")
    cluster.close_logs()
    kept = tmp_path / FOLDER / snapshots(tmp_path)[-1]
    for path in (tmp_path / FOLDER).iterdir():
        if path != kept:
            path.unlink()
    again = opened(tmp_path)
    assert len(again.image.topics) == 10
    newest = parse_snapshot_name(kept.name)
    assert newest is not None
    assert log_of(again).start_offset == newest.end_offset
    again.create_topic("later")
    again.close_logs()
    third = opened(tmp_path)
    assert "later" in third.image.topics
    third.close_logs()


def test_a_torn_tail_is_cut(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("a")
    cluster.create_topic("b")
    cluster.close_logs()
    (tmp_path / ".kafka_cleanshutdown").unlink()
    path = tmp_path / FOLDER / "00000000000000000000.log"
    data = path.read_bytes()
    path.write_bytes(data + data[-50:])
    again = opened(tmp_path)
    assert set(again.image.topics) == {"a", "b"}
    again.close_logs()


def test_damage_inside_a_log_that_was_closed_cleanly_is_named(tmp_path: Path) -> None:
    cluster = opened(tmp_path)
    cluster.create_topic("orders")
    cluster.create_topic("later")
    cluster.close_logs()
    path = tmp_path / FOLDER / "00000000000000000000.log"
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"orders")] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StorageError, match=rf"{path.name}: the batch at offset \d+ has a wrong checksum"):
        opened(tmp_path)
    assert path.read_bytes() == damaged
