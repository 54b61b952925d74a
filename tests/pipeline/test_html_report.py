"""The page of a report: one file, whatever the data say."""

from __future__ import annotations

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from odradek.pipeline.charts import Bars, Chart, Lines, Points, TimeBars
from odradek.pipeline.html_report import Section, check_report, write_report
from odradek.pipeline.installed_spark import PipelineUnavailable

EVIL = "</script><script>alert(1)</script>"


class Page(HTMLParser):
    """What a browser sees: text by element, and what it would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.fetched: list[str] = []
        self.within: list[str] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link"):
            self.open.append(tag)
        links = [value or "" for name, value in attrs if name in ("src", "href")]
        self.fetched += [link for link in links if not link.startswith("#")]
        self.within += [link for link in links if link.startswith("#")]
        self.names += [f"#{value}" for name, value in attrs if name == "id" and tag == "section"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


def page_of(path: Path, *sections: Section) -> Page:
    write_report(str(path), "a title", ["of <here>"], sections)
    return Page(path.read_text())


def test_tables_show_values_as_they_are(tmp_path: Path) -> None:
    rows = [(EVIL, None, 5, b"caf\xc3\xa9\xff", True)]
    page = page_of(tmp_path / "r.html", Section("groups", ("name", "none", "count", "key", "flag"), rows, 11))
    assert page.texts["td"] == [EVIL, "5", "café�", "True"]
    assert page.texts["th"] == ["name", "none", "count", "key", "flag"]
    assert page.texts["h1"] == ["a title"]
    assert page.texts["li"] == ["of <here>"]
    assert page.texts["p"] == ["and 11 more rows"]


def test_lists_and_rows_are_words(tmp_path: Path) -> None:
    row = ["in-0", "in-1"], [("Ongoing", 1), ("CompleteCommit", None)], ()
    page = page_of(tmp_path / "r.html", Section("transactions", ("partitions", "states", "none"), [row]))
    assert page.texts["td"] == ["in-0, in-1", "Ongoing 1, CompleteCommit "]


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path / "r.html", Section("members", ("group_id", "member_id")))
    assert (page.texts["h2"], page.texts["p"]) == (["members"], ["none"])
    assert "th" not in page.texts


def test_charts_need_no_network_and_their_code_is_there_once(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    moments: Any = {"in": (["2026-01-01T00:00:00"], [3.0])}
    charts: dict[str, Chart] = {
        "bars": Bars("by <topic>", {EVIL: (["a", EVIL], [1, 2])}, EVIL, EVIL),
        "spans": TimeBars("over time", moments, EVIL, 60),
        "lines": Lines("over time", moments, EVIL),
        "points": Points("places", {"gap": ([7, 2**60], ["in-0", EVIL])}, ["in-0", EVIL]),
    }
    page = page_of(tmp_path / "r.html", *(Section(name, chart=chart) for name, chart in charts.items()))
    assert page.fetched == []
    assert page.open == []
    scripts = page.texts["script"]
    assert [script for script in scripts if "alert" in script and EVIL in script] == []
    assert len([script for script in scripts if len(script) > 1_000_000]) == 1
    assert len([script for script in scripts if re.search(r"Plotly\.newPlot\(", script)]) >= 4
    assert page.texts["h2"] == list(charts)
    assert page.texts["h3"] == ["by <topic>", "over time", "over time", "places"]


def test_the_top_of_a_page_links_to_its_parts(tmp_path: Path) -> None:
    page = page_of(tmp_path / "r.html", Section("topics"), Section("<lag>"))
    assert page.texts["a"] == ["topics", "<lag>"]
    assert page.within == page.names
    assert len(set(page.names)) == 2


def test_a_part_with_nothing_in_it_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path / "r.html", Section("activity"), Section("waiting", note="all has been handled"))
    assert page.texts["p"] == ["none", "all has been handled", "none"]


def test_html_report_tells_a_missing_package_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(PipelineUnavailable, match="needs plotly for a report"):
        check_report(str(tmp_path / "r.html"))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    check_report(str(tmp_path / "r.html"))
    with pytest.raises(ValueError, match=r"no folder .*absent for the report"):
        check_report(str(tmp_path / "absent" / "r.html"))


def test_html_report_tells_an_unwritable_file_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("plotly")
    with pytest.raises(ValueError, match=f"the report {tmp_path} would replace something that is not a file"):
        check_report(str(tmp_path))
    monkeypatch.setattr(os, "access", lambda folder, mode: (folder, mode) != (tmp_path.resolve(), os.W_OK))
    with pytest.raises(ValueError, match=f"no right to write the report into the folder {tmp_path}"):
        check_report(str(tmp_path / "r.html"))


def test_a_page_is_written_beside_the_one_that_it_replaces(tmp_path: Path) -> None:
    file, link = tmp_path / "r.html", tmp_path / "link.html"
    link.symlink_to(file)
    page_of(file, Section("first"))
    with file.open() as reader:
        write_report(str(link), "a title", [], [Section("second")])
        assert "first" in reader.read()
    assert link.is_symlink()
    assert "second" in file.read_text()
    assert sorted(tmp_path.iterdir()) == [link, file]
