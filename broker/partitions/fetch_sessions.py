"""Incremental fetch sessions (KIP-227): the partitions that a client fetches, kept between its requests.

A full fetch (epoch 0) may open a session. The requests that follow name only what changed, and the answers contain only
what changed. Sessions belong to a node, have random ids and are evicted when there are too many.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from odradek.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from odradek.broker.partitions.partition import Partition
    from odradek.protocol.generated.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic, PartitionData

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MAX_EPOCH = 0x7FFFFFFF
EVICTION_MS = 120_000
"""A session unused for so long gives way to any new one; one that lived so long gives way to a larger one."""

_NONE: Final = ErrorCode.NONE  # compiled code that reads an attribute of an Enum class looks it up each time
_PLACES = 8
_IDS_IN_A_PLACE = 0x7FFFFFFF // _PLACES

TopicKey = str | bytes
"""A topic name up to Fetch v12, a topic id from v13 on."""


class FetchItem:
    """One partition of a fetch. In a session it also has what the last answer said.

    `partition` is None until resolved; `error` says why that failed. `name`: the topic's name, which a session
    remembers for its id.
    """

    __slots__ = (
        "current_leader_epoch",
        "error",
        "fetch_offset",
        "high_watermark",
        "index",
        "last_fetched_epoch",
        "log_start_offset",
        "max_bytes",
        "name",
        "partition",
        "topic",
    )

    def __init__(self, topic: TopicKey, asked: FetchPartition) -> None:
        self.topic = topic
        self.index = asked.partition
        self.name: str | None = None
        self.partition: Partition | None = None
        self.error = _NONE
        self.high_watermark = -1
        self.log_start_offset = -1
        self.update(asked)

    def update(self, asked: FetchPartition) -> None:
        """Take over where and how much to fetch."""
        self.fetch_offset = asked.fetch_offset
        self.current_leader_epoch = asked.current_leader_epoch
        self.last_fetched_epoch = asked.last_fetched_epoch
        self.max_bytes = asked.partition_max_bytes

    def is_idle(self, node_id: int) -> bool:
        """Whether there is certainly nothing to read and nothing new to report. In a session that is often so."""
        partition = self.partition
        if partition is None or partition.deleted or partition.leader_id != node_id:
            return False
        if self.last_fetched_epoch >= 0 or 0 <= self.current_leader_epoch != partition.leader_epoch:
            return False
        log = partition.log
        return (
            self.fetch_offset == self.high_watermark == log.high_watermark
            and self.log_start_offset == log.log_start_offset
        )

    def note_answer(self, data: PartitionData, size_bytes: int) -> bool:
        """Remember what is answered; return whether an incremental response has to carry it."""
        changed = (
            size_bytes > 0
            or self.high_watermark != data.high_watermark
            or self.log_start_offset != data.log_start_offset
            or data.diverging_epoch.epoch >= 0
            or data.preferred_read_replica >= 0
        )
        self.high_watermark = data.high_watermark
        self.log_start_offset = data.log_start_offset
        if data.error_code:
            # The client has to get the end of the error as well, whatever the watermark is then.
            self.high_watermark = -1
            changed = True
        return changed


def is_session_id(session_id: int) -> bool:
    """Whether Kafka can look the id up. It splits its cache into parts by the id and fails for ids beyond them."""
    return -_IDS_IN_A_PLACE < session_id < _IDS_IN_A_PLACE * _PLACES


def asked_items(topics: Iterable[FetchTopic], by_id: bool) -> list[FetchItem]:
    """The partitions of a request in its order; of one that is named twice, the last entry counts."""
    found: dict[tuple[TopicKey, int], FetchItem] = {}
    for topic in topics:
        key: TopicKey = topic.topic_id if by_id else topic.topic
        for asked in topic.partitions:
            found[(key, asked.partition)] = FetchItem(key, asked)
    return list(found.values())


class FetchSession:
    """The partitions that one client fetches from one node. Owner: the cache.

    `items` is in the order in which partitions are served. A partition that returned records moves to the end, so that
    a small response limit starves none. `epoch` is the epoch that the next request must have.
    """

    def __init__(self, session_id: int, items: Iterable[FetchItem], by_id: bool, now_ms: int) -> None:
        self.id = session_id
        self.items: dict[tuple[TopicKey, int], FetchItem] = {(item.topic, item.index): item for item in items}
        self.by_id = by_id
        self.epoch = 1
        self.created_ms = now_ms
        self.last_used_ms = now_ms

    def update(self, topics: Iterable[FetchTopic], forgotten: Iterable[ForgottenTopic]) -> None:
        """Apply the changes of an incremental request: added and changed partitions first, then the forgotten ones."""
        items = self.items
        for topic in topics:
            key: TopicKey = topic.topic_id if self.by_id else topic.topic
            for asked in topic.partitions:
                item = items.get((key, asked.partition))
                if item is None:
                    items[(key, asked.partition)] = FetchItem(key, asked)
                else:
                    item.update(asked)
        for gone in forgotten:
            for index in gone.partitions:
                items.pop((gone.topic_id if self.by_id else gone.topic, index), None)

    def advance(self) -> None:
        """The next epoch: they count up and go round to 1."""
        self.epoch = 1 if self.epoch == MAX_EPOCH else self.epoch + 1

    def served_records(self, item: FetchItem) -> None:
        """`item` has had its turn."""
        key = (item.topic, item.index)
        if self.items.pop(key, None) is not None:
            self.items[key] = item


class FetchSessionCache:
    """The fetch sessions of a node, in eight parts as in Kafka.

    Owner: the node's fetch handler. `slots`: how many there may be (`max.incremental.fetch.session.cache.slots`). Each
    part has an eighth of them, rounded down; new sessions go to one after the other. An id says in which part it is. In
    a full part a new session takes the place of one that was unused for two minutes, or of a smaller one that is two
    minutes old; else the client gets no session, which costs it only bytes.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._parts: list[dict[int, FetchSession]] = [{} for _ in range(_PLACES)]
        self._turn = 0

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def _part(self, session_id: int) -> dict[int, FetchSession]:
        return self._parts[min(max(0, session_id) // _IDS_IN_A_PLACE, _PLACES - 1)]

    def find(self, session_id: int) -> FetchSession | None:
        """The session with this id; None without one."""
        return self._part(session_id).get(session_id)

    def create(self, items: list[FetchItem], by_id: bool, now_ms: int) -> FetchSession | None:
        """Open a session for a full fetch; None if there is no room."""
        number = self._turn % _PLACES
        self._turn += 1
        part = self._parts[number]
        if len(part) >= self.slots // _PLACES and not _evict(part, len(items), now_ms):
            return None
        session_id = NO_SESSION
        while session_id == NO_SESSION or session_id in part:
            first = number * _IDS_IN_A_PLACE
            session_id = random.randrange(max(1, first), first + _IDS_IN_A_PLACE)
        session = part[session_id] = FetchSession(session_id, items, by_id, now_ms)
        return session

    def remove(self, session_id: int) -> None:
        """Close a session, if it exists."""
        self._part(session_id).pop(session_id, None)

    def resume(self, session_id: int, epoch: int, by_id: bool, now_ms: int) -> FetchSession:
        """The session that an incremental request continues; its epoch has moved on.

        Raises FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, or FETCH_SESSION_TOPIC_ID_ERROR when the client
        changed between topic names and topic ids.
        """
        session = self.find(session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.by_id != by_id:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.advance()
        session.last_used_ms = now_ms
        return session


def _evict(part: dict[int, FetchSession], new_size: int, now_ms: int) -> bool:
    """Close the session that a new one of this size may replace; False if there is none."""
    oldest = min(part.values(), key=lambda session: session.last_used_ms, default=None)
    if oldest is None:
        return False
    if now_ms - oldest.last_used_ms > EVICTION_MS:
        del part[oldest.id]
        return True
    settled = [session for session in part.values() if now_ms - session.created_ms > EVICTION_MS]
    smallest = min(settled, key=lambda session: len(session.items), default=None)
    if smallest is None or len(smallest.items) >= new_size:
        return False
    del part[smallest.id]
    return True
