"""Recorded runs, and the table that is made of them."""

from __future__ import annotations

import datetime
from pathlib import Path

from tests.bench import history
from tests.bench.__main__ import record
from tests.bench.history import Circumstances, Recorded, fallen, newest, read, table, write, write_page
from tests.bench.machine import OtherWork
from tests.bench.table import Row

DAY = datetime.date(2026, 11, 23)


def row(title: str = "produce", rate: float = 3000) -> Row:
    found = Row(title, "requests/s")
    found.put("odradek", rate, 40)
    found.put("Kafka", 2000, 60)
    return found


def run(*rows: Row, revision: str = "abc", other_work: float | None = 0.02, note: str = "") -> Recorded:
    of = Circumstances(f"1.0.0, revision {revision}", DAY, "2 cores, Some CPU", 0.3, other_work, False, note)
    return Recorded(of, rows)


def test_bench_history_is_read_as_it_was_written(tmp_path: Path) -> None:
    runs = [run(row()), run(row(), other_work=None, note="cut off")]
    write(runs, tmp_path / "figures.json")
    assert [(found.of, list(found.rows)) for found in read(tmp_path / "figures.json")] == [
        (one.of, list(one.rows)) for one in runs
    ]


def test_the_table_has_the_newest_figures_of_each_row() -> None:
    older, newer = run(row("produce", 3000), row("fetch", 5000)), run(row("produce", 4000), revision="def")
    lines = table([older, newer]).splitlines()
    assert lines[2:] == [
        "| produce | requests/s | 4,000 | - | 2,000 | - | 2.00 |  | 2026-11-23, def |",
        "| fetch | requests/s | 5,000 | - | 2,000 | - | 2.50 |  | 2026-11-23, abc |",
    ]


def test_busy_and_unusual_runs_stay_out() -> None:
    assert newest([run(row(), other_work=0.5), run(row(), other_work=None), run(row(), note="another Python")]) == {}


def test_a_row_that_fell_beside_kafka_is_named() -> None:
    recorded = [run(row("produce", 4000))]
    assert fallen([row("produce", 3900), row("new", 1)], recorded) == []
    assert fallen([row("produce", 2000)], recorded) == ["produce: odradek does 1.00 of Kafka, 2.00 on record"]


def test_record_adds_a_run_and_writes_the_page(tmp_path: Path) -> None:
    figures, page = tmp_path / "figures.json", tmp_path / "speed.md"
    write([run(row("fetch"))], figures)
    page.write_text("# Speed\n\n<!-- figures -->\n<!-- end -->\n\nText.\n")
    record([row()], OtherWork(), figures, page)
    assert [found.of.revision for found in read(figures)] == ["1.0.0, revision abc", history.revision()]
    told = page.read_text()
    assert told.startswith("# Speed\n\n<!-- figures -->\n|")
    assert told.endswith("|\n<!-- end -->\n\nText.\n")


def test_the_page_has_the_figures_on_record(tmp_path: Path) -> None:
    copy = tmp_path / "speed.md"
    copy.write_text(history.PAGE.read_text())
    write_page(read(), copy)
    assert copy.read_text() == history.PAGE.read_text(), "run `make pages`"
    assert "| produce one record, 50 connections | requests/s |" in copy.read_text()
