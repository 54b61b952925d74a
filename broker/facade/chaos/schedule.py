"""A schedule of faults as values and as text: when, what, for how long."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

_LINE = re.compile(
    r"^\s*(?:#(?P<number>\d+)\s+)?(?P<at>\d+(?:\.\d+)?)\s+(?P<call>\w+\(.*\))(?:\s+for\s+(?P<lasts>\S+))?\s*$"
)


class ChaosFault(NamedTuple):
    """One fault of a schedule: ``verb(*arguments, **options)``, `at` so many seconds, undone after `lasts` seconds.

    `lasts` is None for a verb that is over at once (``move_leader``, ``advance``). `number`: its place in the drawn
    schedule, from 1. As text: ``#3   12.500 kill_node(2) for 3.2``.
    """

    number: int
    at: float
    verb: str
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    lasts: float | None = None

    @property
    def call(self) -> str:
        """The verb with its arguments, as Python code."""
        given = [repr(value) for value in self.arguments] + [f"{name}={value!r}" for name, value in self.options]
        return f"{self.verb}({', '.join(given)})"

    @property
    def ends(self) -> float:
        """The time of its end, in seconds."""
        return self.at + (self.lasts or 0.0)

    def __str__(self) -> str:
        lasts = "" if self.lasts is None else f" for {self.lasts:.3f}"
        return f"#{self.number:<3} {self.at:8.3f} {self.call}{lasts}"


def schedule_text(faults: Iterable[ChaosFault]) -> str:
    """A line for each fault, in the order of time; `read_schedule` reads it."""
    return "\n".join(map(str, faults))


def read_schedule(lines: str | Iterable[str | ChaosFault]) -> list[ChaosFault]:
    """The faults of a text, or of lines and `ChaosFault` objects, in the order of time.

    Empty lines are skipped. ValueError for a line that is not a fault.
    """
    given: Sequence[str | ChaosFault] = lines.splitlines() if isinstance(lines, str) else list(lines)
    faults = []
    for place, line in enumerate(given, start=1):
        if isinstance(line, ChaosFault):
            faults.append(line)
        elif line.strip():
            faults.append(_read_line(line, place))
    return sorted(faults, key=lambda fault: fault.at)


def _read_line(line: str, place: int) -> ChaosFault:
    found = _LINE.match(line)
    if found is None:
        raise ValueError(
            f"line {place}: {line.strip()!r} is not a fault: expected a line like `12.5 kill_node(2) for 3.2`"
        )
    try:
        verb, arguments, options = _read_call(found["call"])
        lasts = None if found["lasts"] is None else float(found["lasts"])
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"line {place}: {line.strip()!r}: {error}") from None
    return ChaosFault(int(found["number"] or place), float(found["at"]), verb, arguments, options, lasts)


def _read_call(text: str) -> tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    """The name, the arguments and the options of a call whose arguments are plain values."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("not a verb with its arguments")
    arguments = tuple(ast.literal_eval(each) for each in call.args)
    options = tuple((each.arg or "", ast.literal_eval(each.value)) for each in call.keywords)
    return call.func.id, arguments, options
