"""The files beside a streaming query's checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def folder(spark: Any, tmp_path: Path) -> Any:
    from odradek.pipeline.jobs.state_folder import StateFolder

    return StateFolder(spark, f"{tmp_path}/state/")


def test_state_folder_reads_what_was_written(folder: Any) -> None:
    folder.write_json("batches/1.json", {"now_ms": 5, "text": "\u00e9"})
    assert folder.exists("batches/1.json")
    assert folder.read_json("batches/1.json") == {"now_ms": 5, "text": "\u00e9"}
    assert folder.read_text("batches/1.json") == '{"now_ms": 5, "text": "\\u00e9"}'


def test_a_file_is_replaced_and_leaves_nothing_beside_it(folder: Any) -> None:
    folder.write_json("a.json", {"n": 1})
    folder.write_json("a.json", {"n": 2})
    assert folder.read_json("a.json") == {"n": 2}
    assert [name for name in folder.names("") if not name.startswith(".")] == ["a.json"]


def test_state_folder_reads_none_where_nothing_is(folder: Any) -> None:
    assert not folder.exists("absent")
    assert folder.names("absent") == []
    assert folder.read_text("absent") is None
    assert folder.read_json("absent") is None


def test_state_folder_lists_and_deletes_names(folder: Any) -> None:
    for name in ("b", "a"):
        folder.write_json(f"minutes/{name}", {})
    assert [name for name in folder.names("minutes") if not name.startswith(".")] == ["a", "b"]
    folder.delete("minutes")
    assert folder.names("minutes") == []
    folder.delete("minutes")


def test_a_batch_that_was_cut_off_is_seen(spark: Any, tmp_path: Path) -> None:
    from odradek.pipeline.jobs.state_folder import StateFolder, has_unfinished_batch

    folder = StateFolder(spark, str(tmp_path))
    assert not has_unfinished_batch(spark, str(tmp_path))
    for name, unfinished in (("offsets/9", True), ("commits/9", False), ("offsets/10", True), ("commits/10", False)):
        folder.write_json(name, {})
        assert has_unfinished_batch(spark, str(tmp_path)) is unfinished
