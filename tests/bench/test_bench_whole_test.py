"""The table of whole tests."""

from __future__ import annotations

from pathlib import Path

from tests.bench.bench_whole_test import FIGURES, PAGE, Suite, read, table, write

DEFAULT = Suite("confluent", "odradek", False, 16.1, 158.0, 0.5)
FAST = Suite("confluent", "odradek", True, 1.21, 12.0, 0.5)
REFUSED = Suite("confluent", "kfake", False, None, None, 0.5, "fails")


def test_a_client_has_a_line_with_its_suites_on_each_broker() -> None:
    assert table([REFUSED, DEFAULT, FAST]).splitlines()[2:] == [
        "| `confluent` | 158 | 12 | 16.1 | 1.21 | fails | - | - | - |"
    ]


def test_a_run_takes_the_place_of_an_older_one_and_leaves_others(tmp_path: Path) -> None:
    figures, page = tmp_path / "figures.json", tmp_path / "page.md"
    figures.write_text('{"machine": "", "suites": []}')
    page.write_text("before\n<!-- suites -->\nold\n<!-- end of suites -->\nafter\n")
    write([DEFAULT, FAST], figures, page)
    newer = Suite("confluent", "odradek", False, 15.0, 150.0, 0.5)
    write([newer, REFUSED], figures, page)
    assert read(figures) == [newer, FAST, REFUSED]
    assert page.read_text() == f"before\n<!-- suites -->\n{table(read(figures))}<!-- end of suites -->\nafter\n"


def test_the_page_shows_the_figures_on_record() -> None:
    assert f"<!-- suites -->\n{table(read(FIGURES))}<!-- end of suites -->" in PAGE.read_text()
