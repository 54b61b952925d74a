"""What members of a consumer group tell each other through the group coordinator (embedded protocol "consumer").

Subscriptions travel in JoinGroup, assignments in SyncGroup, both as bytes that start with an int16 version. Version 1
added the owned partitions (KIP-429), 2 the generation (KIP-792), 3 the rack (KIP-881).
A reader takes any version: of one newer than it knows it reads what it knows.
"""

from __future__ import annotations

from typing import TypeVar

from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Buffer, DataMessage
from odradek.protocol.schema import codec
from odradek.protocol.stored import encode_versioned
from odradek.protocol.stored.consumer_protocol_assignment import ConsumerProtocolAssignment
from odradek.protocol.stored.consumer_protocol_assignment import TopicPartition as AssignedPartitions
from odradek.protocol.stored.consumer_protocol_subscription import ConsumerProtocolSubscription
from odradek.protocol.stored.consumer_protocol_subscription import TopicPartition as OwnedPartitions

__all__ = [
    "AssignedPartitions",
    "ConsumerProtocolAssignment",
    "ConsumerProtocolSubscription",
    "OwnedPartitions",
    "decode_assignment",
    "decode_subscription",
    "encode_assignment",
    "encode_subscription",
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


def _decode(message: type[D], data: Buffer) -> tuple[D, int]:
    if len(data) < 2:
        raise ProtocolError(f"{message.__name__}: {len(data)} bytes are too few")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < message.MIN_VERSION:
        raise ProtocolError(f"{message.__name__} has no version {version}")
    decoded, _ = codec(message, min(version, message.MAX_VERSION)).decode(data, 2)
    return decoded, version
