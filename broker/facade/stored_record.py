"""A record as a user of Python sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Isolation = Literal["read_uncommitted", "read_committed"]
"""Which records a reader sees, in Kafka's words."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record as it lies in the log, with what its batch says.

    ``timestamp``: milliseconds since 1970. ``producer_id``, ``producer_epoch``, ``sequence``: -1 without idempotence.
    ``control``: ``"commit"`` or ``"abort"`` for a transaction marker, else ``None``.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    producer_id: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    control: str | None = None
    leader_epoch: int = 0
    codec: str = "none"
    log_append_time: bool = False
