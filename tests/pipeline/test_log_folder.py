"""Reading log directories without a broker: what ends a log, and what is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.pipeline.log_folder import end_offset, packed, plan, read, scan, segments_in
from odradek.pipeline.rows import Wanted
from odradek.protocol.errors import CorruptDataError
from odradek.storage.formats.log_file import OldFormatError
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
        list(scan(first.path, is_last=first.is_last))
    assert [each.base_offset for each in scan(last.path, is_last=last.is_last)] == [END]
    assert end_offset([first, last]) == END + 5


def test_an_older_message_format_is_an_error_anywhere(tmp_path: Path) -> None:
    path = tmp_path / LOG
    path.write_bytes(HEAD + TAILS["old-format-1"])
    with pytest.raises(OldFormatError, match="message format 1"):
        list(scan(path))


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
