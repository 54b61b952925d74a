"""Streaming queries: how a command waits for the end of one, and short errors for its foreachBatch function."""

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
    """Wait for the end of a query and return whether a signal stopped it. An error of the query is raised.

    SIGINT or SIGTERM stops the query after the running micro-batch. A second signal stops it at once.
    """
    with _asked_to_stop() as times:
        while not query.awaitTermination(_LOOK_S):  # type: ignore[arg-type]  # Spark accepts fractions of a second
            if times():
                _stop_behind_batch(query, hurry=lambda: times() > 1)
                query.awaitTermination()
                return True
    return False


@contextmanager
def _asked_to_stop() -> Iterator[Callable[[], int]]:
    """Count the signals that ask for the end while the block runs. Only the main thread receives signals."""
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
    """The number of the last finished micro-batch."""
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])


_log = logging.getLogger("odradek.pipeline")

_MAX_CAUSES = 8
_MAX_CAUSE_CHARS = 1500
_END_CHARS = 600
"""Characters kept from the end: a Python traceback ends with its error."""
_STACKS = "JVM stacktrace:"
"""PySpark's heading of a Java stack."""
# Spark treats an error as a consequence of a stop if one of these follows the sign in its text.
_INTERRUPTIONS = (
    "java.lang.InterruptedException",
    "java.io.InterruptedIOException",
    "java.nio.channels.ClosedByInterruptException",
)
_INTERRUPTION_SIGN = "py4j.protocol.Py4JJavaError: An error occurred while calling Spark: "


class BatchFailedError(Exception):
    """An error of Spark in a micro-batch: the Java exceptions, outermost first, without their stacks."""


def with_brief_errors(process: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
    """Wrap a `foreachBatch` function: an error of Spark becomes a BatchFailedError.

    If a query is stopped within a micro-batch, Spark searches the text of the error for signs of the stop. Its pattern
    uses stack for each character, and the JVM's stack traces overflow it. Then a plain stop prints a thousand lines.
    The logger `odradek.pipeline` has the whole error at level DEBUG.
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
    """The Java exceptions of a PySpark error, else its text. PySpark 4.0 has no Java exception for a worker's error."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    causes: list[str] = []
    while java is not None and len(causes) < _MAX_CAUSES:
        causes.append(_shortened(str(java.toString())))
        java = java.getCause()
    said = str(error).partition(_STACKS)[0].strip()
    text = "\ncaused by ".join(causes) or _shortened(said) or type(error).__name__
    interruption = next((name for name in _INTERRUPTIONS if name in text), None)
    # At the end, where Spark has little text left to search.
    return f"{text}\n{_INTERRUPTION_SIGN}{interruption}" if interruption else text


def _shortened(text: str) -> str:
    if len(text) <= _MAX_CAUSE_CHARS:
        return text
    return f"{text[: _MAX_CAUSE_CHARS - _END_CHARS]}\n...\n{text[-_END_CHARS:]}"
