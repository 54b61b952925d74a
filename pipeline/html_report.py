"""A report as one HTML file with tables and charts. It contains the code of the charts, so it needs no network."""

from __future__ import annotations

import html
import importlib.util
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from odradek.pipeline.charts import Chart, draw
from odradek.pipeline.installed_spark import PipelineUnavailable

_STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h2 { margin: 2.2rem 0 .4rem; border-bottom: 1px solid #8886; }
h3 { margin: .8rem 0 0; font-weight: 500; }
ul { padding-left: 1.2rem; }
nav a { margin-right: .8rem; display: inline-block; }
.wide { overflow-x: auto; max-height: 30rem; margin-top: .5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: Canvas; text-align: left; }
th, td { padding: .15rem .7rem .15rem 0; white-space: nowrap; }
td { max-width: 40rem; overflow: hidden; text-overflow: ellipsis; }
td.number { text-align: right; }
.note { opacity: .7; }
/* plotly gives its texts a colour of its own. */
.js-plotly-plot :is(.infolayer, .xaxislayer-above, .yaxislayer-above) text { fill: CanvasText !important; }
"""
_VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
_MAX_CELL_CHARS = 300


class Section(NamedTuple):
    """A heading with a chart and a table; either may be missing."""

    title: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    left_out: int = 0
    """The number of further rows, which the table does not show."""
    chart: Chart | None = None
    note: str = ""
    """A remark for the reader."""


def check_report(path: str) -> None:
    """Check that a report can be written: PipelineUnavailable without plotly, ValueError for a wrong path."""
    if importlib.util.find_spec("plotly") is None:
        raise PipelineUnavailable("needs plotly for a report: pip install 'odradek[spark]'")
    file = Path(path).resolve()
    if not file.parent.is_dir():
        raise ValueError(f"no folder {Path(path).parent} for the report")
    if file.exists() and not file.is_file():
        raise ValueError(f"the report {path} would replace something that is not a file")
    if not os.access(file.parent, os.W_OK):
        raise ValueError(f"no right to write the report into the folder {Path(path).parent}")


def write_report(
    path: str, title: str, facts: Iterable[str], sections: Iterable[Section], *, reload_s: int | None = None
) -> None:
    """Write a page. ``facts``: the lines at its top. An existing file is replaced in one step.

    ``reload_s``: a browser loads the page again after this number of seconds.
    """
    body: list[str] = []
    titles: list[str] = []
    with_code = True
    for section in sections:
        titles.append(html.escape(section.title))
        body.append(f'<section id="part-{len(titles)}"><h2>{titles[-1]}</h2>')
        if section.note:
            body.append(f"<p>{html.escape(section.note)}</p>")
        if section.chart is not None:
            body.append(draw(section.chart, with_code=with_code))
            with_code = False
        if section.rows:
            body.append(_table(section))
        elif section.chart is None:
            body.append('<p class="note">none</p>')
        body.append("</section>")
    lines = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    links = "".join(f'<a href="#part-{number}">{name}</a> ' for number, name in enumerate(titles, 1))
    body.insert(0, f"<h1>{html.escape(title)}</h1><ul>{lines}</ul><nav>{links}</nav>")
    again = f'<meta http-equiv="refresh" content="{reload_s}">' if reload_s is not None else ""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title>{_VIEWPORT}{again}<style>{_STYLE}</style>'
    text = f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(body)}</body></html>\n'
    file = Path(path).resolve()
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _table(section: Section) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in section.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.rows)
    note = f'<p class="note">and {section.left_out} more rows</p>' if section.left_out else ""
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}'


def _cell(value: Any) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td class="number">{value}</td>'
    return f"<td>{html.escape(_text(value)[:_MAX_CELL_CHARS])}</td>"


def _text(value: Any) -> str:
    """A value as text: a list as its items, a Row as its fields."""
    if isinstance(value, (bytes, bytearray)):
        return value.decode(errors="replace")
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    return "" if value is None else str(value)
