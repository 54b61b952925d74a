"""The history of figures, docs/speed.md: one block for each release or revision that was measured."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odradek._version import __version__
from tests.bench.machine import BUSY
from tests.bench.table import Row, markdown

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "speed.md"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a run was of and on. `other_work` is the share of the machine that went elsewhere, 0 to 1."""

    revision: str
    day: datetime.date
    machine: str
    load_before: float
    other_work: float
    real_time: bool
    """Whether brokers and load had real-time priority: other work had to wait for them."""

    @property
    def is_busy(self) -> bool:
        return self.other_work > BUSY


def revision() -> str:
    """The version and the commit, with `+` for changes that no commit has."""
    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{__version__}, revision {described.stdout.strip()}" if described.returncode == 0 else __version__


def block(rows: Sequence[Row], of: Circumstances) -> str:
    """A heading, the circumstances and the table. Of a busy machine the table has CPU time only."""
    told = (
        f"{of.machine}, shared by broker and load. Load before the run {of.load_before:.1f}; "
        f"other work took {of.other_work:.0%} of the machine during it."
    )
    if of.real_time:
        told += " Brokers and load ran at real-time priority."
    if of.is_busy:
        told += (
            "\n\n**Measured on a busy machine**: no rates, as they are those of what was left of it. CPU time of the"
            "\nbroker a unit, in microseconds, moves less."
        )
    return f"### {of.revision}, {of.day.isoformat()}\n\n{told}\n\n{markdown(rows, rates=not of.is_busy)}"


def append(page: Path, text: str) -> None:
    """Put a block at the end of the page; FileNotFoundError without a page."""
    page.write_text(f"{page.read_text().rstrip()}\n\n{text}")
