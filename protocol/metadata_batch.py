"""Batches of `__cluster_metadata`: what a leader appends for one decision, and what a snapshot consists of.

A data batch has no producer and no sequence; its records have no key and share one timestamp (create time).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.k_raft_version_record import KRaftVersionRecord
from odradek.protocol.generated.stored.leader_change_message import LeaderChangeMessage
from odradek.protocol.generated.stored.snapshot_footer_record import SnapshotFooterRecord
from odradek.protocol.generated.stored.snapshot_header_record import SnapshotHeaderRecord
from odradek.protocol.generated.stored.voters_record import VotersRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.message_codec import codec
from odradek.protocol.metadata_records import (
    DIRECTORIES_SINCE,
    METADATA_VERSION,
    MetadataRecordError,
    decode_metadata_record,
    encode_metadata_record,
    record_version,
    without_directories,
)
from odradek.protocol.record_batch import RecordBatch, build_batch
from odradek.protocol.records import InvalidRecordError, Record

MAX_BATCH_BYTES = 8 * 1024 * 1024
"""The largest batch that KRaft writes, and the largest that its reader of snapshots takes."""


def build_metadata_batch(
    records: Iterable[MetadataRecord],
    *,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = 0,
    metadata_version: int = METADATA_VERSION,
) -> bytes:
    """The batch of these records, in the versions that belong to `metadata_version`."""
    if metadata_version < DIRECTORIES_SINCE:
        records = map(without_directories, records)
    values = (encode_metadata_record(record, record_version(record, metadata_version)) for record in records)
    return build_value_batch(values, timestamp=timestamp, base_offset=base_offset, leader_epoch=leader_epoch)


def build_value_batch(values: Iterable[bytes], *, timestamp: int, base_offset: int = 0, leader_epoch: int = 0) -> bytes:
    """The batch of records that are encoded already (`encode_metadata_record`)."""
    rows = [Record(base_offset + index, timestamp, None, value) for index, value in enumerate(values)]
    return build_batch(rows, base_offset=base_offset, leader_epoch=leader_epoch)


def metadata_records(batch: RecordBatch) -> Iterator[MetadataRecord]:
    """The records of a data batch, in order. Raises MetadataRecordError or InvalidRecordError for damaged data."""
    for record in batch.records():
        try:
            yield decode_metadata_record(record.value)[0]
        except MetadataRecordError as error:
            raise MetadataRecordError(f"offset {record.offset}: {error}") from error


def control_messages(batch: RecordBatch) -> Iterator[KRaftControl]:
    """The messages of a control batch, in order; records of types that KRaft does not write are left out."""
    for record in batch.records():
        message = parse_kraft_control_record(record)
        if message is not None:
            yield message


# -- Control records of the quorum.


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
