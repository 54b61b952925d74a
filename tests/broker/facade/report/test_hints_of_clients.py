"""The hints are provoked in `test_hints`; here is what they leave out."""

from __future__ import annotations

from odradek.broker.facade.report import hints_of_clients
from odradek.broker.facade.report.situation import Situation


def test_of_nothing_there_is_nothing_to_say() -> None:
    empty = Situation(topics={}, groups={})
    own = [each for name, each in vars(hints_of_clients).items() if not name.startswith("_") and callable(each)]
    of_a_situation = [each for each in own if getattr(each, "__annotations__", {}).get("situation") == "Situation"]
    hints = [each for each in of_a_situation if each.__module__ == hints_of_clients.__name__]
    assert len(hints) >= 7
    assert [hint for function in hints for hint in function(empty)] == []
