"""A report as one HTML file: tables and charts, with the code of the charts in it, so that no network is needed."""

from __future__ import annotations

import html
import importlib.util
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from odradek.pipeline.installed_spark import PipelineUnavailable

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h2 { margin: 2.2rem 0 .4rem; border-bottom: 1px solid #8886; }
ul { padding-left: 1.2rem; }
.wide { overflow-x: auto; max-height: 30rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: Canvas; text-align: left; }
th, td { padding: .15rem .7rem .15rem 0; white-space: nowrap; }
td { max-width: 40rem; overflow: hidden; text-overflow: ellipsis; }
td.number { text-align: right; }
.note { opacity: .7; }
/* plotly gives its texts a colour of its own. */
.js-plotly-plot :is(.infolayer, .xaxislayer-above, .yaxislayer-above) text { fill: CanvasText !important; }
"""
_MAX_CELL_CHARS = 300
_CLEAR, _GREY = "rgba(0, 0, 0, 0)", "rgba(128, 128, 128, 0.35)"
"""Colours of a chart that suit a light page and a dark one."""


_GOOD, _BAD, _UNDER_WAY = "#00cc96", "#ef553b", "#636efa"
_OUTCOMES = {
    **dict.fromkeys(("succeeded", "commit"), _GOOD),
    **dict.fromkeys(("failed", "abort"), _BAD),
    **dict.fromkeys(("waiting", "open"), _UNDER_WAY),
}
"""Colours of series that mean the same in each chart; plotly chooses the others."""


class Bars(NamedTuple):
    """A bar for each name; the bars of several series stand on one another."""

    title: str
    series: Mapping[str, tuple[Sequence[str], Sequence[float]]]
    """Name of a series to names and heights."""


class Lines(NamedTuple):
    """Values over time."""

    title: str
    series: Mapping[str, tuple[Sequence[str], Sequence[float]]]
    """Name of a series to moments (ISO 8601) and values."""


class Points(NamedTuple):
    """A mark at each offset of a partition."""

    title: str
    series: Mapping[str, tuple[Sequence[float], Sequence[str]]]
    """Name of a series to offsets and names of partitions."""


Chart = Bars | Lines | Points


class Section(NamedTuple):
    """A heading with a chart and a table; either may be missing."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    total: int = 0
    """How many rows there are; the table may show only the first."""
    chart: Chart | None = None


def check_report(path: str | None) -> None:
    """What a report at this path would fail on: PipelineUnavailable without plotly, ValueError for a wrong path.

    Nothing is checked without a path.
    """
    if path is None:
        return
    if importlib.util.find_spec("plotly") is None:
        raise PipelineUnavailable("needs plotly for a report: pip install 'odradek[spark]'")
    file = Path(path).resolve()
    if not file.parent.is_dir():
        raise ValueError(f"no folder {Path(path).parent} for the report")
    if file.exists() and not file.is_file():
        raise ValueError(f"the report {path} would replace something that is not a file")
    if not os.access(file.parent, os.W_OK):
        raise ValueError(f"no right to write the report into the folder {Path(path).parent}")


def write_report(path: str, title: str, facts: Iterable[str], sections: Iterable[Section]) -> None:
    """Write a page with some lines at its top; a file that is there is replaced, and is whole at any time."""
    parts = [f"<li>{html.escape(fact)}</li>" for fact in facts]
    body = [f"<h1>{html.escape(title)}</h1><ul>{''.join(parts)}</ul>"]
    with_code = True
    for section in sections:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        if section.chart is not None:
            body.append(_chart(section.chart, with_code=with_code))
            with_code = False
        if section.columns:
            body.append(_table(section))
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    text = f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'
    file = Path(path).resolve()
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


_KINDS: Mapping[type[Chart], tuple[Mapping[str, str], str]] = {
    Bars: ({"type": "bar"}, "category"),
    Lines: ({"type": "scatter", "mode": "lines+markers"}, "date"),
    Points: ({"type": "scatter", "mode": "markers"}, "linear"),
}
"""What plotly calls a chart, and its x axis."""


def _chart(chart: Chart, *, with_code: bool) -> str:
    import plotly.io

    kind, x_axis = _KINDS[type(chart)]
    y_axis = {"type": "category"} if isinstance(chart, Points) else {"rangemode": "tozero"}
    traces = [
        {**kind, "name": name, "x": list(x), "y": list(y), "marker": {"color": _OUTCOMES.get(name)}}
        for name, (x, y) in chart.series.items()
    ]
    lines = {"gridcolor": _GREY, "zerolinecolor": _GREY}
    layout = {
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "modebar": {"bgcolor": _CLEAR, "color": _GREY, "activecolor": "gray"},
        "title": {"text": html.escape(chart.title)},
        "barmode": "stack",
        "xaxis": {"type": x_axis, **lines},
        "yaxis": {**y_axis, "automargin": True, **lines},
        "showlegend": len(traces) > 1,
        "height": 360,
        "margin": {"t": 50, "b": 60, "l": 60, "r": 20},
    }
    figure = {"data": traces, "layout": layout}
    drawn = plotly.io.to_html(figure, full_html=False, include_plotlyjs=with_code, config={"displaylogo": False})
    return str(drawn)


def _table(section: Section) -> str:
    if not section.rows:
        return '<p class="note">none</p>'
    head = "".join(f"<th>{html.escape(name)}</th>" for name in section.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.rows)
    more = section.total - len(section.rows)
    note = f'<p class="note">and {more} more rows</p>' if more > 0 else ""
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td class="number">{value}</td>'
    return f"<td>{html.escape(_text(value)[:_MAX_CELL_CHARS])}</td>"


def _text(value: Any) -> str:
    """A value in words; a list by its items, a Row by its fields."""
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="replace")
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    return "" if value is None else str(value)
