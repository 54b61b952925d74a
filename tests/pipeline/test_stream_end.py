"""How a query that a command runs comes to its end."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

pytest.importorskip("pyspark")

from odradek.pipeline.stream_end import wait_for_end


class Query:
    """A query in which something happens each time that it is looked at."""

    def __init__(self, *steps: Any) -> None:
        self._steps = list(steps)
        self.isActive = True
        self.status = {"isTriggerActive": True}
        self.lastProgress: Any = None
        self.stops = 0

    def step(self) -> None:
        if self._steps:
            self._steps.pop(0)(self)

    def awaitTermination(self, timeout: float | None = None) -> bool | None:  # noqa: N802 (Spark's name)
        if timeout is None:
            assert not self.isActive, "nobody has stopped it"
            return None
        self.step()
        return not self.isActive

    def stop(self) -> None:
        self.stops += 1
        self.isActive = False


def asks(number: signal.Signals) -> Any:
    return lambda _: os.kill(os.getpid(), number)


def ends_batch(query: Query) -> None:
    query.lastProgress = {"batchId": 7}


def sleeps(query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pause is a step of the query."""
    monkeypatch.setattr("odradek.pipeline.stream_end.time.sleep", lambda _: query.step())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_query_behind_its_batch(number: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    seen: list[int] = []

    def note(query: Query) -> None:
        seen.append(query.stops)

    query: Any = Query(lambda _: None, asks(number), note, note, ends_batch)
    sleeps(query, monkeypatch)
    assert wait_for_end(query)
    assert (seen, query.stops) == ([0, 0], 1)  # not while the batch ran
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers


def test_between_two_batches_it_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    query: Any = Query(asks(signal.SIGTERM))
    query.status["isTriggerActive"] = False
    sleeps(query, monkeypatch)
    assert wait_for_end(query)
    assert query.stops == 1


def test_a_second_signal_does_not_wait_for_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    query: Any = Query(asks(signal.SIGINT), asks(signal.SIGINT))
    sleeps(query, monkeypatch)
    assert wait_for_end(query)
    assert query.stops == 1


def test_a_query_that_ends_by_itself_was_not_stopped() -> None:
    query: Any = Query(lambda query: setattr(query, "isActive", False))
    assert not wait_for_end(query)
    assert query.stops == 0


def test_what_ends_a_query_is_raised() -> None:
    def fail(query: Query) -> None:
        raise RuntimeError("the topic is gone")

    handler = signal.getsignal(signal.SIGINT)
    query: Any = Query(fail)
    with pytest.raises(RuntimeError, match="the topic is gone"):
        wait_for_end(query)
    assert signal.getsignal(signal.SIGINT) is handler
