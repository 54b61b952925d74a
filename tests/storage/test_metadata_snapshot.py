"""Snapshots of the cluster's metadata: Kafka's read and rewritten, ours whole after a crash at every call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.protocol.errors import CorruptDataError, ErrorCode, ProtocolError
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.topic_record import TopicRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.json_form import to_json
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_batch import MAX_BATCH_BYTES
from odradek.protocol.metadata_records import record_version
from odradek.protocol.record_batch import iter_batches
from odradek.storage.backend import StorageError
from odradek.storage.file_system import FileSystem
from odradek.storage.metadata_snapshot import (
    MetadataSnapshot,
    SnapshotId,
    format_metadata_snapshot,
    newest_snapshot,
    parse_metadata_snapshot,
    parse_snapshot_name,
    read_metadata_snapshot,
    snapshot_batches,
    write_metadata_snapshot,
)
from tests.fakes.file_system import Crash, FaultyFileSystem, full_after
from tests.protocol.metadata_logs import SNAPSHOTS, dumped_records, metadata_file

NOW = 1_800_000_000_000
OLD = MetadataSnapshot([TopicRecord("old", bytes(16))])
NEW = MetadataSnapshot([TopicRecord("new", bytes(16)), FeatureLevelRecord("metadata.version", 30)])
BOOTSTRAP = "static/bootstrap.checkpoint"
STATIC, EMPTY, DYNAMIC = SNAPSHOTS


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_metadata_snapshot_of_kafka_is_read(name: str) -> None:
    snapshot = parse_metadata_snapshot(metadata_file(name))
    expected = [payload["data"] for _, payload in dumped_records(name) if "type" in payload]
    assert [to_json(record, record_version(record)) for record in snapshot.records] == expected
    header = dumped_records(name)[0][1]["SnapshotHeader"]
    assert snapshot.last_contained_log_timestamp == header["lastContainedLogTimestamp"]


def test_the_voters_of_a_dynamic_quorum() -> None:
    snapshot = parse_metadata_snapshot(metadata_file(EMPTY))
    assert (snapshot.kraft_version, snapshot.records) == (1, [])
    assert snapshot.voters is not None
    assert [voter.voter_id for voter in snapshot.voters.voters] == [0]
    static = parse_metadata_snapshot(metadata_file(STATIC))
    assert (static.kraft_version, static.voters) == (0, None)


@pytest.mark.parametrize("name", [*SNAPSHOTS, BOOTSTRAP])
def test_writes_the_batches_that_kafka_writes(name: str) -> None:
    """All but the times of writing, of which each batch of Kafka's has its own."""
    original = metadata_file(name)
    found = parse_snapshot_name(Path(name).name) or SnapshotId(0, 0)
    written = format_metadata_snapshot(parse_metadata_snapshot(original), epoch=found.epoch, now_ms=NOW)
    assert len(written) == len(original)
    pairs = list(zip(iter_batches(written), iter_batches(original), strict=True))
    assert len(pairs) == (2 if name == EMPTY else 3)
    for ours, kafkas in pairs:
        assert ours.body() == kafkas.body()
        assert (ours.base_offset, ours.last_offset, ours.attributes) == (
            kafkas.base_offset,
            kafkas.last_offset,
            kafkas.attributes,
        )
        assert (ours.partition_leader_epoch, ours.base_timestamp, ours.producer_id) == (found.epoch, NOW, -1)
        assert ours.is_crc_valid


def test_bootstrap_checkpoint_of_kafka_is_read() -> None:
    records = list(parse_metadata_snapshot(metadata_file(BOOTSTRAP)).records)
    assert records[0] == FeatureLevelRecord("metadata.version", 30)
    assert len(records) == 6


def test_a_large_snapshot_has_many_batches() -> None:
    records = [ConfigRecord(2, f"topic-{number}", "retention.ms", "1" * 1000) for number in range(3000)]
    data = format_metadata_snapshot(MetadataSnapshot([*records]), epoch=1, now_ms=NOW)
    batches = list(iter_batches(data))
    assert len(batches) == 2 + 97  # 31 records of 1,048 bytes are less than 32 KiB; a header and a footer
    assert all(batch.size_bytes < MAX_BATCH_BYTES for batch in batches)
    assert [batch.base_offset for batch in batches[1:]] == [batch.next_offset for batch in batches[:-1]]
    assert parse_metadata_snapshot(data).records == records


def test_each_batch_takes_only_the_records_that_it_needs() -> None:
    taken = 0

    def records() -> Iterator[MetadataRecord]:
        nonlocal taken
        for number in range(100):
            taken += 1
            yield ConfigRecord(2, f"topic-{number}", "retention.ms", "1" * 1000)

    steps = []
    for _ in snapshot_batches(MetadataSnapshot(records()), epoch=1, now_ms=NOW):
        steps.append(taken)
    assert steps == [0, 32, 63, 94, 100, 100]


def test_a_snapshot_with_its_voters_comes_back() -> None:
    snapshot = MetadataSnapshot([TopicRecord("t", bytes(16))], 77, 1, VotersRecord())
    assert parse_metadata_snapshot(format_metadata_snapshot(snapshot, epoch=3, now_ms=NOW)) == snapshot
    without = MetadataSnapshot([TopicRecord("t", bytes(16))], 77, 1)
    assert parse_metadata_snapshot(format_metadata_snapshot(without, epoch=3, now_ms=NOW)) == without


# --- names ------------------------------------------------------------------------------------------------------------


def test_metadata_snapshot_names_are_written_and_read() -> None:
    name = "00000000000000000158-0000000005.checkpoint"
    assert parse_snapshot_name(name) == SnapshotId(158, 5)
    assert SnapshotId(158, 5).file_name == name
    for other in ("quorum-state", name + ".tmp", name + ".deleted", "158-5.checkpoint", "bootstrap.checkpoint"):
        assert parse_snapshot_name(other) is None


def test_newest_metadata_snapshot_is_found(tmp_path: Path) -> None:
    assert newest_snapshot(tmp_path) is None
    for name in ("00000000000000000158-0000000005.checkpoint", "00000000000000000020-0000000006.checkpoint", "x"):
        (tmp_path / name).touch()
    (tmp_path / "00000000000000000900-0000000005.checkpoint.part").touch()
    assert newest_snapshot(tmp_path) == SnapshotId(158, 5)


# --- damage -----------------------------------------------------------------------------------------------------------


def damaged(name: str) -> dict[str, tuple[bytes, str]]:
    whole = metadata_file(name)
    header, data, footer = (bytes(batch.data) for batch in iter_batches(whole))
    return {
        "empty": (b"", "ends without its footer"),
        "no footer": (header + data, "ends without its footer"),
        "cut off": (whole[:-1], "is cut off"),
        "half a batch header": (header + data[:30], "is cut off"),
        "no header": (data + footer, "does not begin with its header"),
        "batch behind the footer": (whole + footer, "follows the footer"),
        "zeros behind the footer": (whole + bytes(100), "claims 0 bytes"),
        "flipped bit": (header + data[:-1] + bytes([data[-1] ^ 1]) + footer, "checksum"),
    }


@pytest.mark.parametrize("kind", damaged(STATIC))
def test_a_damaged_snapshot_is_refused(tmp_path: Path, kind: str) -> None:
    data, message = damaged(STATIC)[kind]
    with pytest.raises((ProtocolError, CorruptDataError), match=message):
        parse_metadata_snapshot(data)
    path = tmp_path / "00000000000000000158-0000000005.checkpoint"
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"158-0000000005\.checkpoint: ") as caught:
        read_metadata_snapshot(FileSystem(), path)
    assert (caught.value.code, caught.value.path) == (ErrorCode.KAFKA_STORAGE_ERROR, str(path))


def test_metadata_snapshot_that_is_cut_is_refused() -> None:
    whole = metadata_file(EMPTY)
    for size in range(len(whole)):
        with pytest.raises((ProtocolError, CorruptDataError)):
            parse_metadata_snapshot(whole[:size])


# --- crashes ----------------------------------------------------------------------------------------------------------


def test_a_crash_leaves_the_snapshot_whole_or_absent(tmp_path: Path) -> None:
    stop = 0
    while True:
        folder = tmp_path / str(stop)
        folder.mkdir()
        write_metadata_snapshot(FileSystem(), folder, SnapshotId(10, 1), OLD, now_ms=NOW)
        fs = FaultyFileSystem(stop_at=stop)
        try:
            path = write_metadata_snapshot(fs, folder, SnapshotId(20, 2), NEW, now_ms=NOW)
        except Crash:
            newest = newest_snapshot(folder)
            assert newest is not None
            kept = read_metadata_snapshot(FileSystem(), folder / newest.file_name)
            assert kept == (OLD if newest == SnapshotId(10, 1) else NEW)
            stop += 1
            continue
        assert (newest_snapshot(folder), read_metadata_snapshot(fs, path)) == (SnapshotId(20, 2), NEW)
        break
    assert stop == fs.calls >= 4


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    fs = FaultyFileSystem()
    fs.refuse = full_after(0)
    with pytest.raises(StorageError, match="No space left"):
        write_metadata_snapshot(fs, tmp_path, SnapshotId(20, 2), NEW, now_ms=NOW)
    assert newest_snapshot(tmp_path) is None
