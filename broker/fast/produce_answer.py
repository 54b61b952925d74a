"""Writes the usual answer to Produce in one piece with its header: one partition that has taken its records.

It is written by hand, like the headers. `codecs.produce` writes the same in general; a test compares them.

Gains 7 % of the CPU of a Produce on 50 connections.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Final

from odradek.protocol.errors import ENCODING_ERRORS
from odradek.protocol.generated.messages.produce import ProduceResponse, TopicProduceResponse
from odradek.protocol.native import mypyc_attr

_LONGEST_NAME: Final = 126  # its compact length is one byte
_KEPT_TOPICS: Final = 1024
_NOBODY: Final = -1
_FIRST_WITH_LOG_START: Final = 5
_FIRST_WITH_RECORD_ERRORS: Final = 8
_FIRST_FLEXIBLE: Final = 9
_FIRST_WITH_TOPIC_ID: Final = 13


@mypyc_attr(acyclic=True)
class _Layout:
    """How the answers for one topic look: what comes before the numbers, and behind them, is the same each time."""

    __slots__ = ("front", "pack", "size")

    def __init__(self, front: bytes, numbers: str, end: bytes) -> None:
        whole = Struct(f">ii{len(front)}s{numbers}{len(end)}s")
        self.front = front
        self.pack: Callable[..., bytes] = whole.pack
        self.size = whole.size - 4


class UsualProduceAnswer:
    """Writes the usual answers of one version."""

    __slots__ = ("_by_topic", "_end", "_numbers", "_version")

    def __init__(self, version: int) -> None:
        self._version = version
        self._numbers = "ihqq" if version < _FIRST_WITH_LOG_START else "ihqqq"
        if version >= _FIRST_FLEXIBLE:
            self._end = b"\1\0\0\0\0\0\0\0\0"  # no errors, no message, tags twice, throttle time, tags
        elif version >= _FIRST_WITH_RECORD_ERRORS:
            self._end = b"\0\0\0\0\xff\xff\0\0\0\0"  # no errors, no message, throttle time
        else:
            self._end = b"\0\0\0\0"  # throttle time
        self._by_topic: dict[object, _Layout] = {}

    @property
    def topics_kept(self) -> int:
        """How many topics it keeps a layout for."""
        return len(self._by_topic)

    def frame(self, correlation_id: int, response: ProduceResponse) -> bytes | None:
        """The answer with its size and header; None for one that is not the usual, or that cannot be written."""
        topics = response.responses
        if len(topics) != 1 or response.throttle_time_ms or response.unknown_tagged_fields:
            return None
        topic = topics[0]
        partitions = topic.partition_responses
        if len(partitions) != 1 or topic.unknown_tagged_fields or len(response.node_endpoints):
            return None
        one = partitions[0]
        leader = one.current_leader
        if (
            one.error_code
            or one.error_message is not None
            or len(one.record_errors)
            or one.unknown_tagged_fields
            or leader.leader_id != _NOBODY
            or leader.leader_epoch != _NOBODY
            or leader.unknown_tagged_fields
        ):
            return None
        try:
            key: object = topic.name if self._version < _FIRST_WITH_TOPIC_ID else topic.topic_id
            layout = self._by_topic.get(key)
            if layout is None:
                layout = self._keep(key, _Layout(self._front_of(topic), self._numbers, self._end))
            index, base, time = one.index, one.base_offset, one.log_append_time_ms
            if self._version < _FIRST_WITH_LOG_START:
                return layout.pack(layout.size, correlation_id, layout.front, index, 0, base, time, self._end)
            start = one.log_start_offset
            return layout.pack(layout.size, correlation_id, layout.front, index, 0, base, time, start, self._end)
        except ENCODING_ERRORS:
            return None

    def _front_of(self, topic: TopicProduceResponse) -> bytes:
        """The bytes before the numbers; ValueError for a topic that is not worth a layout."""
        if self._version >= _FIRST_WITH_TOPIC_ID:
            if len(topic.topic_id) != 16:
                raise ValueError(topic.topic_id)
            return b"\0\2" + topic.topic_id + b"\2"
        name = topic.name.encode()
        if len(name) > _LONGEST_NAME:
            raise ValueError(topic.name)
        if self._version >= _FIRST_FLEXIBLE:
            return b"\0\2" + (len(name) + 1).to_bytes(1, "big") + name + b"\2"
        return b"\0\0\0\1" + len(name).to_bytes(2, "big") + name + b"\0\0\0\1"

    def _keep(self, key: object, layout: _Layout) -> _Layout:
        if len(self._by_topic) >= _KEPT_TOPICS:
            self._by_topic.clear()
        self._by_topic[key] = layout
        return layout
