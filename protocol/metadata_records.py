"""Records of `__cluster_metadata`, as KRaft stores them (KIP-631).

A record has no key. Its value is a frame: unsigned varints for frame version (1), record type and version, then the
fields of that type. The classes are generated, one module per record type.
"""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

from odradek.protocol.errors import CorruptDataError, ProtocolError
from odradek.protocol.generated.metadata_records.index import RECORDS
from odradek.protocol.message import Buffer, MetadataRecord
from odradek.protocol.varint import encode_uvarint, read_uvarint

if TYPE_CHECKING:
    from odradek.protocol.message_codec import MessageCodec

FRAME_VERSION = 1
METADATA_VERSION = 33
"""The feature level `metadata.version` that Kafka 4.4.0 formats a new cluster with: 4.4-IV2."""
MIN_METADATA_VERSION = 7
"""The lowest level of `metadata.version` that Kafka 4.4.0 starts with: 3.3-IV3."""

DIRECTORIES_SINCE = 17
"""The level of `metadata.version` from which on records name log directories: 3.7-IV2."""

_BY_TYPE = {record_type: (module, name) for record_type, module, name in RECORDS}
_classes: dict[int, type[MetadataRecord]] = {}

_REGISTER_BROKER = 0
_PARTITION = 3
_PARTITION_CHANGE = 5
_BROKER_REGISTRATION_CHANGE = 17
# Record type -> (lowest metadata.version, record version), newest first.
_BY_LEVEL: dict[int, tuple[tuple[int, int], ...]] = {
    _REGISTER_BROKER: ((30, 4), (17, 3), (8, 2), (7, 1)),
    _PARTITION: ((23, 2), (17, 1)),
    _PARTITION_CHANGE: ((23, 2), (17, 1)),
}
_DIRECTORIES: dict[int, tuple[str, object]] = {
    _REGISTER_BROKER: ("log_dirs", []),
    _PARTITION: ("directories", []),
    _PARTITION_CHANGE: ("directories", None),
    _BROKER_REGISTRATION_CHANGE: ("log_dirs", []),
}
"""Record type -> its field with log directories, and the field's default."""


class MetadataRecordError(CorruptDataError):
    """A value in `__cluster_metadata` that is no record of this release. Kafka stops a node that meets one."""


def record_version(record: MetadataRecord, metadata_version: int = METADATA_VERSION) -> int:
    """The version in which Kafka writes a record at a level of the feature `metadata.version`.

    A BrokerRegistrationChangeRecord has the lowest version that has its fields, at every level.
    """
    if metadata_version < MIN_METADATA_VERSION:
        raise ProtocolError(f"metadata.version {metadata_version} is lower than {MIN_METADATA_VERSION}")
    if record.RECORD_TYPE == _BROKER_REGISTRATION_CHANGE:
        return _registration_change_version(record)
    return next((version for level, version in _BY_LEVEL.get(record.RECORD_TYPE, ()) if metadata_version >= level), 0)


def without_directories(record: MetadataRecord) -> MetadataRecord:
    """A record as it is written below `DIRECTORIES_SINCE`: without the log directories that it names."""
    name, nothing = _DIRECTORIES.get(record.RECORD_TYPE, ("", None))
    if not name or not getattr(record, name):
        return record
    plain = copy(record)
    setattr(plain, name, nothing)
    return plain


def _registration_change_version(record: Any) -> int:
    if record.cordoned_log_dirs is not None:
        return 3
    if record.log_dirs:
        return 2
    return 1 if record.in_controlled_shutdown else 0


def encode_metadata_record(record: MetadataRecord, version: int | None = None) -> bytes:
    """The value of a record; the version is the one that Kafka 4.4.0 writes by default (`record_version`).

    Raises ProtocolError for a version that the class does not have and for fields that the version cannot express.
    """
    from odradek.protocol.message_codec import codec

    chosen = record_version(record) if version is None else version
    body = codec(type(record), chosen).encode(record)
    return encode_uvarint(FRAME_VERSION) + encode_uvarint(record.RECORD_TYPE) + encode_uvarint(chosen) + body


def decode_metadata_record(value: Buffer | None) -> tuple[MetadataRecord, int]:
    """A record and its version. Raises MetadataRecordError for bytes that are no record of this release."""
    if value is None:
        raise MetadataRecordError("a metadata record has no value")
    if len(value) > 2 and value[0] == FRAME_VERSION and value[1] < 0x80 and value[2] < 0x80:
        record_type, version, offset = value[1], value[2], 3  # every frame of this release has one byte for each
    else:
        record_type, version, offset = _read_header(value)
    known = _codecs.get((record_type, version)) or _find_codec(record_type, version)
    try:
        record, end = known.decode(value, offset)
    except ProtocolError as error:
        raise MetadataRecordError(f"metadata record of type {record_type}: {error}") from error
    if end != len(value):
        raise MetadataRecordError(f"{len(value) - end} bytes follow a {type(record).__name__}")
    return record, version


def _read_header(value: Buffer) -> tuple[int, int, int]:
    """Record type and version of a frame, and where the record begins."""
    frame, offset = _header_field(value, 0, "frame version")
    if frame != FRAME_VERSION:
        raise MetadataRecordError(f"frame version {frame} is not {FRAME_VERSION}")
    record_type, offset = _header_field(value, offset, "record type")
    version, offset = _header_field(value, offset, "record version")
    return record_type, version, offset


_codecs: dict[tuple[int, int], MessageCodec[Any]] = {}


def _find_codec(record_type: int, version: int) -> MessageCodec[Any]:
    from odradek.protocol.message_codec import codec

    record_class = metadata_record_class(record_type)
    try:
        found = _codecs[record_type, version] = codec(record_class, version)
    except ProtocolError as error:
        raise MetadataRecordError(f"metadata record of type {record_type}: {error}") from error
    return found


def metadata_record_class(record_type: int) -> type[MetadataRecord]:
    """The class of a record type; its module is imported when it is first asked for."""
    found = _classes.get(record_type)
    if found is None:
        if record_type not in _BY_TYPE:
            raise MetadataRecordError(f"{record_type} is not a type of metadata record")
        module, name = _BY_TYPE[record_type]
        loaded = import_module(f"odradek.protocol.generated.metadata_records.{module}")
        found = _classes[record_type] = getattr(loaded, name)
    return found


def _header_field(value: Buffer, offset: int, name: str) -> tuple[int, int]:
    try:
        number, offset = read_uvarint(value, offset)
    except IndexError:
        raise MetadataRecordError(f"a metadata record of {len(value)} bytes ends within its {name}") from None
    except ProtocolError as error:
        raise MetadataRecordError(f"{name} of a metadata record: {error}") from None
    if number > 0x7FFF:
        raise MetadataRecordError(f"{name} {number} of a metadata record is larger than 32767")
    return number, offset
