"""The records of `__consumer_offsets`: the group kind of each record type, and their encoding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from struct import Struct
from typing import Any, Final, TypeVar, final

from odradek.broker.coordinator.group.groups import GroupType
from odradek.broker.releases.release import Release
from odradek.broker.runtime.machine import LogRecord, NewRecord
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.message import CoordinatorRecord
from odradek.protocol.message_codec import codec
from odradek.protocol.stored import decode_group_record
from odradek.protocol.text_cache import text_cache

KIND_OF_RECORD: Mapping[int, GroupType] = {
    2: GroupType.CLASSIC,
    **dict.fromkeys((3, 4, 5, 6, 7, 8, 16), GroupType.CONSUMER),
    **dict.fromkeys((9, 10, 11, 12, 13, 14, 15), GroupType.SHARE),
    **dict.fromkeys((17, 18, 19, 20, 21, 22, 23), GroupType.STREAMS),
}
"""Record type (the first two bytes of a key) to kind; 0 and 1 are committed offsets, of all kinds."""

_codecs: Final[dict[type[CoordinatorRecord], Any]] = {}
"""Of version 0, which most values have."""
_key_codecs: Final[dict[type[CoordinatorRecord], tuple[bytes, Any]]] = {}
"""Of keys, each with its record type as it is stored."""
_INT16: Final = Struct(">h")
_VERSION_0: Final = _INT16.pack(0)
V = TypeVar("V", bound=CoordinatorRecord)


def record_type_of(key: bytes) -> int:
    """The record type that a key begins with. ProtocolError if it is no key of an internal topic."""
    if len(key) < 2:
        raise ProtocolError(f"not a key of a coordinator's record: {key!r}")
    return (key[0] << 8) | key[1]


def encode_key(key: CoordinatorRecord) -> bytes:
    """A record's key: its record type and its fields."""
    kind = key.__class__
    own = _key_codecs.get(kind)
    if own is None:
        own = _key_codecs[kind] = _INT16.pack(kind.RECORD_TYPE), codec(kind, 0)
    prefix, found = own
    return prefix + found.encode(key)


def decode_key(kind: type[V], key: bytes) -> V:
    """The reverse of `encode_key`, for a key whose record type is known."""
    decoded: V = codec(kind, 0).decode(key, 2)[0]
    return decoded


def known_key(kind: type[V], key: bytes) -> V:
    """`decode_key` with a cache, because a group's records have the same keys over and over. Do not change it."""
    known: V | None = _known_keys.get(key)
    return _remember(key, decode_key(kind, key)) if known is None else known


def encode_known_key(key: CoordinatorRecord) -> bytes:
    """`encode_key` for a key that `known_key` will be asked for, so that its strings stay the same objects."""
    encoded = encode_key(key)
    _remember(encoded, key)
    return encoded


@text_cache(1 << 12)
def key_of_group(kind: Any, group_id: str) -> bytes:
    """`encode_known_key` for a class of keys that have the group's id alone."""
    return encode_known_key(kind(group_id))


def _remember(encoded: bytes, key: V) -> V:
    if len(encoded) > _LONGEST_KNOWN_KEY:
        return key
    if len(_known_keys) >= _MOST_KNOWN_KEYS:
        _known_keys.clear()
    _known_keys[encoded] = key
    return key


_known_keys: Final[dict[bytes, Any]] = {}
_MOST_KNOWN_KEYS: Final = 1 << 13
_LONGEST_KNOWN_KEY: Final = 1 << 10


@final
class MemberKeys:
    """Encodes the keys of a record type about members: a group id, then a member id.

    Keys are cached, because a group writes the same ones over and over. Short ids are encoded by hand, because each
    member that joins makes a key; `encode_key` is the general form.
    """

    def __init__(self, new_key: Any) -> None:
        """`new_key`: the class of the key, which has these two fields."""
        self._new_key: Callable[[str, str], CoordinatorRecord] = new_key
        self._front = _INT16.pack(new_key.RECORD_TYPE)
        self._kept: dict[str, dict[str, bytes]] = {}
        self._left = _MOST_MEMBER_KEYS

    def of(self, group_id: str, member_id: str) -> bytes:
        """The key of a group's member, as it is stored."""
        members = self._kept.get(group_id)
        key = None if members is None else members.get(member_id)
        return self._encode(group_id, member_id) if key is None else key

    def _encode(self, group_id: str, member_id: str) -> bytes:
        record = self._new_key(group_id, member_id)
        try:
            group, member = group_id.encode(), member_id.encode()
            key = self._front + _length(len(group)) + group + _length(len(member)) + member
        except ENCODING_ERRORS:
            key = encode_key(record)
        _remember(key, record)
        if not self._left:
            self._kept.clear()
            self._left = _MOST_MEMBER_KEYS
        self._left -= 1
        self._kept.setdefault(group_id, {})[member_id] = key
        return key


@final
class EpochRecords:
    """The records that all kinds of groups with epochs have: of members, their targets and present assignments.

    `current`, `target` and `member` make the keys of these records.
    """

    def __init__(self, current: Any, target: Any, member: Any, target_epoch_key: Any, target_epoch_value: Any) -> None:
        """The classes of the keys; the target's epoch has a value of its own class in each kind."""
        self.current = MemberKeys(current)
        self.target = MemberKeys(target)
        self.member = MemberKeys(member)
        self._target_epoch_key = target_epoch_key
        self._target_epoch_value = target_epoch_value

    def target_epoch(self, group_id: str, epoch: int, timestamp: int) -> NewRecord:
        """The target assignment of that epoch is complete."""
        key = key_of_group(self._target_epoch_key, group_id)
        return new_record(key, self._target_epoch_value(epoch, timestamp))

    def member_tombstones(self, group_id: str, member_id: str) -> list[NewRecord]:
        """The records that remove one member."""
        return [NewRecord(keys.of(group_id, member_id)) for keys in (self.current, self.target, self.member)]

    def tombstones(self, group_id: str, member_ids: Iterable[str]) -> list[NewRecord]:
        """The records that remove all members and the target assignment of a group."""
        ids = list(member_ids)
        return [
            *(NewRecord(self.current.of(group_id, member_id)) for member_id in ids),
            *(NewRecord(self.target.of(group_id, member_id)) for member_id in ids),
            NewRecord(key_of_group(self._target_epoch_key, group_id)),
            *(NewRecord(self.member.of(group_id, member_id)) for member_id in ids),
        ]


def _length(size: int) -> bytes:
    return _KNOWN_LENGTHS[size] if size < len(_KNOWN_LENGTHS) else _INT16.pack(size)


_KNOWN_LENGTHS: Final = [_INT16.pack(size) for size in range(1 << 8)]
"""Of ids: the same few over and over."""
_MOST_MEMBER_KEYS: Final = 1 << 12


def new_record(key: bytes, value: CoordinatorRecord, version: int = 0) -> NewRecord:
    """A record that carries its value as an object, which must not change afterwards."""
    return record_with_value(key, encode_value(value, version), value)


def record_with_value(key: bytes, value: bytes, decoded: Any) -> NewRecord:
    """A record that carries its value in the form that `Machine.replay` decodes."""
    return NewRecord(key, value, decoded)


def value_of(kind: type[CoordinatorRecord], record: NewRecord | LogRecord) -> Any:
    """The value of a record as the record carries it, else decoded; None for a tombstone. Do not change it."""
    if record.value is None:
        return None
    return decode_value(kind, record.value) if record.decoded is None else record.decoded


def encode_value(value: CoordinatorRecord, version: int = 0) -> bytes:
    """A record's value: its version and its fields."""
    kind = value.__class__
    if version:
        return _INT16.pack(version) + codec(kind, version).encode(value)
    own = _codecs.get(kind)
    if own is None:
        own = _codecs[kind] = codec(kind, 0)
    return _VERSION_0 + own.encode(value)


def decode_value(kind: type[V], value: bytes) -> V:
    """The reverse of `encode_value`, in any version; ProtocolError for one that Kafka 4.4.0 does not have."""
    if len(value) < 2:
        raise ProtocolError(f"not a value of {kind.__name__}: {value!r}")
    (version,) = _INT16.unpack_from(value)
    if not kind.MIN_VERSION <= version <= kind.MAX_VERSION:
        raise ProtocolError(f"{kind.__name__} has no version {version}")
    decoded: V = codec(kind, version).decode(value, 2)[0]
    return decoded


_OFFSETS, _CURRENT_ASSIGNMENT = 1, 8
_CHANGED_IN_4_3: Final = frozenset({_OFFSETS, 6, _CURRENT_ASSIGNMENT, 12, 20})
"""The record types that have got more fields; 6, 12 and 20 are the epochs of target assignments."""


def as_stored_by(release: Release, record: NewRecord) -> NewRecord:
    """A record as a release before 4.3 stores it. What it says to the group that is in memory stays."""
    record_type = record_type_of(record.key)
    if record.value is None or record_type not in _CHANGED_IN_4_3:
        return record
    value: Any = decode_group_record(record.key, record.value)[1]
    (version,) = _INT16.unpack_from(record.value)
    if record_type == _OFFSETS:
        version = min(version, release.newest_offset_commit)
    elif record_type == _CURRENT_ASSIGNMENT:
        for row in (*value.assigned_partitions, *value.partitions_pending_revocation):
            row.assignment_epochs = []
    else:
        value.assignment_timestamp = 0
    return NewRecord(record.key, encode_value(value, version), record.decoded)
