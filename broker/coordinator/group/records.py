"""The records of `__consumer_offsets` that groups of the classic protocol and their offsets consist of.

Offset commits are by far the most frequent, so their keys and values are written and read by hand here, in the formats
of `odradek.protocol.stored.offset_commit` (tests hold the two together). Kafka 4.3.1 writes GroupMetadataValue 3, and
OffsetCommitValue 4, or 1 when a client asks for a retention time of its own.
"""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any, NamedTuple

from odradek.protocol.errors import ProtocolError
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.schema import codec
from odradek.protocol.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.stored.offset_commit import OffsetCommitValue

GROUP_METADATA_VERSION = 3
OFFSET_COMMIT_KEYS = (b"\0\1", b"\0\0")
"""How the keys of offset commits begin: with their record type, which was 0 in very old logs."""
_GROUP_METADATA = b"\0\2"

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_OFFSET_AND_EPOCH = Struct(">hqi")
_NO_TOPIC_ID_TAIL = b"\0"
_TOPIC_ID_TAIL = b"\1\0\x10"


class OffsetKey(NamedTuple):
    """Whose offset: group, topic and partition."""

    group_id: str
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """A committed offset as stored; times in milliseconds, -1 = none, ``record_offset``: where it stands in the log."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes
    record_offset: int


class StoredMember(NamedTuple):
    """A member of a generation as stored."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


class StoredGroup(NamedTuple):
    """A generation of a group as stored. ``protocol_type`` is "" for a group that no member has completed joining."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp: int
    members: tuple[StoredMember, ...]


# -- offsets


@lru_cache(maxsize=1 << 15)
def encode_offset_key(group_id: str, topic: str, partition: int) -> bytes:
    """OffsetCommitKey, behind its record type 1."""
    group, name = group_id.encode(), topic.encode()
    return b"".join((b"\0\1", _INT16.pack(len(group)), group, _INT16.pack(len(name)), name, _INT32.pack(partition)))


@lru_cache(maxsize=1 << 15)
def decode_offset_key(key: bytes) -> OffsetKey:
    """The reverse of `encode_offset_key` (also for record type 0, the same format in old logs)."""
    try:
        end = 4 + _INT16.unpack_from(key, 2)[0]
        stop = end + 2 + _INT16.unpack_from(key, end)[0]
        return OffsetKey(key[4:end].decode(), key[end + 2 : stop].decode(), _INT32.unpack_from(key, stop)[0])
    except Exception as error:
        raise ProtocolError(f"not an offset commit key: {key!r}") from error


def encode_offset_value(
    offset: int, leader_epoch: int, metadata: str, commit_timestamp: int, expire_timestamp: int, topic_id: bytes
) -> bytes:
    """OffsetCommitValue version 4, or 1 with an expiry time, behind its version number."""
    if expire_timestamp >= 0:
        value = OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, expire_timestamp)
        return _INT16.pack(1) + codec(OffsetCommitValue, 1).encode(value)
    text = metadata.encode()
    size = len(text) + 1
    length = bytes((size,)) if size < 0x80 else _uvarint(size)
    tail = _NO_TOPIC_ID_TAIL if topic_id == ZERO_UUID else _TOPIC_ID_TAIL + topic_id
    return b"".join(
        (_OFFSET_AND_EPOCH.pack(4, offset, leader_epoch), length, text, _INT64.pack(commit_timestamp), tail)
    )


def decode_offset_value(value: bytes, record_offset: int) -> CommittedOffset:
    """OffsetCommitValue of any version."""
    size = value[14] - 1 if len(value) > 22 and value[0] == 0 and value[1] == 4 else -1
    if 0 <= size < 0x7F:
        end = 15 + size
        tail = end + 8
        rest = len(value) - tail
        if rest == 1 and value[tail] == 0:
            topic_id = ZERO_UUID
        elif rest == 19 and value[tail : tail + 3] == _TOPIC_ID_TAIL:
            topic_id = value[tail + 3 :]
        else:
            return _decode_any_offset_value(value, record_offset)
        _, offset, leader_epoch = _OFFSET_AND_EPOCH.unpack_from(value)
        text = value[15:end].decode() if size else ""
        return CommittedOffset(
            offset, leader_epoch, text, _INT64.unpack_from(value, end)[0], -1, topic_id, record_offset
        )
    return _decode_any_offset_value(value, record_offset)


def _decode_any_offset_value(value: bytes, record_offset: int) -> CommittedOffset:
    decoded = _decode_value(OffsetCommitValue, value)
    return CommittedOffset(
        decoded.offset,
        decoded.leader_epoch,
        decoded.metadata,
        decoded.commit_timestamp,
        decoded.expire_timestamp,
        decoded.topic_id,
        record_offset,
    )


def _decode_value(message: Any, value: bytes) -> Any:
    if len(value) < 2:
        raise ProtocolError(f"not a value of {message.__name__}: {value!r}")
    (version,) = _INT16.unpack_from(value)
    if not message.MIN_VERSION <= version <= message.MAX_VERSION:
        raise ProtocolError(f"{message.__name__} has no version {version}")
    return codec(message, version).decode(value, 2)[0]


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# -- groups


def is_group_metadata(key: bytes) -> bool:
    """Whether a key is that of a classic group. ProtocolError if it is no key of `__consumer_offsets` at all."""
    if len(key) < 2:
        raise ProtocolError(f"not a key of __consumer_offsets: {key!r}")
    return key.startswith(_GROUP_METADATA)


@lru_cache(maxsize=1 << 12)
def encode_group_key(group_id: str) -> bytes:
    """GroupMetadataKey, behind its record type 2."""
    return _GROUP_METADATA + codec(GroupMetadataKey, 0).encode(GroupMetadataKey(group=group_id))


def encode_group_value(group: StoredGroup) -> bytes:
    """GroupMetadataValue version 3, behind its version number."""
    members = [
        MemberMetadata(
            member_id=m.member_id,
            group_instance_id=m.instance_id,
            client_id=m.client_id,
            client_host=m.client_host,
            rebalance_timeout=m.rebalance_timeout_ms,
            session_timeout=m.session_timeout_ms,
            subscription=m.subscription,
            assignment=m.assignment,
        )
        for m in group.members
    ]
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        current_state_timestamp=group.state_timestamp,
        members=members,
    )
    return _INT16.pack(GROUP_METADATA_VERSION) + codec(GroupMetadataValue, GROUP_METADATA_VERSION).encode(value)


def decode_group_key(key: bytes) -> str:
    """The group id in a GroupMetadataKey."""
    return codec(GroupMetadataKey, 0).decode(key, 2)[0].group


def decode_group_value(value: bytes) -> StoredGroup:
    """GroupMetadataValue of any version; a missing rebalance timeout (version 0) is the session timeout."""
    decoded = _decode_value(GroupMetadataValue, value)
    members = tuple(
        StoredMember(
            m.member_id,
            m.group_instance_id,
            m.client_id,
            m.client_host,
            m.session_timeout if m.rebalance_timeout == -1 else m.rebalance_timeout,
            m.session_timeout,
            bytes(m.subscription),
            bytes(m.assignment),
        )
        for m in decoded.members
    )
    return StoredGroup(
        decoded.protocol_type,
        decoded.generation,
        decoded.protocol,
        decoded.leader,
        decoded.current_state_timestamp,
        members,
    )
