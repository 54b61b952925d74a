"""Short errors for a foreachBatch function."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
