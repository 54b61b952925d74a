"""Starts after an unclean stop: each kind of tail against what Kafka 4.4.0 made of it, and what lies beside the log."""

from __future__ import annotations

import json
import logging
import struct
from pathlib import Path
from typing import Any

import pytest

from odradek.protocol.control import EndTxnMarker, build_end_txn_batch
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import Record
from odradek.storage.backend import StorageError
from odradek.storage.checkpoint_files import LOG_START_OFFSETS, RECOVERY_POINTS, format_offsets
from odradek.storage.disk_backend import DiskBackend
from odradek.storage.dump import dump, render_text
from odradek.storage.log_config import LogConfig
from odradek.storage.partition_log import AppendOrigin, PartitionLog
from odradek.storage.recovery import finish_swaps
from tests.fakes.file_system import FaultyFileSystem
from tests.scenarios.log_tails import END, LOG, STOPS_KAFKA, TAILS, append_tail, head
from tests.storage.logs import NOW, end, put, records

KAFKA: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent.parent / "vectors" / "log_tails.json").read_text())
CUT = {"kept": 0, "end": END, "epochs": [[0, 0], [2, END]]}
NOT_OPENED = None
OTHERWISE: dict[str, dict[str, Any] | None] = {
    "offsets-back": CUT,
    "offsets-far-back": CUT,
    "offsets-twice": CUT,
    "last-offset-twice": CUT,
    "negative-delta": CUT,
    "negative-base": CUT,
    "negative-far": CUT,
    "old-format-0": NOT_OPENED,
    "old-format-1": NOT_OPENED,
    "old-format-then-good": NOT_OPENED,
    "offset-beyond-int": NOT_OPENED,
    "unreadable-marker": NOT_OPENED,
}
"""What DIFFERENCES.md says: what is intact and can't be served is left alone, offsets do not go back."""


def open_log(directory: Path, config: LogConfig | None = None) -> tuple[DiskBackend, PartitionLog]:
    backend = DiskBackend(directory, now_ms=lambda: NOW)
    try:
        return backend, PartitionLog("t", 0, config or LogConfig(), backend, now_ms=NOW)
    except BaseException:
        backend.close(clean=False)
        raise


def written(directory: Path, *, clean: bool = False) -> Path:
    """A log of three batches; returns its file."""
    backend, log = open_log(directory)
    for data in head():
        log.append(data, now_ms=NOW)
    log.close(clean=clean)
    backend.close(clean=clean)
    return directory / "t-0" / LOG


# --- tails ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TAILS, *STOPS_KAFKA])
def test_a_tail_is_cut_as_kafka_cuts_it(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path)
    tail = (TAILS | STOPS_KAFKA)[name]
    size = append_tail(path, tail)
    expected = OTHERWISE[name] if name in OTHERWISE else KAFKA[name]
    if expected is NOT_OPENED:
        with pytest.raises(StorageError, match="t-0"):
            open_log(tmp_path)
        assert path.stat().st_size == size + len(tail)
        return
    backend, log = open_log(tmp_path)
    assert log.log_end_offset == expected["end"]
    assert path.stat().st_size == size + expected["kept"]
    for epoch in (0, 2):  # what Kafka's broker did when it was made leader again
        log.leader_epochs.assign(epoch, log.log_end_offset)
    assert [list(pair) for pair in log.leader_epochs.entries()] == expected["epochs"]
    cut = len(tail) - expected["kept"]
    if cut:
        [line] = backend.recovered
        assert line.startswith(f"{path}: {cut} bytes cut off at position {size + expected['kept']}, offset ")
        assert (backend.recovered and caplog.records[0].levelno) == logging.WARNING
    else:
        assert backend.recovered == []
    assert put(log).base_offset == expected["end"]
    log.close()
    backend.close()


@pytest.mark.long
@pytest.mark.parametrize("name", [*TAILS, *STOPS_KAFKA])
def test_dump_shows_every_damaged_tail(tmp_path: Path, name: str) -> None:
    path = written(tmp_path)
    append_tail(path, (TAILS | STOPS_KAFKA)[name])
    items = list(dump(path))
    assert [item["last_offset"] for item in items if item["kind"] == "batch"][:3] == [9, 19, 29]
    assert all(render_text(item) for item in items)
    known = sum(item["size"] for item in items if item["kind"] == "batch")
    assert known == path.stat().st_size or items[-1]["kind"] == "error"


@pytest.mark.parametrize("name", ["zeros-1", "zeros-4096", "garbage-5000", "cut-batch", "length-minus-1"])
def test_a_damaged_tail_is_cut_after_a_clean_stop_too(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, clean=True)
    size = append_tail(path, TAILS[name])
    backend, log = open_log(tmp_path)
    assert (log.log_end_offset, path.stat().st_size, len(backend.recovered)) == (END, size, 1)
    log.close()
    backend.close()


def test_damage_inside_a_cleanly_closed_log_is_an_error(tmp_path: Path) -> None:
    """Kafka does not look there at the start either, and answers CORRUPT_MESSAGE to whoever comes by."""
    config = LogConfig(segment_bytes=2000)
    backend, log = open_log(tmp_path, config)
    for _ in range(9):
        log.append(head()[0], now_ms=NOW)
    assert len(log.segments) > 2
    log.close()
    backend.close()
    path = tmp_path / "t-0" / LOG
    data = bytearray(path.read_bytes())
    struct.pack_into(">i", data, 8, -12)
    path.write_bytes(data)
    with pytest.raises(StorageError, match=r"segment from offset 0 has no batch at position 0"):
        open_log(tmp_path, config)


def test_a_length_that_turns_bad_does_not_hang_a_reader(tmp_path: Path) -> None:
    backend, log = open_log(tmp_path)
    for data in head():
        log.append(data, now_ms=NOW)
    log.store.segment_sealed(log.active.stores)  # read from the file from now on
    path = tmp_path / "t-0" / LOG
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(struct.pack(">i", -12))
    for read in (
        lambda: log.read(15, max_bytes=1000, up_to_offset=END),
        lambda: log.read(0, max_bytes=100, up_to_offset=END),
        lambda: log.offset_for_timestamp(NOW + 5),
        lambda: list(log.active.iter_batches()),
    ):
        with pytest.raises(CorruptDataError, match="no batch at position 0"):
            read()
    log.close(clean=False)
    backend.close(clean=False)


# --- beside the log ---------------------------------------------------------------------------------------------------


def test_segments_behind_a_cut_go(tmp_path: Path) -> None:
    config = LogConfig(segment_bytes=2000)
    backend, log = open_log(tmp_path, config)
    for number in range(12):
        put(log, (b"k", b"v" * 400), producer=(7, 0, number))
    bases = [segment.base_offset for segment in log.segments]
    assert len(bases) > 2
    log.close(clean=False)
    backend.close(clean=False)
    snapshots = sorted(path.name for path in (tmp_path / "t-0").glob("*.snapshot"))
    path = tmp_path / "t-0" / f"{bases[1]:020d}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 0xFF
    path.write_bytes(data)
    backend, log = open_log(tmp_path, config)
    assert [segment.base_offset for segment in log.segments] == bases[:2]
    assert log.log_end_offset == bases[2] - 1
    assert len(backend.recovered) == len(bases) - 1
    left = sorted(path.name for path in (tmp_path / "t-0").glob("*.snapshot"))
    assert left == [name for name in snapshots if int(name[:20]) < log.log_end_offset]
    assert put(log, producer=(7, 0, log.log_end_offset)).base_offset == bases[2] - 1


def test_a_log_that_ends_before_its_start_begins_anew(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / LOG_START_OFFSETS).write_bytes(format_offsets({("t", 0): 25}))
    path.write_bytes(path.read_bytes()[:-1])
    _, log = open_log(tmp_path)
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (25, 25, 25)
    assert [segment.base_offset for segment in log.segments] == [25]
    assert put(log).base_offset == 25
    assert [record.offset for record in records(log)] == [25]


def test_the_recovery_point_is_not_behind_the_end(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / RECOVERY_POINTS).write_bytes(format_offsets({("t", 0): END}))
    path.write_bytes(path.read_bytes()[:-1])
    _, log = open_log(tmp_path)
    assert (log.recovery_point, log.log_end_offset) == (20, 20)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        *((kind, b"\x01\x02\x03") for kind in ("index", "timeindex", "txnindex")),
        ("txnindex", bytes(2) + bytes(31)),
        ("txnindex", b"\x00\x07" + bytes(32)),
        ("index", None),
        ("timeindex", None),
    ],
)
def test_unsound_indexes_are_built_anew(tmp_path: Path, kind: str, content: bytes | None) -> None:
    """A middle segment's index is damaged after a clean stop; aborted transactions are not entered twice."""
    config = LogConfig(segment_bytes=1500, index_interval_bytes=64)
    backend, log = open_log(tmp_path, config)
    for number in range(12):
        put(log, (b"k", b"v" * 300), producer=(7, 0, number), transactional=True)
        end(log, 7, 0, commit=False)
    aborted = log.aborted_transactions(0, log.log_end_offset)
    indexes = [(list(s.stores.offset_index.entries()), list(s.stores.time_index.entries())) for s in log.segments]
    bases = [segment.base_offset for segment in log.segments]
    log.close()
    backend.close()
    path = tmp_path / "t-0" / f"{bases[1]:020d}.{kind}"
    path.unlink() if content is None else path.write_bytes(content)
    _, log = open_log(tmp_path, config)
    assert log.aborted_transactions(0, log.log_end_offset) == aborted
    found = [(list(s.stores.offset_index.entries()), list(s.stores.time_index.entries())) for s in log.segments]
    assert found[:-1] == indexes[:-1]


def test_a_marker_that_cannot_be_read_names_the_log(tmp_path: Path) -> None:
    path = written(tmp_path)
    append_tail(path, STOPS_KAFKA["unreadable-marker"])
    with pytest.raises(StorageError, match=r"t-0 can't be opened: .*a record"):
        open_log(tmp_path)


def test_a_marker_in_the_tail_ends_its_transaction(tmp_path: Path) -> None:
    path = written(tmp_path)
    backend, log = open_log(tmp_path)
    put(log, producer=(7, 0, 0), transactional=True)
    log.close(clean=False)
    backend.close(clean=False)
    marker = build_end_txn_batch(
        EndTxnMarker(False, 0), producer_id=7, producer_epoch=0, timestamp=NOW, base_offset=END + 1
    )
    append_tail(path, marker + bytes(50))
    _, log = open_log(tmp_path)
    assert (log.log_end_offset, log.last_stable_offset) == (END + 2, END + 2)
    assert log.aborted_transactions(0, END + 2) == [(7, END)]


def test_a_copy_of_a_log_keeps_damage_out(tmp_path: Path) -> None:
    _, log = open_log(tmp_path)
    with pytest.raises(CorruptDataError, match="wrong checksum"):
        log.append(TAILS["wrong-crc"], now_ms=NOW, origin=AppendOrigin.REPLICATION)


# -- What a death while segments were replaced leaves.


def segment_file(offsets: range) -> bytes:
    return b"".join(build_batch([Record(0, NOW, b"k", b"v")], base_offset=offset) for offset in offsets)


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([], None),
        (["0.log.swap", "0.index.swap"], ["0.index", "0.log", "4.log", "8.log"]),
        (["0.log.cleaned", "0.index.cleaned"], ["0.log", "4.log", "8.log"]),
        (["0.log.cleaned", "4.log.swap"], ["0.log", "4.log", "8.log"]),
        (["4.log.cleaned", "0.log.swap"], ["0.log", "4.log", "8.log"]),
        (["4.log.deleted", "leader-epoch-checkpoint.tmp"], ["0.log", "4.log", "8.log"]),
        (["8.log.swap", "0.log.swap"], ["0.log", "4.log", "8.log"]),
    ],
)
def test_a_swap_is_finished_or_undone(tmp_path: Path, found: list[str], left: list[str] | None) -> None:
    """The swapped segment at 0 has the offsets 0 to 2, so that of the old ones only the first gives way."""

    def path(short: str) -> Path:
        base, _, rest = short.partition(".")
        return tmp_path / (f"{int(base):020}.{rest}" if base.isdecimal() else short)

    for base in (0, 4, 8):
        path(f"{base}.log").write_bytes(segment_file(range(base, base + 4)))
    fresh = segment_file(range(3))
    for name in found:
        path(name).write_bytes(fresh if name.startswith("0.log") else segment_file(range(8, 9)))
    names = [each.name for each in tmp_path.iterdir()]
    assert finish_swaps(FaultyFileSystem(), tmp_path, names) is (left is not None)
    expected = sorted(path(name).name for name in left or ["0.log", "4.log", "8.log"])
    assert sorted(each.name for each in tmp_path.iterdir()) == expected
    swapped = "0.log.swap" in found
    assert (path("0.log").read_bytes() == fresh) is swapped


def test_a_swapped_segment_takes_the_place_of_all_that_it_was_made_from(tmp_path: Path) -> None:
    for base in (0, 4, 8):
        for kind in ("log", "index", "timeindex"):
            (tmp_path / f"{base:020}.{kind}").write_bytes(segment_file(range(base, base + 4)))
    (tmp_path / f"{0:020}.log.swap").write_bytes(segment_file(range(0, 5, 4)))
    assert finish_swaps(FaultyFileSystem(), tmp_path, [each.name for each in tmp_path.iterdir()])
    left = [f"{0:020}.log", *(f"{8:020}.{kind}" for kind in ("index", "log", "timeindex"))]
    assert sorted(each.name for each in tmp_path.iterdir()) == left
