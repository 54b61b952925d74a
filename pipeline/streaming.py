"""The end of a streaming query that a command runs: by itself, or because the user or the system asks for it."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_LOOK_S = 0.5
_PAUSE_S = 0.05


def wait_for_end(query: StreamingQuery) -> bool:
    """Wait until a query has ended; whether it was stopped. What ended it otherwise is raised.

    SIGINT or SIGTERM stops it behind the batch that runs, a second one at once.
    """
    with _asked_to_stop() as times:
        while not query.awaitTermination(_LOOK_S):  # type: ignore[arg-type]  # Spark takes parts of a second
            if times():
                _stop_behind_batch(query, hurry=lambda: times() > 1)
                query.awaitTermination()
                return True
    return False


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], int]]:
    """Counts the signals that ask for the end since the block began. Only the main thread gets signals."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        asked.append(number)

    ours = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, note) for number in ours}
    try:
        yield lambda: len(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop_behind_batch(query: StreamingQuery, *, hurry: Callable[[], bool]) -> None:
    running = _last_batch(query)
    while query.isActive and query.status["isTriggerActive"] and _last_batch(query) == running and not hurry():
        time.sleep(_PAUSE_S)
    query.stop()


def _last_batch(query: StreamingQuery) -> int | None:
    """The number of the last batch that has ended."""
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])


_log = logging.getLogger("odradek.pipeline")

_MAX_CAUSES = 8
_MAX_CAUSE_CHARS = 1500
_END_CHARS = 600
"""The part of them that is kept from the end: a traceback of Python ends with its error."""
_STACKS = "JVM stacktrace:"
"""PySpark's heading of a Java stack."""
# Spark takes an error for the consequence of a stop if its text has one of these anywhere behind the sign.
_INTERRUPTIONS = (
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
)
_INTERRUPTION_SIGN = "py4j.protocol.Py4JJavaError: An error occurred while calling Spark: "


class BatchFailedError(Exception):
    """What Spark said while a batch was processed: the Java exceptions, outermost first, without their stacks."""


def with_brief_errors(process: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """The function for `foreachBatch`, its Spark errors cut down to a BatchFailedError.

    When a query is stopped in the middle of a batch, Spark searches the text of the batch's error for signs of the
    stop, with a pattern that needs stack for each character. The stack traces of the JVM in it overflow that stack,
    and a plain stop prints a thousand lines. The log `odradek.pipeline` has the whole error at level DEBUG.
    """

    def processed(rows: DataFrame, number: int) -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            process(rows, number)
        except (PySparkException, Py4JError) as error:
            _log.debug("batch %s failed", number, exc_info=True)
            raise BatchFailedError(brief_text(error)) from None

    return processed


def brief_text(error: Exception) -> str:
    """The Java exceptions behind an error of PySpark, or its text: PySpark 4.0 has none for an error of a worker."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    causes: list[str] = []
    while java is not None and len(causes) < _MAX_CAUSES:
        causes.append(_shortened(str(java.toString())))
        java = java.getCause()
    said = str(error).partition(_STACKS)[0].strip()
    text = "\ncaused by ".join(causes) or _shortened(said) or type(error).__name__
    interruption = next((name for name in _INTERRUPTIONS if name in text), None)
    # At the end, where little is left to search.
    return f"{text}\n{_INTERRUPTION_SIGN}{interruption}" if interruption else text


def _shortened(text: str) -> str:
    if len(text) <= _MAX_CAUSE_CHARS:
        return text
    return f"{text[: _MAX_CAUSE_CHARS - _END_CHARS]}\n...\n{text[-_END_CHARS:]}"
