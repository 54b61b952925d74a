"""A conversation as data: what is said, in which order, on which connections."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.conformance.duel.pairing import Form


@dataclass(frozen=True)
class Step:
    """One request. `number` stays when others are left out. `waits`: its answer may come after later steps.

    Without an `api` it is a rest of `pause_s`.
    """

    number: int
    on: str = ""
    api: str = ""
    version: int = 0
    body: Any = None
    waits: bool = False
    pause_s: float = 0

    def as_json(self) -> str:
        if not self.api:
            return json.dumps([self.number, self.pause_s])
        return json.dumps([self.number, self.on + ("*" if self.waits else ""), self.api, self.version, self.body])

    @classmethod
    def of_json(cls, text: str) -> Step:
        row: list[Any] = json.loads(text)
        if len(row) == 2:
            return cls(row[0], pause_s=row[1])
        number, on, api, version, body = row
        return cls(number, on.rstrip("*"), api, version, body, on.endswith("*"))


@dataclass(frozen=True)
class Answered:
    """A step and what both sides answered, with symbols in place of ids."""

    step: Step
    odradek: Form
    kafka: Form


def written(steps: Sequence[Step]) -> str:
    """One step a line: `[7, "a", "JoinGroup", 9, {..}]`; `"a*"`: the answer may come later; `[8, 0.5]`: a rest."""
    return "".join(step.as_json() + "\n" for step in steps)


def read(text: str) -> list[Step]:
    """The reverse of `written`."""
    return [Step.of_json(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]
