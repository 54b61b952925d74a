"""What plotly is told to draw."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from odradek.pipeline.charts import Bars, Chart, Lines, Points, TimeBars, draw

pytest.importorskip("plotly")


def figure_of(chart: Chart) -> Any:
    """The data and the layout."""
    (given,) = re.findall(r"Plotly\.newPlot\(\s*\"[^\"]+\",\s*(.*)", draw(chart, with_code=False), re.DOTALL)
    data, end = json.JSONDecoder().raw_decode(given)
    layout, _ = json.JSONDecoder().raw_decode(given[end:].lstrip(", \n"))
    return data, layout


def test_an_outcome_has_the_same_colour_in_each_chart() -> None:
    for names in (("failed", "other"), ("other", "failed")):
        data, layout = figure_of(Bars("b", {name: (["a"], [1]) for name in names}, "", ""))
        assert "#ef553b" not in layout["colorway"]
        colours = {trace["name"]: trace.get("marker", {}).get("color") for trace in data}
        assert colours == {"failed": "#ef553b", "other": None}  # plotly's own choice
    _, layout = figure_of(Bars("b", {"other": (["a"], [1])}, "", ""))
    assert "colorway" not in layout


def test_axes_say_what_they_are_and_keep_their_order() -> None:
    series: Any = {"abort": (["1 h"], [2]), "commit": (["1 s", "1 h"], [1, 1])}
    data, layout = figure_of(Bars("b", series, "age, up to", "transactions", ["1 s", "1 h"]))
    assert [trace["name"] for trace in data] == ["abort", "commit"]
    assert layout["xaxis"]["categoryarray"] == ["1 s", "1 h"]
    assert (layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"]) == ("age, up to", "transactions")
    assert layout["yaxis"]["dtick"] == 1
    _, layout = figure_of(Bars("b", {"one": (["a"], [4]), "other": (["a"], [4])}, "", ""))
    assert "dtick" not in layout["yaxis"]  # eight in all
    _, layout = figure_of(Lines("l", {"in": (["2026-01-01"], [0.5])}, "seconds"))
    assert "dtick" not in layout["yaxis"]


def test_spans_of_time_are_as_wide_as_they_are_long() -> None:
    moments = ["2026-01-01T00:00:00", "2026-01-01T01:00:00"]
    (trace,), layout = figure_of(TimeBars("t", {"in": (moments, [1, 2])}, "records", [3600, 60]))
    assert (trace["width"], trace["offset"], layout["xaxis"]["type"]) == ([3_600_000, 60_000], 0, "date")
    (trace,), _ = figure_of(TimeBars("t", {"in": (moments, [1, 2])}, "records", 5))
    assert trace["width"] == 5000


def test_many_partitions_make_a_tall_chart() -> None:
    names = [f"in-{number}" for number in range(200)]
    _, few = figure_of(Points("p", {"gap": ([1], ["in-0"])}, ["in-0"]))
    _, many = figure_of(Points("p", {"gap": ([1] * 200, names)}, names))
    assert many["height"] >= 15 * 200 > few["height"]  # pixels that a line of text takes
    assert many["yaxis"]["range"] == [199.5, -0.5]  # from top to bottom


def test_bars_with_long_names_lie() -> None:
    long = "orders" * 10
    (trace,), layout = figure_of(Bars("b", {"records": ([long, "a"], [1, 2])}, "topic", "records"))
    assert (trace["orientation"], trace["x"], trace["y"]) == ("h", [1, 2], [long, "a"])
    axis = layout["yaxis"]
    assert (axis["tickvals"], axis["ticktext"]) == ([long, "a"], [f"{long[:16]}…{long[-16:]}", "a"])
    assert axis["range"] == [1.5, -0.5]
    assert (axis["title"]["text"], layout["xaxis"]["title"]["text"]) == ("topic", "records")


def test_a_single_bar_does_not_fill_the_chart() -> None:
    gaps = [figure_of(Bars("b", {"in": (list("abcdefgh")[:bars], [1] * bars)}, "", ""))[1]["bargap"] for bars in (1, 8)]
    assert gaps[0] > 0.5 > gaps[1]


def test_a_single_span_does_not_fill_the_chart() -> None:
    _, layout = figure_of(TimeBars("t", {"in": (["2026-01-01T00:01:00"], [1])}, "records", 2))
    assert layout["xaxis"]["range"] == ["2026-01-01T00:00:40", "2026-01-01T00:01:22"]
    moments = ["2026-01-01T00:01:00", "2026-01-01T00:02:00"]
    _, layout = figure_of(TimeBars("t", {"in": (moments, [1, 1])}, "records", 2))
    assert "range" not in layout["xaxis"]


def test_more_lines_than_colours_are_told_apart() -> None:
    series = {str(number): (["2026-01-01"], [number]) for number in range(12)}
    data, _ = figure_of(Lines("l", series, "lag"))
    assert ["line" in trace for trace in data] == [False] * 10 + [True] * 2
