"""The record that a classic group consists of: GroupMetadata, one for each generation. Kafka 4.4.0 writes version 3."""

from __future__ import annotations

from typing import NamedTuple

from odradek.broker.coordinator.group.records import decode_key, decode_value, encode_key, encode_value
from odradek.broker.runtime.machine import NewRecord
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.text_cache import text_cache

GROUP_METADATA_VERSION = 3


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
    """A generation of a group as stored. `protocol_type` is "" for a group that no member has completed joining."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_timestamp: int
    members: tuple[StoredMember, ...]


@text_cache(1 << 12)
def encode_group_key(group_id: str) -> bytes:
    """GroupMetadataKey, behind its record type 2."""
    return encode_key(GroupMetadataKey(group=group_id))


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
    return encode_value(value, GROUP_METADATA_VERSION)


def group_record(group_id: str, group: StoredGroup) -> NewRecord:
    """The record of a generation. A member without a rebalance timeout of its own is read with another one."""
    decoded = None if any(member.rebalance_timeout_ms == -1 for member in group.members) else group
    return NewRecord(encode_group_key(group_id), encode_group_value(group), decoded)


def decode_group_key(key: bytes) -> str:
    """The group id in a GroupMetadataKey."""
    return decode_key(GroupMetadataKey, key).group


def decode_group_value(value: bytes) -> StoredGroup:
    """GroupMetadataValue of any version; a missing rebalance timeout (version 0) is the session timeout."""
    decoded = decode_value(GroupMetadataValue, value)
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
