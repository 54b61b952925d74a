"""The embedded protocol "consumer": what the members of a consumer group tell each other through the coordinator.

Subscriptions travel in JoinGroup, assignments in SyncGroup, both as bytes that start with an int16 version. Version 1
added the owned partitions (KIP-429), 2 the generation (KIP-792), 3 the rack (KIP-881).
A reader takes any version: of one newer than it knows it reads what it knows.
"""

from __future__ import annotations

from typing import TypeVar

from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.consumer_protocol_assignment import ConsumerProtocolAssignment
from odradek.protocol.generated.stored.consumer_protocol_assignment import TopicPartition as AssignedPartitions
from odradek.protocol.generated.stored.consumer_protocol_subscription import ConsumerProtocolSubscription
from odradek.protocol.generated.stored.consumer_protocol_subscription import TopicPartition as OwnedPartitions
from odradek.protocol.message import Buffer, DataMessage
from odradek.protocol.message_codec import codec
from odradek.protocol.stored import encode_versioned

__all__ = [
    "AssignedPartitions",
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "OwnedPartitions",
    "assigned_partitions",
    "decode_assignment",
    "decode_subscription",
    "encode_assignment",
    "encode_subscription",
    "subscribed_topics",
]

D = TypeVar("D", bound=DataMessage)


def encode_subscription(subscription: ConsumerProtocolSubscription, version: int = 3) -> bytes:
    return encode_versioned(subscription, version)


def encode_assignment(assignment: ConsumerProtocolAssignment, version: int = 3) -> bytes:
    return encode_versioned(assignment, version)


def decode_subscription(data: Buffer) -> tuple[ConsumerProtocolSubscription, int]:
    """The subscription and its version. Raises ProtocolError."""
    return _decode(ConsumerProtocolSubscription, data)


def decode_assignment(data: Buffer) -> tuple[ConsumerProtocolAssignment, int]:
    """The assignment and its version; empty data is an empty assignment. Raises ProtocolError."""
    if not data:
        return ConsumerProtocolAssignment(), 0
    return _decode(ConsumerProtocolAssignment, data)


def subscribed_topics(subscription: Buffer) -> tuple[str, ...]:
    """The topics of a subscription, as a group coordinator reads them. Raises ProtocolError.

    It is read as version 0, which every later version begins with.
    """
    return tuple(_decode_version(ConsumerProtocolSubscription, subscription, 0).topics)


def assigned_partitions(assignment: Buffer) -> dict[str, tuple[int, ...]]:
    """The partitions of an assignment by topic, read as version 0; of empty data, none. Raises ProtocolError."""
    if not assignment:
        return {}
    topics: dict[str, tuple[int, ...]] = {}
    for part in _decode_version(ConsumerProtocolAssignment, assignment, 0).assigned_partitions:
        # librdkafka's cooperative-sticky assignor may name a topic twice.
        topics[part.topic] = (*topics.get(part.topic, ()), *part.partitions)
    return topics


def _decode(message: type[D], data: Buffer) -> tuple[D, int]:
    version = _version(message, data)
    return _decode_version(message, data, min(version, message.MAX_VERSION)), version


def _version(message: type[D], data: Buffer) -> int:
    if len(data) < 2:
        raise ProtocolError(f"{message.__name__}: {len(data)} bytes are too few")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < message.MIN_VERSION:
        raise ProtocolError(f"{message.__name__} has no version {version}")
    return version


def _decode_version(message: type[D], data: Buffer, version: int) -> D:
    """The data, which may be of a later version, read as this one."""
    _version(message, data)
    return codec(message, version).decode(data, 2)[0]
