"""Measures cases on brokers that run side by side, in turns, so that what else the machine does meets all of them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from tests.bench.brokers import Side
from tests.bench.cases import Case
from tests.bench.load_program import LoadFailed, Measured, run_case
from tests.bench.table import NOT_SERVED, Row
from tests.bench.warm_up import warm_up

T = TypeVar("T")
LEAD_S = 0.2
"""Load before each pass: new connections, and a broker that has been idle during the others' turns."""


def in_turn(brokers: Sequence[T], turn: int) -> Sequence[T]:
    """Another one begins each time."""
    first = turn % len(brokers) if brokers else 0
    return [*brokers[first:], *brokers[:first]]


class Turns:
    """Makes rows: each broker warmed up, then `passes` of `seconds` on each in turns; medians count.

    `remarks` tells what was not as it should be: loads that failed, brokers that were not warm after `windows`.
    """

    def __init__(self, program: Path, seconds: float, passes: int, windows: int) -> None:
        self._program = program
        self._seconds = seconds
        self._passes = passes
        self._windows = windows
        self.remarks: list[str] = []
        self.has_failed = False

    def row(self, case: Case, sides: Sequence[Side]) -> Row:
        row = Row(case.title, case.unit, case.lower_is_better)
        able = [side for side in sides if self._is_ready(case, side, row)]
        found: dict[str, list[Measured]] = {side.name: [] for side in able}
        for turn in range(self._passes):
            for side in in_turn(able, turn):
                measured = self._measure(case, side, LEAD_S, row)
                if measured is not None:
                    found[side.name].append(measured)
        for name, passes in found.items():
            if name not in row.notes:
                cpu = statistics.median(measured.broker_us for measured in passes)
                row.put(name, statistics.median(case.figure(measured) for measured in passes), cpu)
        return row

    def _is_ready(self, case: Case, side: Side, row: Row) -> bool:
        """Warm the broker up; False, with a note in the row, if it does not serve the case."""
        if case.apis and not case.apis <= side.apis():
            row.notes[side.name] = NOT_SERVED
            return False
        try:
            if not warm_up(lambda: self._run(case, side, 0), self._windows):
                self.remarks.append(f"{side.name}, {case.title}: not settled after {self._windows} windows")
        except LoadFailed as failure:
            self._failed(side, row, failure)
            return False
        return True

    def _measure(self, case: Case, side: Side, lead: float, row: Row) -> Measured | None:
        try:
            return self._run(case, side, lead)
        except LoadFailed as failure:
            self._failed(side, row, failure)
            return None

    def _failed(self, side: Side, row: Row, failure: LoadFailed) -> None:
        row.notes[side.name] = "failed"
        self.remarks.append(str(failure))
        self.has_failed = True

    def _run(self, case: Case, side: Side, lead: float) -> Measured:
        return run_case(self._program, case.name, side, self._seconds, lead)
