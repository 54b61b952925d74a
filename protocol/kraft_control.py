"""Control records of KRaft's log and snapshots (KIP-595, KIP-630, KIP-853).

Key: int16 version 0, int16 type (`ControlRecordType`). Value: a message whose first field is its own int16 version.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final, TypeAlias, TypeVar

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.snapshot_footer_record import SnapshotFooterRecord
from odradek.protocol.generated.stored.snapshot_header_record import SnapshotHeaderRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.message_codec import codec
from odradek.protocol.record_batch import build_batch
from odradek.protocol.records import InvalidRecordError, Record

KRaftControl: TypeAlias = (
    LeaderChangeMessage | SnapshotHeaderRecord | SnapshotFooterRecord | KRaftVersionRecord | VotersRecord
)
C = TypeVar("C", LeaderChangeMessage, SnapshotHeaderRecord, SnapshotFooterRecord, KRaftVersionRecord, VotersRecord)

_CLASSES: Final[dict[int, type[KRaftControl]]] = {
    ControlRecordType.LEADER_CHANGE: LeaderChangeMessage,
    ControlRecordType.SNAPSHOT_HEADER: SnapshotHeaderRecord,
    ControlRecordType.SNAPSHOT_FOOTER: SnapshotFooterRecord,
    ControlRecordType.KRAFT_VERSION: KRaftVersionRecord,
    ControlRecordType.KRAFT_VOTERS: VotersRecord,
}
_TYPES: Final = {message: kind for kind, message in _CLASSES.items()}
_KEY = struct.Struct(">hh")
_VERSION = struct.Struct(">h")


def kraft_control_record(message: KRaftControl, timestamp: int) -> Record:
    """The message as a record (offset 0), in the version that its field `version` says."""
    value = codec(type(message), message.version).encode(message)
    return Record(0, timestamp, _KEY.pack(0, _TYPES[type(message)]), value)


def parse_kraft_control_record(record: Record) -> KRaftControl | None:
    """The message of a control record; None for a control record of another type (a transaction's end).

    Raises InvalidRecordError when key or value are not what their type says.
    """
    message = _CLASSES.get(control_record_type(record))
    if message is None:
        return None
    value = record.value
    if value is None or len(value) < _VERSION.size:
        raise InvalidRecordError(f"the value of a {message.__name__} is shorter than two bytes")
    try:
        found, _ = codec(message, _VERSION.unpack_from(value)[0]).decode(value)
    except ProtocolError as error:
        raise InvalidRecordError(f"control record: {error}") from error
    return found


def build_kraft_control_batch(
    messages: Sequence[KRaftControl], *, timestamp: int, base_offset: int = 0, leader_epoch: int = 0
) -> bytes:
    """A control batch as KRaft writes it: no producer, no sequence, all records with one timestamp."""
    records = [kraft_control_record(message, timestamp) for message in messages]
    return build_batch(records, base_offset=base_offset, leader_epoch=leader_epoch, control=True)
