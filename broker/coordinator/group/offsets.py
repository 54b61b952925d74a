"""Committed offsets: their records, and storing, reading, deleting and expiring them. Only replay changes them.

These records are by far the most frequent, so their keys and values are encoded and decoded by hand, in the formats of
`odradek.protocol.generated.stored.offset_commit` (tests compare the two). Kafka 4.4.0 writes OffsetCommitValue 4, or 1
if a client sets a retention time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple, TypeVar

from odradek.broker.coordinator.group.epoch_group import TXN_ERRORS_FROM
from odradek.broker.coordinator.group.groups import (
    CommitOffsets,
    CommittedOffset,
    DeleteGroup,
    DeleteOffsets,
    ExpireOffsets,
    FollowUp,
    ForgetPartitions,
    Group,
    Groups,
    OffsetToCommit,
    TxnOffsetCommit,
)
from odradek.broker.coordinator.group.records import decode_value, encode_value
from odradek.broker.coordinator.group.settings import GroupConfigs, GroupSettings
from odradek.broker.runtime.machine import Effect, LogRecord, NewRecord, Outcome, Producer, Schedule, make_outcome
from odradek.protocol.errors import ErrorCode, KafkaError, ProtocolError
from odradek.protocol.generated.stored.offset_commit import OffsetCommitValue
from odradek.protocol.primitives import ZERO_UUID
from odradek.protocol.text_cache import text_cache

OFFSET_KEYS: Final = (b"\0\1", b"\0\0")
"""How the keys of committed offsets begin: with record type 1, and with 0 in very old logs."""

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
    if expire_timestamp != -1:
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


GROUP_ID_NOT_FOUND_FROM = 9
"""OffsetCommit versions from which a missing group is GROUP_ID_NOT_FOUND (before: ILLEGAL_GENERATION)."""

TOPIC_IDS_FROM = 10
"""OffsetCommit versions that name topics by their ids."""

EXPIRY_TIMER = "expire offsets"

_MAX_LONG = (1 << 63) - 1
_NONE = ErrorCode.NONE

C = TypeVar("C", bound=CommitOffsets)
T = TypeVar("T")


class FetchedOffset(NamedTuple):
    """The OffsetFetch result of one partition; offset -1 means nothing is committed."""

    offset: int
    leader_epoch: int
    metadata: str
    error: ErrorCode


NOTHING_COMMITTED = FetchedOffset(-1, -1, "", ErrorCode.NONE)
UNSTABLE = FetchedOffset(-1, -1, "", ErrorCode.UNSTABLE_OFFSET_COMMIT)


class OffsetBook:
    """Decides on the commands about offsets of groups of every kind, and looks up committed offsets.

    Owner: the group machine. `simple_group` adds the group of a first commit without a member.
    """

    def __init__(
        self,
        settings: GroupSettings,
        stored: StoredOffsets,
        groups: Groups,
        simple_group: Callable[[str, int], None],
        configs: GroupConfigs,
    ) -> None:
        self._configs = configs
        self._settings = settings
        self._stored = stored
        self._groups = groups
        self._simple_group = simple_group

    # -- committing

    def commit(self, command: CommitOffsets, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Store offsets, with the effects that the group has for a member's commit."""
        group = self._groups.get(command.group_id)
        effects: Sequence[Effect] = ()
        then = None
        if group is None:
            then = self._create(command.group_id, command.epoch, command.api_version, now_ms)
        else:
            effects = self._checked(group.check_commit, command)
        retention_ms: int = command.request.retention_time_ms
        expires = -1 if retention_ms == -1 else min(now_ms + retention_ms, _MAX_LONG)
        offsets = command.offsets
        if command.api_version < TOPIC_IDS_FROM and not self._configs.release.knows_ids_of_offsets:
            offsets = _without_ids(offsets)
        records, codes = self._records(command.group_id, offsets, now_ms, expires)
        return make_outcome(records, reply=codes, effects=effects, then=then)

    def commit_in_transaction(self, command: TxnOffsetCommit, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Store offsets that wait for the end of the producer's transaction."""
        group = self._groups.get(command.group_id)
        then = None
        if group is None:
            version = GROUP_ID_NOT_FOUND_FROM if command.api_version >= TXN_ERRORS_FROM else 0
            then = self._create(command.group_id, command.epoch, version, now_ms)
        else:
            self._checked(group.check_transactional_commit, command)
        offsets = command.offsets
        if not self._configs.release.stores_topic_ids_in_transactions:
            offsets = _without_ids(offsets)
        records, codes = self._records(command.group_id, offsets, now_ms, -1)
        producer = Producer(command.request.producer_id, command.request.producer_epoch)
        return make_outcome(records, reply=codes, producer=producer, then=then)

    def _checked(self, check: Callable[[C], T], command: C) -> T:
        """The result of a group's check.

        An offset whose metadata is too long is refused before Kafka asks whose partition it is, so it cannot fail the
        check. The check meets no ids of topics if the release does not know them: then a member commits in its present
        epoch only.
        """
        offsets = command.offsets
        try:
            if not self._configs.release.knows_ids_of_offsets:
                command.offsets = _without_ids(offsets)
            try:
                return check(command)
            except KafkaError:
                fitting = [offset for offset in command.offsets if not self._is_too_long(offset.metadata)]
                if len(fitting) == len(offsets):
                    raise
                command.offsets = fitting
                return check(command)
        finally:
            command.offsets = offsets

    def _is_too_long(self, metadata: str | None) -> bool:
        return metadata is not None and len(metadata) > self._settings.offset_metadata_max_bytes

    def _create(
        self, group_id: str, generation_id: int, api_version: int, now_ms: int
    ) -> Callable[[], Sequence[Effect]]:
        """Create the group of a first commit without a member."""
        if generation_id < 0:

            def create() -> Sequence[Effect]:
                self._simple_group(group_id, now_ms)
                return ()

            return create
        if api_version >= GROUP_ID_NOT_FOUND_FROM and self._configs.release.has_new_coordinator:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        raise KafkaError(ErrorCode.ILLEGAL_GENERATION)

    def _records(
        self, group_id: str, offsets: Iterable[OffsetToCommit], now_ms: int, expires: int
    ) -> tuple[list[NewRecord], list[ErrorCode]]:
        limit = self._settings.offset_metadata_max_bytes
        records: list[NewRecord] = []
        codes: list[ErrorCode] = []
        for topic, topic_id, partition, offset, leader_epoch, metadata in offsets:
            if metadata is not None and len(metadata) > limit:
                codes.append(ErrorCode.OFFSET_METADATA_TOO_LARGE)
                continue
            codes.append(_NONE)
            decoded = (offset, leader_epoch, metadata or "", now_ms, expires, topic_id)
            key = encode_offset_key(group_id, topic, partition)
            records.append(NewRecord(key, encode_offset_value(*decoded), decoded if expires == -1 else None))
        return records, codes

    # -- reading

    def check_fetch(self, group_id: str, member_id: str | None, member_epoch: int) -> None:
        """Raise the error of OffsetFetch for this member. A missing group has no offsets, without an error."""
        group = self._groups.get(group_id)
        if group is not None:
            group.check_fetch(member_id, member_epoch)

    def fetch(
        self, group_id: str, topic: str, topic_id: bytes, partitions: Sequence[int], require_stable: bool
    ) -> list[FetchedOffset]:
        """The committed offsets of partitions of one topic. `topic_id` ZERO_UUID matches every stored id."""
        stored = self._stored
        offsets = stored.offsets.get(group_id, {})
        fetched: list[FetchedOffset] = []
        for partition in partitions:
            if require_stable and stored.is_pending(group_id, topic, partition):
                fetched.append(UNSTABLE)
                continue
            offset = offsets.get((topic, partition))
            if offset is None or _other_topic(offset.topic_id, topic_id):
                fetched.append(NOTHING_COMMITTED)
            else:
                fetched.append(FetchedOffset(offset.offset, offset.leader_epoch, offset.metadata, _NONE))
        return fetched

    def fetch_all(self, group_id: str, require_stable: bool) -> dict[str, dict[int, FetchedOffset]]:
        """All that the group has committed: topic -> partition -> offset."""
        result: dict[str, dict[int, FetchedOffset]] = {}
        for (topic, partition), offset in self._stored.offsets.get(group_id, {}).items():
            if require_stable and self._stored.is_pending(group_id, topic, partition):
                fetched = UNSTABLE
            else:
                fetched = FetchedOffset(offset.offset, offset.leader_epoch, offset.metadata, _NONE)
            result.setdefault(topic, {})[partition] = fetched
        return result

    # -- deleting

    def delete(self, command: DeleteOffsets, now_ms: int) -> Outcome[list[ErrorCode]]:
        """Delete offsets of topics that no member subscribes to (KIP-496)."""
        group = self._groups.existing(command.group_id)
        group.check_delete_offsets()
        codes: list[ErrorCode] = []
        records: list[NewRecord] = []
        for topic, partition in command.places:
            if group.is_subscribed_to(topic):
                codes.append(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
                continue
            codes.append(_NONE)
            if self._known(command.group_id, topic, partition):
                records.append(NewRecord(encode_offset_key(command.group_id, topic, partition)))
        return make_outcome(records, reply=codes)

    def delete_group(self, command: DeleteGroup, now_ms: int) -> Outcome[None]:
        """Delete a group without members, with all its offsets."""
        group = self._groups.existing(command.group_id)
        group.check_delete()
        offsets = [NewRecord(encode_offset_key(command.group_id, *place)) for place in self._places(command.group_id)]
        return make_outcome([*offsets, *group.tombstones()], effects=group.on_removed())

    def forget(self, command: ForgetPartitions, now_ms: int) -> Outcome[None]:
        """Delete the offsets of deleted topics or partitions."""
        gone = set(command.places)
        records = [
            NewRecord(encode_offset_key(group_id, *place))
            for group_id in self._stored.group_ids()
            for place in self._places(group_id)
            if place in gone
        ]
        return make_outcome(records, atomic=False)

    # -- expiring

    def expire(self, command: ExpireOffsets, now_ms: int) -> Outcome[None]:
        """Delete offsets past their retention, and groups left with neither members nor offsets.

        Source: KIP-211, and KIP-496 for topics without subscribers.
        """
        records: list[NewRecord] = []
        effects: list[Effect] = []
        for group in self._groups.all():
            expired, all_expired = self._expired(group, now_ms)
            records += [NewRecord(encode_offset_key(group.group_id, *place)) for place in expired]
            if not (all_expired and group.is_empty and group.expires):
                continue
            if group.is_described:
                effects.append(FollowUp(DeleteGroup(group.group_id)))
            else:
                records += group.tombstones()
                effects += group.on_removed()
        effects.append(Schedule(EXPIRY_TIMER, self._settings.offsets_check_interval_ms, command))
        return make_outcome(records, effects=effects, atomic=False)

    def _expired(self, group: Group, now_ms: int) -> tuple[list[tuple[str, int]], bool]:
        """The expired offsets of a group, and whether none is left without them."""
        group_id = group.group_id
        offsets = self._stored.offsets.get(group_id)
        pending = self._stored.has_pending(group_id)
        if not offsets:
            return [], not pending
        since = group.expiry_basis()
        if since is None:
            return [], False
        retention = self._settings.offsets_retention_ms
        expired: list[tuple[str, int]] = []
        for (topic, partition), offset in offsets.items():
            if group.is_subscribed_to(topic) or (pending and self._stored.is_pending(group_id, topic, partition)):
                continue
            if offset.expire_timestamp != -1:
                due = now_ms >= offset.expire_timestamp
            else:
                due = now_ms - since(offset) >= retention
            if due:
                expired.append((topic, partition))
        return expired, len(expired) == len(offsets) and not pending

    # -- inside

    def _known(self, group_id: str, topic: str, partition: int) -> bool:
        stored = self._stored
        return stored.offset(group_id, topic, partition) is not None or stored.is_pending(group_id, topic, partition)

    def _places(self, group_id: str) -> list[tuple[str, int]]:
        places = dict.fromkeys(self._stored.offsets.get(group_id, ()))
        places.update(dict.fromkeys(self._stored.pending_places(group_id)))
        return list(places)


def _other_topic(stored: bytes, asked: bytes) -> bool:
    return stored != ZERO_UUID and asked != ZERO_UUID and stored != asked


def _without_ids(offsets: Iterable[OffsetToCommit]) -> list[OffsetToCommit]:
    return [offset._replace(topic_id=ZERO_UUID) for offset in offsets]
