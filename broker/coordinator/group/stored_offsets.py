"""Committed and pending offsets of the groups of one partition, and their records. Only replay changes them.

These records are by far the most frequent, so their keys and values are encoded and decoded by hand, in the formats of
`odradek.protocol.generated.stored.offset_commit` (tests compare the two). Kafka 4.4.0 writes OffsetCommitValue 4, or 1
if a client sets a retention time.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from odradek.broker.coordinator.group.records import decode_value, encode_value
from odradek.broker.runtime.machine import LogRecord
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.offset_commit import OffsetCommitValue
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.text_cache import text_cache

LAST_OFFSET_COMMIT: Final = 1
"""The record type of committed offsets, which was 0 in very old logs."""

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_OFFSET_AND_EPOCH = Struct(">hqi")
_NO_TOPIC_ID_TAIL = b"\0"
_TOPIC_ID_TAIL = b"\1\0\x10"


class OffsetKey(NamedTuple):
    """The subject of an offset: group, topic and partition."""

    group_id: str
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """A committed offset as stored.

    Times in milliseconds, -1 for none. `record_offset`: its record's offset in the log.
    """

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes
    record_offset: int


# -- offsets


@text_cache(1 << 15)
def encode_offset_key(group_id: str, topic: str, partition: int) -> bytes:
    """OffsetCommitKey, behind its record type 1."""
    group, name = group_id.encode(), topic.encode()
    return b"".join((b"\0\1", _INT16.pack(len(group)), group, _INT16.pack(len(name)), name, _INT32.pack(partition)))


@text_cache(1 << 15)
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
        return encode_value(value, 1)
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
    decoded = decode_value(OffsetCommitValue, value)
    return CommittedOffset(
        decoded.offset,
        decoded.leader_epoch,
        decoded.metadata,
        decoded.commit_timestamp,
        decoded.expire_timestamp,
        decoded.topic_id,
        record_offset,
    )


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


TopicPartition = tuple[str, int]
Offsets = dict[TopicPartition, CommittedOffset]


class StoredOffsets:
    """Committed offsets, and offsets pending in open transactions, by group.

    Owner: the group machine. Everything here can be rebuilt from the log, also from a compacted one: of two records for
    one offset the later one in the log wins, whether it is transactional or not.
    """

    def __init__(self) -> None:
        self.offsets: dict[str, Offsets] = {}
        self.pending: dict[int, dict[str, Offsets]] = {}

    # -- reading

    def offset(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The committed offset; None without one."""
        offsets = self.offsets.get(group_id)
        return None if offsets is None else offsets.get((topic, partition))

    def group_ids(self) -> list[str]:
        """Every group that has a committed or a pending offset."""
        ids = dict.fromkeys(self.offsets)
        for groups in self.pending.values():
            ids.update(dict.fromkeys(groups))
        return list(ids)

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction is about to commit this offset."""
        place = (topic, partition)
        return any(place in groups.get(group_id, ()) for groups in self.pending.values())

    def has_pending(self, group_id: str) -> bool:
        """Whether an open transaction is about to commit any offset of the group."""
        return any(group_id in groups for groups in self.pending.values())

    def pending_places(self, group_id: str) -> Iterator[TopicPartition]:
        """The topic partitions that open transactions are about to commit offsets of."""
        seen: dict[TopicPartition, None] = {}
        for groups in self.pending.values():
            seen.update(dict.fromkeys(groups.get(group_id, ())))
        yield from seen

    # -- changing

    def replay(self, record: LogRecord) -> None:
        """Apply a record of a committed offset."""
        group_id, topic, partition = decode_offset_key(record.key)
        place = (topic, partition)
        if record.value is None:
            self._remove_offset(group_id, place)
            return
        decoded = record.decoded
        if decoded is None:
            offset = decode_offset_value(record.value, record.offset)
        else:
            offset = CommittedOffset._make((*decoded, record.offset))
        if record.producer_id < 0:
            offsets = self.offsets.get(group_id)
            if offsets is None:
                offsets = self.offsets[group_id] = {}
            offsets[place] = offset
        else:
            self.pending.setdefault(record.producer_id, {}).setdefault(group_id, {})[place] = offset

    def replay_marker(self, producer_id: int, commit: bool) -> None:
        """A transaction ends: its pending offsets become committed, or vanish."""
        groups = self.pending.pop(producer_id, None)
        if groups is None or not commit:
            return
        for group_id, places in groups.items():
            offsets = self.offsets.setdefault(group_id, {})
            for place, offset in places.items():
                present = offsets.get(place)
                if present is None or present.record_offset < offset.record_offset:
                    offsets[place] = offset

    def _remove_offset(self, group_id: str, place: TopicPartition) -> None:
        offsets = self.offsets.get(group_id)
        if offsets is not None:
            offsets.pop(place, None)
            if not offsets:
                del self.offsets[group_id]
        for producer_id, groups in list(self.pending.items()):
            places = groups.get(group_id)
            if places is None or places.pop(place, None) is None:
                continue
            if not places:
                del groups[group_id]
            if not groups:
                del self.pending[producer_id]
