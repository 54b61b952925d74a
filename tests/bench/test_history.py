"""What a recorded run looks like on its page."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tests.bench import history
from tests.bench.__main__ import record
from tests.bench.history import Circumstances, append, block
from tests.bench.machine import OtherWork
from tests.bench.table import Row

DAY = datetime.date(2026, 11, 23)


def row() -> Row:
    found = Row("produce", "requests/s")
    found.put("odradek", 3000, 40)
    return found


def of(other_work: float, *, real_time: bool = False) -> Circumstances:
    return Circumstances("1.0.0, revision abc", DAY, "2 cores, Some CPU", 0.3, other_work, real_time)


def test_a_block_says_of_what_when_and_on_what() -> None:
    heading, _, machine, _, *table = block([row()], of(0.02)).splitlines()
    assert heading == "### 1.0.0, revision abc, 2026-11-23"
    assert machine == (
        "2 cores, Some CPU, shared by broker and load. Load before the run 0.3; other work took 2% of the machine "
        "during it."
    )
    assert table[-1].startswith("| produce, requests/s | 3,000 |")


def test_a_busy_machine_is_told_and_has_no_rates() -> None:
    text = block([row()], of(0.5))
    assert "**Measured on a busy machine**" in text
    assert "3,000" not in text
    assert "| produce | 40 | - | - | - |" in text


def test_a_run_before_all_other_work_is_told() -> None:
    assert "real-time priority" in block([row()], of(0.02, real_time=True))
    assert "real-time priority" not in block([row()], of(0.02))


def test_blocks_follow_each_other_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n\nText.\n\n")
    for _ in range(2):
        append(page, "### Block\n\n| table |\n")
    assert page.read_text() == "# Speed\n\nText.\n\n### Block\n\n| table |\n\n### Block\n\n| table |\n"


def test_record_appends_the_rows_of_a_run(tmp_path: Path) -> None:
    page = tmp_path / "speed.md"
    page.write_text("# Speed\n")
    record([row()], OtherWork(), page)
    told = page.read_text()
    assert told.startswith("# Speed\n\n### ")
    assert history.revision() in told
    assert "| produce" in told


def test_the_page_is_there_to_append_to() -> None:
    assert history.PAGE.read_text().rstrip().rpartition("\n## ")[2].startswith("History")


def test_without_a_page_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        append(tmp_path / "none.md", "text")
    assert not (tmp_path / "none.md").exists()
