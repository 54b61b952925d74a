"""`odradek dump` of the metadata log and its snapshots, against what Kafka's own tool printed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey, ShareSnapshotValue, StateBatch
from odradek.protocol.generated.stored.share_update import ShareUpdateKey, ShareUpdateValue
from odradek.protocol.metadata_batch import build_value_batch
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.protocol.stored import encode_record_key, encode_record_value
from odradek.storage.dump import dump, render_text, type_name
from odradek.storage.metadata_snapshot import parse_snapshot_name
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, metadata_file

KINDS = ("log", "index", "timeindex", "txnindex", "snapshot")


def lines(folder: Path, kind: str) -> list[str]:
    return [render_text(item) for path in sorted(folder.glob(f"*.{kind}")) for item in dump(path)]


def recorded(path: Path) -> list[str]:
    """The tool's lines without its remark that offsets of different files are not consecutive."""
    text = path.read_text().splitlines()
    cut = next((i for i, line in enumerate(text) if line.startswith("Non-consecutive")), len(text))
    return text[:cut]


@pytest.mark.parametrize("kind", KINDS)
def test_prints_what_kafkas_own_tool_prints(kafka_log_dir: Path, kafka_dump: Path, kind: str) -> None:
    compared = 0
    for expected in sorted(kafka_dump.glob(f"*/{kind}.txt")):
        assert lines(kafka_log_dir / expected.parent.name, kind) == recorded(expected), expected
        compared += 1
    assert compared >= 1


def test_a_torn_batch_is_named_with_its_position(kafka_log_dir: Path) -> None:
    segment = kafka_log_dir / "d-codecs-0" / "00000000000000000000.log"
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-10])
    items = list(dump(segment))
    last_position = [item["position"] for item in items if item["kind"] == "batch"][-1]
    error = items[-1]
    assert error["kind"] == "error"
    assert error["position"] > last_position
    assert "not a whole batch" in error["error"]


def test_a_flipped_bit_makes_the_batch_invalid(kafka_log_dir: Path) -> None:
    segment = kafka_log_dir / "d-codecs-0" / "00000000000000000000.log"
    data = bytearray(segment.read_bytes())
    data[400] ^= 1
    segment.write_bytes(data)
    batches = [item for item in dump(segment) if item["kind"] == "batch"]
    assert [batch["valid"] for batch in batches].count(False) == 1


def test_a_directory_is_dumped_whole_and_strange_files_are_passed_over(kafka_log_dir: Path) -> None:
    (kafka_log_dir / "notes.md").write_text("not a log")
    items = list(dump(kafka_log_dir))
    files = {item["path"] for item in items if item["kind"] == "file"}
    assert "d-txn-0/00000000000000000005.txnindex" in files
    assert "logdir/recovery-point-offset-checkpoint" in files
    assert not [item for item in items if item["kind"] == "error"]


def test_a_file_that_is_no_log_is_an_error_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("not a log")
    assert [item["kind"] for item in dump(path)] == ["error"]


def test_a_damaged_snapshot_is_an_error(kafka_log_dir: Path) -> None:
    path = kafka_log_dir / "d-txn-0" / "00000000000000000055.snapshot"
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    (item,) = [item for item in dump(path) if item["kind"] == "error"]
    assert "checksum" in item["error"]


def test_records_of_the_share_coordinator_are_decoded(tmp_path: Path) -> None:
    topic_id = bytes(15) + b"\1"
    snapshot = ShareSnapshotValue(snapshot_epoch=1, start_offset=5, state_batches=[StateBatch(5, 9, 2, 1)])
    records = [
        Record(0, 0, encode_record_key(ShareSnapshotKey("g", topic_id, 3)), encode_record_value(snapshot, 0), ()),
        Record(
            1, 0, encode_record_key(ShareUpdateKey("g", topic_id, 3)), encode_record_value(ShareUpdateValue(1), 0), ()
        ),
        Record(2, 0, encode_record_key(ShareSnapshotKey("g", topic_id, 3)), None, ()),
    ]
    folder = tmp_path / "__share_group_state-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(build_batch(records))
    first, second, third = (item for item in dump(folder) if item["kind"] == "record")
    assert first["key"] == {"type": "0", "data": {"groupId": "g", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "partition": 3}}
    assert first["value"]["version"] == "0"
    assert first["value"]["data"]["startOffset"] == 5
    assert first["value"]["data"]["stateBatches"] == [
        {"firstOffset": 5, "lastOffset": 9, "deliveryState": 2, "deliveryCount": 1}
    ]
    assert second["key"]["type"] == "1"
    assert second["value"]["data"]["snapshotEpoch"] == 1
    assert third["value"] is None


SECRETS = re.compile(r'"(salt|storedKey|serverKey)":"[^"]+"')
BATCH_LINES = ("baseOffset:", "| offset:")


def unpacked(folder: Path, name: str) -> Path:
    path = folder / "__cluster_metadata-0" / Path(name).name
    path.parent.mkdir()
    path.write_bytes(metadata_file(name))
    return path


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_prints_metadata_as_kafkas_own_tool_does(tmp_path: Path, name: str) -> None:
    lines = [render_text(item) for item in dump(unpacked(tmp_path, name))]
    batches = [line for line in lines if line.startswith(BATCH_LINES)]
    printed = metadata_file(f"{name}.dump").decode()
    assert batches == SECRETS.sub(r'"\1":"[hidden]"', printed).splitlines()
    assert len(lines) == len(batches) + 2


def test_a_snapshot_says_where_it_ends(tmp_path: Path) -> None:
    name = SNAPSHOTS[0]
    _, second, *_ = dump(unpacked(tmp_path, name))
    assert parse_snapshot_name(Path(name).name) == (second["end_offset"], second["epoch"]) == (158, 5)
    assert render_text(second) == "Snapshot end offset: 158, epoch: 5"


def test_the_folder_is_shown_whole(tmp_path: Path) -> None:
    unpacked(tmp_path, SNAPSHOTS[0])
    (tmp_path / "__cluster_metadata-0" / "quorum-state").write_bytes(metadata_file("static/quorum-state"))
    (tmp_path / "bootstrap.checkpoint").write_bytes(metadata_file("static/bootstrap.checkpoint"))
    items = list(dump(tmp_path))
    assert {"kind": "line", "text": metadata_file("static/quorum-state").decode()} in items
    shown = [item["value"]["type"] for item in items if item["kind"] == "record" and "value" in item]
    assert (shown[-6:], len(shown)) == (["FEATURE_LEVEL_RECORD"] * 6, 43 + 6)
    assert not [item for item in items if item["kind"] == "error"]


def test_a_record_that_is_none_is_shown_with_its_error(tmp_path: Path) -> None:
    path = unpacked(tmp_path, LOGS[0])
    path.write_bytes(build_value_batch([b"\x01\x63\x00"], timestamp=5))
    record = list(dump(path))[-1]
    assert (record["value"], record["error"]) == ("016300", "99 is not a type of metadata record")


def test_dump_names_types_of_metadata_records() -> None:
    assert type_name("NoOpRecord") == "NO_OP_RECORD"
    assert type_name("ClearElrRecord") == "CLEAR_ELR_RECORD"


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    os.mkfifo(folder / f"{0:020d}.log")
    (folder / "partition.metadata").symlink_to("/etc/hostname")
    (folder / "leader-epoch-checkpoint").touch()
    os.truncate(folder / "leader-epoch-checkpoint", 20 << 30)
    (tmp_path / "u-0").symlink_to("/")
    assert [(item["path"], item["error"]) for item in dump(tmp_path)] == [
        (f"t-0/{0:020d}.log", "is a named pipe, and has to be a file"),
        ("t-0/leader-epoch-checkpoint", "has 21474836480 bytes, more than 67108864"),
        ("t-0/partition.metadata", "is a symbolic link, and has to be a file"),
    ]
