"""How a query that a command runs comes to its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from odradek.pipeline.streaming import brief_text, wait_for_end, with_brief_errors
from tests.pipeline.test_session import PATIENCE_S

pytest.importorskip("pyspark")


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
    monkeypatch.setattr("odradek.pipeline.streaming.time.sleep", lambda _: query.step())


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


def test_stream_raises_what_ends_its_query() -> None:
    def fail(query: Query) -> None:
        raise RuntimeError("the topic is gone")

    handler = signal.getsignal(signal.SIGINT)
    query: Any = Query(fail)
    with pytest.raises(RuntimeError, match="the topic is gone"):
        wait_for_end(query)
    assert signal.getsignal(signal.SIGINT) is handler


GROUP = "5e1f6d0e-of-a-query"


def ticks(spark: Any, folder: Path) -> Any:
    """A stream that has a row in every batch."""
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    return rows.writeStream.option("checkpointLocation", str(folder))


def test_a_long_error_is_told(spark: Any, tmp_path: Path) -> None:
    def fail(rows: Any, number: int) -> None:
        spark._jvm.java.lang.Integer.parseInt("x" * 100_000)

    query = ticks(spark, tmp_path).foreachBatch(with_brief_errors(fail)).start()
    with pytest.raises(Exception, match="NumberFormatException: For input string") as caught:
        query.awaitTermination(PATIENCE_S)
    assert "BatchFailedError" in str(caught.value)
    assert "x" * 2000 not in str(caught.value)


def test_the_end_of_a_long_error_is_told() -> None:
    """There a traceback of a worker's Python has its error."""
    text = "PythonException: Traceback\n" + "  File\n" * 1000 + "ModuleNotFoundError: No module named 'odradek'"
    error: Any = Exception()
    error.java_exception = SimpleNamespace(toString=lambda: text, getCause=lambda: None)
    told = brief_text(error)
    assert told.startswith("PythonException: ")
    assert told.endswith("\nModuleNotFoundError: No module named 'odradek'")
    assert len(told) < 1600


def test_an_error_without_causes_tells_its_own_text() -> None:
    """As PySpark 4.0 has an error of a worker's Python."""
    error = Exception(
        "\n  Please see the stack trace below.\n  raise error\nKafkaError: no\n\nJVM stacktrace:\nat org.x"
    )
    assert brief_text(error) == "Please see the stack trace below.\n  raise error\nKafkaError: no"
    assert brief_text(ValueError()) == "ValueError"


def error_of(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


def means_a_stop(spark: Any, text: str) -> bool:
    """Spark's own judgement of an error that a batch ended with while the query was being stopped."""
    streaming = spark._jvm.org.apache.spark.sql.execution.streaming
    judge = streaming.StreamExecution if spark.version < "4.1" else streaming.runtime.StreamExecution
    return bool(judge.isInterruptionException(spark._jvm.py4j.Py4JException(text), spark._jsc.sc()))


def test_an_interruption_means_a_stop(spark: Any) -> None:
    """What the JVM throws when the query is stopped while it waits inside a call."""
    future = spark._jvm.java.util.concurrent.CompletableFuture()
    future.completeExceptionally(spark._jvm.java.lang.InterruptedException("y" * 100_000))
    text = brief_text(error_of(future.get))
    assert len(text) < 10_000
    assert means_a_stop(spark, text)


def test_a_cancelled_job_means_a_stop(spark: Any) -> None:
    text = f"Job 1 cancelled part of cancelled job group {GROUP}"
    future = spark._jvm.java.util.concurrent.CompletableFuture()
    future.completeExceptionally(spark._jvm.org.apache.spark.SparkException(text))
    found = brief_text(error_of(future.get))
    spark.sparkContext.setJobGroup(GROUP, "the query")
    try:
        assert means_a_stop(spark, found)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_another_error_means_no_stop(spark: Any) -> None:
    text = brief_text(error_of(lambda: spark._jvm.java.io.FileReader("/nonesuch/file")))
    assert "FileNotFoundException: /nonesuch/file" in text
    assert not means_a_stop(spark, text)


def test_errors_of_python_stay_as_they_are() -> None:
    pytest.importorskip("pyspark")

    def fail(rows: Any, number: int) -> None:
        raise KeyError("mine")

    no_rows: Any = None
    with pytest.raises(KeyError, match="mine"):
        with_brief_errors(fail)(no_rows, 0)
