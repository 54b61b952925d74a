"""The hints are provoked in `test_hints`; here is what they leave out."""

from __future__ import annotations

from odradek.broker.facade.report import hints_of_broker
from odradek.broker.facade.report.situation import Situation


def test_of_nothing_there_is_nothing_to_say() -> None:
    empty = Situation(topics={}, groups={})
    own = [each for name, each in vars(hints_of_broker).items() if not name.startswith("_") and callable(each)]
    hints = [each for each in own if each.__module__ == hints_of_broker.__name__]
    assert len(hints) >= 7
    assert [hint for function in hints for hint in function(empty)] == []
