"""The usual answer to ConsumerGroupHeartbeat, in one piece with its header: no error, and partitions of one topic, of
none, or nothing new. Written by hand, as the headers are: every member gets one every few seconds.

`codecs.consumer_group_heartbeat` says the same in general; a test compares.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Final

from odradek.protocol.errors import ENCODING_ERRORS
from odradek.protocol.generated.messages.consumer_group_heartbeat import Assignment, ConsumerGroupHeartbeatResponse

_LONGEST_ID: Final = 126  # its compact length is one byte
_MOST_PARTITIONS: Final = 126  # so is their count
_UUID_BYTES: Final = 16
_NOTHING_NEW: Final = b"\xff\0"  # no assignment, no tagged fields
_NOTHING: Final = b"\1\1\0\0"  # an assignment of no topics

_fronts: dict[int, Struct] = {}
_topics: dict[int, Struct] = {}


def heartbeat_frame(correlation_id: int, response: ConsumerGroupHeartbeatResponse) -> bytes | None:
    """The answer with its size and header; None for one that is not the usual, or that cannot be written."""
    member_id = response.member_id
    if response.error_code or response.error_message is not None or response.unknown_tagged_fields or member_id is None:
        return None
    try:
        end = _NOTHING_NEW if response.assignment is None else _end(response.assignment)
        name = member_id.encode()
        length = len(name)
        if end is None or length > _LONGEST_ID:
            return None
        front = _fronts.get(length)
        if front is None:
            front = _fronts[length] = Struct(f">iixihxB{length}sii")  # header and message have no tagged fields or text
        beats = response.member_epoch, response.heartbeat_interval_ms
        size = front.size - 4 + len(end)
        return front.pack(size, correlation_id, response.throttle_time_ms, 0, length + 1, name, *beats) + end
    except ENCODING_ERRORS:
        return None


def _end(assignment: Assignment) -> bytes | None:
    rows = assignment.topic_partitions
    if len(rows) == 0:
        return None if assignment.unknown_tagged_fields else _NOTHING
    row = rows[0]
    count = len(row.partitions)
    if (
        len(rows) > 1
        or count > _MOST_PARTITIONS
        or len(row.topic_id) != _UUID_BYTES
        or row.unknown_tagged_fields
        or assignment.unknown_tagged_fields
    ):
        return None
    topic = _topics.get(count)
    if topic is None:
        topic = _topics[count] = Struct(f">BB16sB{count}i3x")  # three times no tagged fields
    pack: Callable[..., bytes] = topic.pack
    return pack(1, 2, row.topic_id, count + 1, *row.partitions)
