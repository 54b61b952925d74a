"""The states of a record in a share group, and what acknowledgements ask for.

The numbers are those on the wire and in `__share_group_state`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from odradek.protocol.uuids import uuid_to_text


class RecordState(IntEnum):
    """The state of a record."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4


AVAILABLE = RecordState.AVAILABLE
ACQUIRED = RecordState.ACQUIRED
ACKNOWLEDGED = RecordState.ACKNOWLEDGED
ARCHIVING = RecordState.ARCHIVING
ARCHIVED = RecordState.ARCHIVED

TERMINAL = frozenset({ACKNOWLEDGED, ARCHIVED})
"""A record in one of these states is never delivered again."""

TRANSITIONS: Mapping[RecordState, Mapping[RecordState, str]] = {
    AVAILABLE: {
        ACQUIRED: "a member fetches it",
        ARCHIVED: "the log no longer holds it, or its transaction was aborted",
    },
    ACQUIRED: {
        ACKNOWLEDGED: "the member accepts it",
        AVAILABLE: "the member releases it, leaves or lets its lock run out",
        ARCHIVED: "the member rejects it or finds a gap; it would become available, but was delivered often enough",
        ARCHIVING: "the same, and its group has a dead letter queue; gaps go to none",
    },
    ACKNOWLEDGED: {},
    ARCHIVING: {ARCHIVED: "it is in the dead letter queue, or cannot get there"},
    ARCHIVED: {},
}
"""From each state: the states that may follow it, and why. Anything else is a bug."""

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""Acknowledge types. A gap is an offset at which the member found no record."""

ACKNOWLEDGED_AS: Mapping[int, RecordState] = {
    GAP: ARCHIVED,
    ACCEPT: ACKNOWLEDGED,
    RELEASE: AVAILABLE,
    REJECT: ARCHIVED,
}
"""The state that each acknowledge type leads to; RENEW leaves the record acquired."""

BATCH_OPTIMIZED, RECORD_LIMIT = range(2)
"""Share acquire modes: whole batches that begin within the limit, or no record beyond it (KIP-1206)."""

READ_UNCOMMITTED = "read_uncommitted"
READ_COMMITTED = "read_committed"


class ShareKey(NamedTuple):
    """Which share partition: group, topic id and partition."""

    group_id: str
    topic_id: bytes
    partition: int

    @property
    def text(self) -> str:
        """As FindCoordinator names it, which decides on the partition of `__share_group_state`."""
        return f"{self.group_id}:{uuid_to_text(self.topic_id)}:{self.partition}"


class StateBatch(NamedTuple):
    """A run of offsets with one state and delivery count, as the share coordinator stores it."""

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int


class StoredState(NamedTuple):
    """The stored state of a share partition. Start offset -1: not known yet."""

    state_epoch: int
    start_offset: int
    batches: Sequence[StateBatch]


class AcquiredRange(NamedTuple):
    """A run of records that a fetch has acquired: both ends included."""

    first_offset: int
    last_offset: int
    delivery_count: int

    @property
    def size(self) -> int:
        """The number of offsets."""
        return self.last_offset - self.first_offset + 1

    def goes_on_with(self, other: AcquiredRange) -> bool:
        """Whether `other` begins where this one ends, delivered as often."""
        return self.last_offset + 1 == other.first_offset and self.delivery_count == other.delivery_count


class AcknowledgementBatch(NamedTuple):
    """An acknowledgement of a run of offsets: one type for all of them, or one for each."""

    first_offset: int
    last_offset: int
    types: list[int]


class ShareSettings(NamedTuple):
    """The configs of a group that concern its share partitions; Kafka's names are in the comments."""

    lock_duration_ms: int = 30_000  # share.record.lock.duration.ms
    delivery_limit: int = 5  # share.delivery.count.limit
    max_locks: int = 2000  # share.partition.max.record.locks
    renew_enabled: bool = True  # share.renew.acknowledge.enable
    isolation_level: str = READ_UNCOMMITTED  # share.isolation.level
    auto_offset_reset: str = "latest"  # share.auto.offset.reset
    dead_letter_topic: str = ""  # errors.deadletterqueue.topic.name, where the cluster has dead letter queues
    copies_dead_letters: bool = False  # errors.deadletterqueue.copy.record.enable
