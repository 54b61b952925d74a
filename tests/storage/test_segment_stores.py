"""The files of a segment: made, found again, renamed, removed."""

from __future__ import annotations

from pathlib import Path

from odradek.protocol.record_batch import Record, build_batch
from odradek.storage.formats.segment_files import AbortedTxn
from odradek.storage.segment_stores import DiskSegmentStores
from tests.fakes.file_system import FaultyFileSystem

FS = FaultyFileSystem()


def stores(directory: Path, *, size: int | None = None, suffix: str = "") -> DiskSegmentStores:
    return DiskSegmentStores(FS, directory, 42, 1000, size=size, suffix=suffix)


def names(directory: Path) -> set[str]:
    return {path.name.removeprefix(f"{42:020d}") for path in directory.iterdir()}


def test_a_new_segment_has_an_empty_log(tmp_path: Path) -> None:
    (tmp_path / f"{42:020d}.log").write_bytes(b"what a crash left")
    made = stores(tmp_path)
    assert (made.batches.size, made.base_offset) == (0, 42)
    assert (tmp_path / f"{42:020d}.log").read_bytes() == b""
    made.close()
    assert names(tmp_path) == {".log", ".index", ".timeindex"}


def test_all_files_go_to_another_name_and_work_on(tmp_path: Path) -> None:
    made = stores(tmp_path, suffix=".cleaned")
    made.batches.append(build_batch([Record(0, 0, None, b"v")]), 42, 0)
    made.offset_index.append(42, 0)
    made.txn_index.append(AbortedTxn(1, 42, 43, 44))
    made.txn_index.flush()
    assert names(tmp_path) == {".log.cleaned", ".txnindex.cleaned"}
    renamed = made.rename(".swap")
    assert {path.name for path in renamed} == {path.name for path in tmp_path.iterdir()}
    assert made.rename("")[-1].name.endswith(".log")  # the last, as it tells what was finished
    made.close()
    assert names(tmp_path) == {".log", ".index", ".timeindex", ".txnindex"}
    again = stores(tmp_path, size=(tmp_path / f"{42:020d}.log").stat().st_size)
    assert again.batches.size == made.batches.size
    assert again.txn_index.entries() == [AbortedTxn(1, 42, 43, 44)]
    again.forget_indexes()
    again.close()
    assert [again.offset_index.entries(), again.txn_index.entries()] == [[], []]
    again.release()
    again.remove()
    assert names(tmp_path) == set()
