"""Reading log directories without a broker: what ends a log, and what is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.pipeline.log_folder import end_offset, scan, segments_in
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
