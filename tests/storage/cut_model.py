"""The log model with a memory of each moment, so that a log can be cut back to one or go on from one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from odradek.storage.forking import fork
from odradek.storage.partition_log import PartitionLog
from tests.storage.log_model import LogModel
from tests.storage.logs import NOW, records

_STATE = ("rows", "markers", "open", "outcome", "owner", "sequence", "next_offset", "clock")


class CutModel(LogModel):
    """Truncation and forks: what was before stays, what came later is gone, and both logs go on alone."""

    @initialize()
    def begin(self) -> None:
        self.moments: list[dict[str, Any]] = []
        self.others: list[tuple[PartitionLog, list[tuple[int, bytes | None]]]] = []

    def now(self) -> dict[str, Any]:
        return {name: deepcopy(getattr(self, name)) for name in _STATE}

    def go_back_to(self, moment: dict[str, Any]) -> None:
        clock = self.clock
        for name, value in deepcopy(moment).items():
            setattr(self, name, value)
        self.clock = clock
        self.moments = [m for m in self.moments if m["next_offset"] <= self.next_offset]

    @rule()
    def remember(self) -> None:
        self.moments.append(self.now())

    @precondition(lambda self: self.moments and not self.log.log_start_offset)
    @rule(data=st.data())
    def cut(self, data: st.DataObject) -> None:
        moment = data.draw(st.sampled_from(self.moments))
        self.log.truncate(moment["next_offset"], now_ms=self.clock)
        self.go_back_to(moment)

    @precondition(lambda self: self.moments and not self.log.log_start_offset)
    @rule(data=st.data(), go_on_there=st.booleans())
    def part(self, data: st.DataObject, go_on_there: bool) -> None:
        moment = data.draw(st.sampled_from([*self.moments, self.now()]))
        other = fork(self.log, self.log.backend, end_offset=moment["next_offset"], now_ms=NOW)
        assert other.log_end_offset == moment["next_offset"]
        if go_on_there:
            self.others.append((self.log, [(o, v) for o, v, _ in self.rows]))
            self.log = other
            self.go_back_to(moment)
        else:
            self.others.append((other, [(o, v) for o, v, _ in moment["rows"]]))

    @invariant()
    def others_are_left_alone(self) -> None:
        for log, rows in getattr(self, "others", []):
            assert [(r.offset, r.value) for r in records(log)] == rows
