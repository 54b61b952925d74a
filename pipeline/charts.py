"""Charts, drawn by plotly: bars, spans of time, lines, and marks at offsets."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

_CLEAR, _GREY = "rgba(0, 0, 0, 0)", "rgba(128, 128, 128, 0.35)"
"""Colours of a chart that suit a light page and a dark one."""

_GOOD, _BAD, _UNDER_WAY = "#00cc96", "#ef553b", "#636efa"
_OUTCOMES = {
    **dict.fromkeys(("succeeded", "no failure", "commit"), _GOOD),
    **dict.fromkeys(("failed", "abort"), _BAD),
    **dict.fromkeys(("waiting", "open"), _UNDER_WAY),
}
"""Colours of series with the same meaning in all charts. plotly chooses the other colours."""
_OTHERS = ("#ab63fa", "#ffa15a", "#19d3f3", "#ff6692", "#b6e880", "#ff97ff", "#fecb52")
"""The rest of plotly's own colours."""

_COLOURS = 10
"""The number of plotly's colours."""
_LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
_HEIGHT, _ROW_HEIGHT, _FRAME_HEIGHT = 360, 18, 120
_MAX_NAME_CHARS = 32
_LYING_FROM = 20
"""Bars are horizontal if there are more, or if a name is longer: vertical names would be unreadable."""
_SLIM_UP_TO = 6
"""Up to this number of bars, they do not fill the width."""
_FEW = 6
_FEW_SPANS = 20


class Bars(NamedTuple):
    """A bar for each name. The bars of several series are stacked."""

    title: str
    series: Mapping[str, tuple[Sequence[str], Sequence[float]]]
    """Name of a series to names and heights."""
    x: str
    """What the names mean."""
    y: str
    """What the heights mean, with their unit."""
    order: Sequence[str] = ()
    """All names from left to right; by default in the order of the series."""


class TimeBars(NamedTuple):
    """A bar for each span of time. The bars of several series are stacked."""

    title: str
    series: Mapping[str, tuple[Sequence[str], Sequence[float]]]
    """Name of a series to the beginnings of spans (ISO 8601) and heights."""
    y: str
    widths_s: float | Sequence[float]
    """Seconds of each span, or of all."""


class Lines(NamedTuple):
    """Values over time."""

    title: str
    series: Mapping[str, tuple[Sequence[str], Sequence[float]]]
    """Name of a series to moments (ISO 8601) and values."""
    y: str


class Points(NamedTuple):
    """A mark at each offset of a partition."""

    title: str
    series: Mapping[str, tuple[Sequence[float], Sequence[str]]]
    """Name of a series to offsets and names of partitions."""
    order: Sequence[str]
    """All partitions from top to bottom."""


Chart = Bars | TimeBars | Lines | Points


def draw(chart: Chart, *, with_code: bool) -> str:
    """A chart as HTML. ``with_code``: with plotly's code, which a page needs once."""
    import plotly.io

    names = _names(chart)
    lying = isinstance(chart, Bars) and (len(names) > _LYING_FROM or any(len(name) > _LYING_FROM for name in names))
    traces = []
    for number, (name, (x, y)) in enumerate(chart.series.items()):
        trace = {**_kind(chart), "name": _short(name), "marker": {"color": _OUTCOMES.get(name)}}
        if isinstance(chart, Lines) and number >= _COLOURS:
            trace["line"] = {"dash": "dot"}
        trace |= {"x": list(y), "y": list(x), "orientation": "h"} if lying else {"x": list(x), "y": list(y)}
        traces.append(trace)
    axes = _axes(chart, names)
    x_axis, y_axis = reversed(axes) if lying else axes
    if lying or isinstance(chart, Points):
        y_axis["range"] = [len(names) - 0.5, -0.5]  # from top to bottom
    lines = {"gridcolor": _GREY, "zerolinecolor": _GREY, "automargin": True}
    rows = len(names) if lying or isinstance(chart, Points) else 0
    layout = {
        "paper_bgcolor": _CLEAR,
        "plot_bgcolor": _CLEAR,
        "modebar": {"bgcolor": _CLEAR, "color": _GREY, "activecolor": "gray"},
        **({"colorway": _OTHERS} if chart.series.keys() & _OUTCOMES.keys() else {}),
        "barmode": "stack",
        "bargap": max(0.2, 1 - len(names) / _SLIM_UP_TO) if names else 0.2,
        "xaxis": {**lines, **x_axis},
        "yaxis": {**lines, **y_axis},
        "showlegend": len(traces) > 1,
        "legend": _LEGEND,
        "height": max(_HEIGHT, _FRAME_HEIGHT + _ROW_HEIGHT * rows),
        "margin": {"t": 30, "b": 40, "l": 40, "r": 20},
    }
    figure = {"data": traces, "layout": layout}
    config = {"displaylogo": False, "responsive": True}
    drawn = plotly.io.to_html(figure, full_html=False, include_plotlyjs=with_code, config=config)
    return f"<h3>{html.escape(chart.title)}</h3>{drawn}"


def _kind(chart: Chart) -> dict[str, Any]:
    """A chart's kind in plotly."""
    match chart:
        case Bars():
            return {"type": "bar"}
        case TimeBars(widths_s=widths_s):
            milliseconds = [1000 * each for each in widths_s] if isinstance(widths_s, Sequence) else 1000 * widths_s
            return {"type": "bar", "offset": 0, "width": milliseconds}
        case Lines():
            return {"type": "scatter", "mode": "lines+markers"}
        case Points():
            return {"type": "scatter", "mode": "markers"}


def _names(chart: Chart) -> Sequence[str]:
    """The names on the axis that has names."""
    if isinstance(chart, Bars):
        return chart.order or list(dict.fromkeys(name for names, _ in chart.series.values() for name in names))
    return chart.order if isinstance(chart, Points) else ()


def _axes(chart: Chart, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The axes of x and y."""
    if isinstance(chart, Points):
        return {"type": "linear", "title": {"text": "offset"}, "exponentformat": "none"}, _categories(names)
    values: dict[str, Any] = {"title": {"text": html.escape(chart.y)}, "rangemode": "tozero", "exponentformat": "SI"}
    if _tallest(chart) < _FEW and all(float(each).is_integer() for _, y in chart.series.values() for each in y):
        values["dtick"] = 1  # records are whole numbers
    if isinstance(chart, Bars):
        return {**_categories(names), "title": {"text": html.escape(chart.x)}}, values
    return {"type": "date", **(_room_for(chart) if isinstance(chart, TimeBars) else {})}, values


def _tallest(chart: Bars | TimeBars | Lines) -> float:
    heights: dict[str, float] = {}
    for x, y in chart.series.values():
        for where, height in zip(x, y, strict=True):
            below = 0.0 if isinstance(chart, Lines) else heights.get(where, 0.0)
            heights[where] = max(heights.get(where, 0.0), below + height)
    return max(heights.values(), default=0.0)


def _categories(names: Sequence[str]) -> dict[str, Any]:
    axis: dict[str, Any] = {"type": "category", "categoryorder": "array", "categoryarray": list(names)}
    if any(len(name) > _MAX_NAME_CHARS for name in names):
        axis |= {"tickvals": list(names), "ticktext": [_short(name) for name in names]}
    return axis


def _room_for(chart: TimeBars) -> dict[str, Any]:
    """An axis range that is wider than a few bars, so that short spans look short."""
    moments = [datetime.fromisoformat(moment) for x, _ in chart.series.values() for moment in x]
    first, last = min(moments), max(moments)
    width = timedelta(seconds=max(chart.widths_s) if isinstance(chart.widths_s, Sequence) else chart.widths_s)
    room = _FEW_SPANS * width - (last - first)
    if room <= timedelta(0):
        return {}
    return {"range": [(first - room / 2).isoformat(), (last + width + room / 2).isoformat()]}


def _short(name: str) -> str:
    """A name as plotly needs it. The middle of a long name is cut out."""
    if len(name) > _MAX_NAME_CHARS:
        half = _MAX_NAME_CHARS // 2
        name = f"{name[:half]}…{name[-half:]}"
    return html.escape(name)
