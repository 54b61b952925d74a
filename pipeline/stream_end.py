"""The end of a streaming query that a command runs: by itself, or because the user or the system asks for it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
