"""The records of `__share_group_state`: a snapshot of a share partition, and what was added to it since.

A ShareSnapshot says all; a ShareUpdate says what one write added. So the last record of a key is not enough to rebuild
the state: the topic is not compacted, but pruned before its oldest snapshot that still counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from odradek.broker.partitions.share.states import ShareKey, StateBatch
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored import share_snapshot, share_update
from odradek.protocol.generated.stored.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from odradek.protocol.generated.stored.share_update import ShareUpdateKey, ShareUpdateValue
from odradek.protocol.message_codec import codec

SNAPSHOT = b"\0\0"
UPDATE = b"\0\1"
"""How the keys of the two record types begin."""

UNINITIALIZED = -1
"""The start offset of a share partition that nobody has fetched from yet, and its count of done records."""

_INT16 = Struct(">h")
_VERSION = b"\0\0"


class ShareState(NamedTuple):
    """What is stored of a share partition. `batches` in order, without overlaps, none before `start_offset`.

    `delivery_complete_count`: how many records from `start_offset` on are done. Times in milliseconds.
    """

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]
    create_ms: int
    write_ms: int


class ShareDelta(NamedTuple):
    """What one write adds; -1 as start offset or leader epoch leaves the stored one."""

    snapshot_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: tuple[StateBatch, ...]


@lru_cache(maxsize=1 << 12)
def encode_key(kind: bytes, key: ShareKey) -> bytes:
    """The key of a snapshot or an update, behind its record type."""
    group = key.group_id.encode()
    return b"".join((kind, _INT16.pack(len(group)), group, key.topic_id, key.partition.to_bytes(4, "big", signed=True)))


@lru_cache(maxsize=1 << 12)
def decode_key(key: bytes) -> ShareKey:
    """The share partition that a key is about."""
    message: type[ShareSnapshotKey | ShareUpdateKey] = ShareSnapshotKey if key.startswith(SNAPSHOT) else ShareUpdateKey
    decoded = codec(message, 0).decode(key, 2)[0]
    return ShareKey(decoded.group_id, decoded.topic_id, decoded.partition)


def encode_snapshot(state: ShareState) -> bytes:
    """ShareSnapshotValue, behind its version."""
    value = ShareSnapshotValue(
        snapshot_epoch=state.snapshot_epoch,
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.delivery_complete_count,
        create_timestamp=state.create_ms,
        write_timestamp=state.write_ms,
        state_batches=[share_snapshot.StateBatch(*batch) for batch in state.batches],
    )
    return _VERSION + codec(ShareSnapshotValue, 0).encode(value)


def decode_snapshot(value: bytes) -> ShareState:
    """The reverse of `encode_snapshot`."""
    _check_version(value)
    decoded = codec(ShareSnapshotValue, 0).decode(value, 2)[0]
    return ShareState(
        decoded.snapshot_epoch,
        decoded.state_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
        decoded.create_timestamp,
        decoded.write_timestamp,
    )


def encode_update(delta: ShareDelta) -> bytes:
    """ShareUpdateValue, behind its version."""
    value = ShareUpdateValue(
        snapshot_epoch=delta.snapshot_epoch,
        leader_epoch=delta.leader_epoch,
        start_offset=delta.start_offset,
        delivery_complete_count=delta.delivery_complete_count,
        state_batches=[share_update.StateBatch(*batch) for batch in delta.batches],
    )
    return _VERSION + codec(ShareUpdateValue, 0).encode(value)


def decode_update(value: bytes) -> ShareDelta:
    """The reverse of `encode_update`."""
    _check_version(value)
    decoded = codec(ShareUpdateValue, 0).decode(value, 2)[0]
    return ShareDelta(
        decoded.snapshot_epoch,
        decoded.leader_epoch,
        decoded.start_offset,
        decoded.delivery_complete_count,
        _batches(decoded.state_batches),
    )


def _batches(stored: Iterable[share_snapshot.StateBatch | share_update.StateBatch]) -> tuple[StateBatch, ...]:
    return tuple(
        StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
        for batch in stored
    )


def _check_version(value: bytes) -> None:
    if value[:2] != _VERSION:
        raise ProtocolError(f"not version 0 of a value of __share_group_state: {value[:16]!r}")
