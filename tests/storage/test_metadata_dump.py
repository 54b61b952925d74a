"""`odradek dump` of the metadata log and its snapshots, against what Kafka's own tool printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odradek.protocol.metadata_batch import build_value_batch
from odradek.storage.dump import dump, render_text
from odradek.storage.metadata_dump import type_name
from odradek.storage.metadata_snapshot import parse_snapshot_name
from tests.protocol.metadata_logs import LOGS, SNAPSHOTS, metadata_file

SECRETS = re.compile(r'"(salt|storedKey|serverKey)":"[^"]+"')
BATCH_LINES = ("baseOffset:", "| offset:")


def unpacked(folder: Path, name: str) -> Path:
    path = folder / "__cluster_metadata-0" / Path(name).name
    path.parent.mkdir()
    path.write_bytes(metadata_file(name))
    return path


@pytest.mark.parametrize("name", [*LOGS, *SNAPSHOTS])
def test_prints_what_kafkas_own_tool_prints(tmp_path: Path, name: str) -> None:
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
    assert (record["value"], record["error"]) == ("016300", "99 is no type of a metadata record")


def test_names_of_types() -> None:
    assert type_name("NoOpRecord") == "NO_OP_RECORD"
    assert type_name("ClearElrRecord") == "CLEAR_ELR_RECORD"
