"""Closing a broker at the end of ``with``, and judging a strict one. `test_threaded` does both with real brokers."""

from __future__ import annotations

import pytest

from odradek.broker.facade.closing import close_after, judgement
from odradek.broker.facade.report.strictness import Strictness, StrictnessError, StrictnessFinding
from odradek.broker.facade.thread_bridge import BrokerClosedError

FINDING = StrictnessFinding("auto-created", "topic 't' was created automatically")


class FakeBroker:
    def __init__(self, *, ended: BrokerClosedError | None = None, judged_after_end: bool = False) -> None:
        self._strict: Strictness | None = Strictness.of(True)
        self.closed = 0
        self._ended = ended
        self._judged_after_end = judged_after_end

    def close(self) -> None:
        self.closed += 1
        if self._ended is not None:
            raise self._ended

    def strictness(self, since: float | None = None, also: str = "") -> list[StrictnessFinding]:
        if self._judged_after_end:
            raise BrokerClosedError("the broker is closed")
        return [FINDING]


def test_a_strict_broker_is_judged_once() -> None:
    broker = FakeBroker()
    judge = judgement(broker)
    with pytest.raises(StrictnessError, match=r"created automatically \[auto-created\]"):
        judge()
    judgement(broker)()


def test_a_broker_that_has_ended_is_not_judged() -> None:
    broker = FakeBroker(judged_after_end=True)
    judgement(broker)()
    assert broker._strict is None


def test_the_error_of_the_block_is_kept_and_says_how_the_broker_ended() -> None:
    ended = BrokerClosedError("the broker ended with an error")
    ended.__cause__ = OSError("no room")
    error = ValueError("of the test")
    broker = FakeBroker(ended=ended)
    close_after(broker, error)
    assert (broker.closed, broker._strict) == (1, None)
    assert error.__notes__ == ["and the broker ended with OSError('no room')"]


def test_without_an_error_closing_may_raise() -> None:
    broker = FakeBroker(ended=BrokerClosedError("the broker ended with an error"))
    with pytest.raises(BrokerClosedError):
        close_after(broker, None)
    assert broker._strict is not None
