"""Where a shard is in its life."""

from __future__ import annotations

from enum import Enum


class ShardState(Enum):
    """`LOADING` answers COORDINATOR_LOAD_IN_PROGRESS.

    `FAILED` (its log could not be replayed), `RESIGNED` (nobody leads its partition) and `CLOSED` (the broker stops)
    answer NOT_COORDINATOR, as Kafka's do.
    """

    LOADING = "LOADING"
    ACTIVE = "ACTIVE"
    FAILED = "FAILED"
    RESIGNED = "RESIGNED"
    CLOSED = "CLOSED"
