"""``odradek dump``: its output, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import odradek
from odradek.__main__ import main
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    path = tmp_path / "orders-0" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(build_batch([Record(0, 5, b"k", b"v", ())]))
    return path


def test_batches_and_records_as_json(segment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "--json", str(segment)]) == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [batch] = [item for item in items if item["kind"] == "batch"]
    assert batch["valid"] is True
    [record] = [item for item in items if item["kind"] == "record"]
    assert (record["offset"], record["timestamp"]) == (0, 5)


def test_text_has_a_line_for_each_item(segment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "--json", str(segment)]) == 0
    items = capsys.readouterr().out.splitlines()
    assert main(["dump", str(segment)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(items)


def test_damage_is_shown_and_gives_status_1(segment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(segment.read_bytes())
    data[-1] ^= 1
    segment.write_bytes(data)
    assert main(["dump", "--json", str(segment)]) == 1
    assert '"valid": false' in capsys.readouterr().out
    segment.write_bytes(bytes(200))
    assert main(["dump", "--json", str(segment)]) == 1
    assert '"kind": "error"' in capsys.readouterr().out


def test_a_directory_of_a_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with odradek.KafkaBroker(data_dir=tmp_path / "data", topics={"orders": 1}):
        pass
    assert main(["dump", str(tmp_path / "data")]) == 0
    assert "__cluster_metadata-0" in capsys.readouterr().out


def test_a_path_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", str(tmp_path / "absent")]) == 2
    assert capsys.readouterr().err == f"odradek dump: {tmp_path / 'absent'}: no such file or directory\n"


def test_a_directory_without_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("not a log")
    assert main(["dump", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"odradek dump: {tmp_path}: no files of a Kafka log directory here\n"
