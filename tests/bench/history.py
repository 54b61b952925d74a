"""The figures on record: figures.json has each recorded run, docs/speed.md a table of the newest figures of each row.

``make pages`` writes the table.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from odradek._version import __version__
from tests.bench.machine import BUSY
from tests.bench.table import BROKERS, COMPILED, KAFKA, ODRADEK, Row, times

ROOT = Path(__file__).resolve().parents[2]
FIGURES = Path(__file__).with_name("figures.json")
PAGE = ROOT / "docs" / "speed.md"

TOLERANCE = 0.8
"""A ratio to Kafka below this part of the recorded one is told, but fails nothing: groups of a hundred vary by more."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The revision, day and machine of a run."""

    revision: str
    day: datetime.date
    machine: str
    load_before: float
    other_work: float | None
    """The share of the machine that other programs took, 0 to 1; None if nobody counted."""
    real_time: bool
    """Whether brokers and load had real-time priority, so that other work had to wait for them."""
    note: str = ""
    """What was unlike a usual run. Such a run stays out of the table."""

    @property
    def is_busy(self) -> bool:
        return self.other_work is None or self.other_work > BUSY


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run with its rows."""

    of: Circumstances
    rows: Sequence[Row]


def revision() -> str:
    """The version and the commit, with `+` for changes that no commit has."""
    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{__version__}, revision {described.stdout.strip()}" if described.returncode == 0 else __version__


def read(figures: Path = FIGURES) -> list[Recorded]:
    """All recorded runs, the oldest first."""
    found = []
    for run in json.loads(figures.read_text()):
        rows = [Row(**row) for row in run.pop("rows")]
        of = Circumstances(**run)
        found.append(Recorded(replace(of, day=datetime.date.fromisoformat(run["day"])), rows))
    return found


def write(runs: Iterable[Recorded], figures: Path = FIGURES) -> None:
    """Write all runs, a line for each row."""
    texts = []
    for run in runs:
        head = json.dumps(asdict(run.of) | {"day": run.of.day.isoformat()})
        rows = ",\n  ".join(json.dumps(asdict(row)) for row in run.rows)
        texts.append(f'{head[:-1]}, "rows": [\n  {rows}\n]}}')
    figures.write_text("[\n" + ",\n".join(texts) + "\n]\n")


def newest(runs: Iterable[Recorded]) -> dict[str, tuple[Row, Circumstances]]:
    """The newest figures of each row by its title, of usual runs on a quiet machine."""
    found: dict[str, tuple[Row, Circumstances]] = {}
    for run in runs:
        if run.of.is_busy or run.of.note:
            continue
        found |= {row.title: (row, run.of) for row in run.rows if row.values}
    return found


def table(runs: Iterable[Recorded]) -> str:
    """The table of docs/speed.md."""
    pairs = ((ODRADEK, KAFKA), (COMPILED, KAFKA))
    heads = ["", "unit", *BROKERS, *(f"{one} : {other}" for one, other in pairs), "measured"]
    lines = [heads, ["---", "---", *["---:"] * 6, "---"]]
    for row, of in newest(runs).values():
        ratios = [times(row.ratio(*pair)) for pair in pairs]
        shown = [row.shown(broker) for broker in BROKERS]
        lines.append([row.title, row.unit, *shown, *ratios, f"{of.day}, {of.revision.rpartition(' ')[2]}"])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fallen(rows: Iterable[Row], runs: Iterable[Recorded]) -> list[str]:
    """A line for each row that stands clearly lower beside Kafka than on record."""
    recorded = newest(runs)
    lines = []
    for row in rows:
        for form in (ODRADEK, COMPILED):
            now = row.ratio(form, KAFKA)
            then = recorded[row.title][0].ratio(form, KAFKA) if row.title in recorded else None
            if now and then and now < TOLERANCE * then:
                lines.append(f"{row.title}: {form} does {now:.2f} of Kafka, {then:.2f} on record")
    return lines


def write_page(runs: Iterable[Recorded], page: Path = PAGE) -> None:
    """Put the table between its marks on the page."""
    shown = table(runs)
    page.write_text(re.sub(r"(?s)(?<=<!-- figures -->\n).*(?=<!-- end -->)", lambda _: shown, page.read_text()))


if __name__ == "__main__":
    write_page(read())
