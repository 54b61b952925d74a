"""What the coordinator reads of the data that consumers exchange through it: topics and partitions, no more.

Both structures are read as their version 0, which every later version begins with, so that consumers newer than this
broker are understood too. Source: KIP-62, ConsumerProtocolSubscription and ConsumerProtocolAssignment.
"""

from __future__ import annotations

from struct import Struct, error

_INT16 = Struct(">h")
_INT32 = Struct(">i")


def subscribed_topics(subscription: bytes) -> tuple[str, ...]:
    """The topics of a subscription. ValueError if it is none."""
    try:
        count, position = _begin(subscription)
        topics: list[str] = []
        for _ in range(count):
            topic, position = _string(subscription, position)
            topics.append(topic)
    except (error, UnicodeDecodeError) as problem:
        raise ValueError(f"not a subscription: {problem}") from problem
    return tuple(topics)


def assigned_partitions(assignment: bytes) -> dict[str, tuple[int, ...]]:
    """The partitions of an assignment by topic; empty bytes are an empty assignment. ValueError if it is none."""
    if not assignment:
        return {}
    try:
        count, position = _begin(assignment)
        topics: dict[str, tuple[int, ...]] = {}
        for _ in range(count):
            topic, position = _string(assignment, position)
            (size,) = _INT32.unpack_from(assignment, position)
            partitions = Struct(f">{size}i") if 0 <= size <= len(assignment) else Struct(">q")
            # librdkafka's cooperative-sticky assignor may name a topic twice.
            topics[topic] = topics.get(topic, ()) + partitions.unpack_from(assignment, position + 4)
            position += 4 + 4 * size
    except (error, UnicodeDecodeError) as problem:
        raise ValueError(f"not an assignment: {problem}") from problem
    return topics


def _begin(data: bytes) -> tuple[int, int]:
    """The number of topics, and where they begin."""
    (version,) = _INT16.unpack_from(data)
    (count,) = _INT32.unpack_from(data, 2)
    if version < 0 or not 0 <= count <= len(data):
        raise ValueError(f"not consumer data: version {version}, {count} topics in {len(data)} bytes")
    return count, 6


def _string(data: bytes, position: int) -> tuple[str, int]:
    (size,) = _INT16.unpack_from(data, position)
    end = position + 2 + size
    if size < 0 or end > len(data):
        raise ValueError("a topic name runs past the end")
    return data[position + 2 : end].decode(), end
