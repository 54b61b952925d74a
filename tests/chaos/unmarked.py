"""Markers that are left out, where Kafka itself breaks its promise.

A coordinator of Kafka takes a partition that nobody leads for one that is deleted: the transaction completes without
its marker there, and hangs. So a run in which that happened may end in a promise that is broken, and is then repeated
with markers that wait for a leader: there everything has to hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from odradek.broker.coordinator.transaction.service import MarkerWriter
from odradek.protocol.errors import ErrorCode, KafkaError


@contextmanager
def watched_markers(*, wait: bool) -> Iterator[list[str]]:
    """The partitions that had no leader when they were to get a marker; with `wait` they get it once they have one."""
    unmarked: list[str] = []
    write = MarkerWriter.write

    def watched(self: MarkerWriter, topic: str, index: int, *producer: Any, **how: Any) -> Any:
        try:
            return write(self, topic, index, *producer, **how)
        except KafkaError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            unmarked.append(f"{topic}-{index}")
            if wait:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER) from error
            raise

    MarkerWriter.write = watched  # type: ignore[method-assign, assignment]
    try:
        yield unmarked
    finally:
        MarkerWriter.write = write  # type: ignore[method-assign]
