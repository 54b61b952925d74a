"""Reading log directories without a broker: what ends a log, and what is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.pipeline.log_folder import end_offset, packed, plan, read, scan, segments_in, transactions_in
from odradek.pipeline.rows import Wanted
from odradek.protocol.errors import CorruptDataError
from odradek.protocol.record_batch import CorruptBatchError, Record, build_batch
from odradek.storage.formats.segment_files import OFFSET_ENTRY, OldFormatError
from tests.scenarios.log_tails import END, LOG, TAILS, batch

HEAD = batch(0, 10) + batch(10, 10) + batch(20, 10)
DAMAGED = [
    name for name in TAILS if name.startswith(("zeros", "garbage", "length", "cut-batch", "half", "huge", "large"))
]


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_ends_the_last_segment_and_is_an_error_in_others(tmp_path: Path, name: str) -> None:
    path = tmp_path / LOG
    path.write_bytes(HEAD + TAILS[name])
    assert [each.base_offset for each in scan(path)] == [0, 10, 20]
    assert end_offset(segments_in(tmp_path)) == END
    (tmp_path / f"{END:020d}.log").write_bytes(batch(END))
    first, last = segments_in(tmp_path)
    with pytest.raises(CorruptDataError, match=f"{LOG}: "):
        list(scan(first.path, end=first.end))
    assert [each.base_offset for each in scan(last.path, end=last.end)] == [END]
    assert end_offset([first, last]) == END + 5


def test_an_older_message_format_is_an_error_anywhere(tmp_path: Path) -> None:
    path = tmp_path / LOG
    path.write_bytes(HEAD + TAILS["old-format-1"])
    with pytest.raises(OldFormatError, match="message format 1"):
        list(scan(path))


LATER = f"{100:020d}.log"
INDEX = ".index"


def write_log(folder: Path) -> dict[str, list[int]]:
    """Two segments of ten batches of ten records, each with a place in the index. The positions, by segment."""
    places = {}
    for name, base in ((LOG, 0), (LATER, 100)):
        batches = [batch(offset, 10) for offset in range(base, base + 100, 10)]
        starts = [sum(map(len, batches[:number])) for number in range(10)]
        (folder / name).write_bytes(b"".join(batches))
        entries = [OFFSET_ENTRY.pack(10 * number + 9, start) for number, start in enumerate(starts) if start]
        (folder / name).with_suffix(INDEX).write_bytes(b"".join(entries))
        places[name] = starts
    return places


def offsets_read(folder: Path, start: int = 0) -> list[int]:
    segments = segments_in(folder)
    tasks = plan(segments, Wanted("t", 0, start, end_offset(segments)))
    found = [range(part.base_offset, part.next_offset) for task in tasks for part in read(task)]
    return [offset for part in found for offset in part if offset >= start]


@pytest.mark.parametrize("name", [LOG, LATER])
@pytest.mark.parametrize(
    ("at", "byte", "error"),
    [
        (0, 0x40, "batch at position .* has offsets"),  # a base offset far beyond
        (7, 0x80, "batch at position .* has offsets"),  # one a little off
        (8, 0x7F, "whole batches end at offset|are no whole batch"),  # a length
        (16, 0x00, "whole batches end at offset|magic 0 and a wrong checksum"),  # the magic
    ],
)
@pytest.mark.parametrize("start", [0, 50, 150])
def test_damage_between_batches_leaves_no_silent_gap(
    tmp_path: Path, name: str, at: int, byte: int, error: str, start: int
) -> None:
    position = write_log(tmp_path)[name][6]
    data = bytearray((tmp_path / name).read_bytes())
    data[position + at] = byte
    (tmp_path / name).write_bytes(data)
    if name == LOG and start == 150:  # it is not read
        assert offsets_read(tmp_path, start) == list(range(start, 200))
        return
    with pytest.raises(CorruptBatchError, match=f"{name}: .*({error})"):
        offsets_read(tmp_path, start)
    with pytest.raises(CorruptBatchError, match=f"{name}: .*({error})"):
        transactions_in(segments_in(tmp_path))


@pytest.mark.parametrize("kept", [0, 4])
def test_a_segment_that_is_cut_between_batches(tmp_path: Path, kept: int) -> None:
    position = write_log(tmp_path)[LOG][kept]
    (tmp_path / LOG).write_bytes((tmp_path / LOG).read_bytes()[:position])
    for start in (0, 70):
        with pytest.raises(CorruptBatchError, match=f"{LOG}: whole batches end at offset {kept}0?, the log goes on to"):
            offsets_read(tmp_path, start)
    # Compaction leaves out records at a segment's end, and their index entries.
    index = (tmp_path / LOG).with_suffix(INDEX)
    index.write_bytes(index.read_bytes()[: max(kept - 1, 0) * OFFSET_ENTRY.size])
    assert offsets_read(tmp_path) == [*range(kept * 10), *range(100, 200)]


@pytest.mark.parametrize(
    "index",
    [
        OFFSET_ENTRY.pack(9, 77),  # into the middle of a batch
        OFFSET_ENTRY.pack(9, 1 << 30),  # beyond the end
        OFFSET_ENTRY.pack(9, 2000),
        b"\xff" * 16,
        b"\x00" * 5,
        b"",
    ],
)
def test_an_index_that_leads_nowhere_hides_nothing(tmp_path: Path, index: bytes) -> None:
    places = write_log(tmp_path)
    assert len(set(places[LOG])) == 10
    for name in (LOG, LATER):
        (tmp_path / name).with_suffix(INDEX).write_bytes(index)
    for start in (0, 55, 155):
        assert offsets_read(tmp_path, start) == list(range(start, 200))


def test_an_index_that_leads_too_far_hides_nothing(tmp_path: Path) -> None:
    position = write_log(tmp_path)[LATER][8]
    (tmp_path / LATER).with_suffix(INDEX).write_bytes(OFFSET_ENTRY.pack(9, position))
    assert offsets_read(tmp_path, 120) == list(range(120, 200))


def test_a_damaged_batch_does_not_decide_about_transactions(tmp_path: Path) -> None:
    path = tmp_path / LOG
    begun = bytearray(build_batch([Record(0, 1, b"k", b"v")], producer_id=7, producer_epoch=0, base_sequence=0))
    path.write_bytes(bytes(begun))
    assert transactions_in(segments_in(tmp_path)) == ((), 1)
    begun[22] |= 0x10  # transactional, says a flipped bit
    path.write_bytes(bytes(begun) + batch(1, 5))
    with pytest.raises(CorruptBatchError, match=f"{LOG}, batch of offsets 0 to 0: the batch's checksum is"):
        transactions_in(segments_in(tmp_path))


@pytest.mark.parametrize("size", [1, 5000, 20_000, 10**9])
def test_parts_by_size_hold_each_record_once(golden_log_dir: Path, size: int) -> None:
    segments = segments_in(golden_log_dir / "d-seg-0")
    wanted = Wanted("d-seg", 0, 10, 350)
    tasks = list(plan(segments, wanted, size=size))
    found = [
        offset
        for task in tasks
        for part in read(task)
        for offset in range(part.base_offset, part.next_offset)
        if task.wanted.start <= offset < task.wanted.end
    ]
    assert found == list(range(10, 350))
    by_segment = {task.path: [each for each in tasks if each.path == task.path] for task in tasks}
    assert len(by_segment) == 4
    for path, parts in by_segment.items():
        assert [part.position for part in parts] == sorted({part.position for part in parts})
        assert len(parts) <= Path(path).stat().st_size // size + 1
    assert len(tasks) == 4 if size == 10**9 else len(tasks) >= 4
    assert size > 1 or len(tasks) > 8


def test_small_parts_are_packed_in_their_order(golden_log_dir: Path) -> None:
    parts = list(plan(segments_in(golden_log_dir / "d-seg-0"), Wanted("d-seg", 0, 0, 360)))
    sizes = [part.size for part in parts]
    assert sizes == [Path(part.path).stat().st_size for part in parts]
    assert list(packed(parts, sum(sizes))) == [parts]
    assert next(packed(parts, sizes[0] + sizes[1])) == parts[:2]
    assert list(packed(parts, 1)) == [[part] for part in parts]
    assert list(packed([], 1)) == []
    halves = list(plan(segments_in(golden_log_dir / "d-seg-0"), Wanted("d-seg", 0, 0, 360), records=50))
    assert abs(sum(part.size for part in halves) - sum(sizes)) < len(halves)


@pytest.mark.parametrize("suffix", [".log", ".index"])
def test_log_folder_refuses_what_is_no_file(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"{0:020d}.log").touch()
    path = tmp_path / f"{0:020d}{suffix}"
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")
    with pytest.raises(CorruptBatchError, match=f"{path}: is no file"):
        segments_in(tmp_path)
