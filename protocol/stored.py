"""Records of the internal topics, as Kafka stores them.

A key is an int16 record type and the body of the key class; a value an int16 version and the body of the value class;
a null value is a tombstone. The classes are generated, one module per record type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from struct import Struct
from struct import error as struct_error
from typing import Any, TypeVar

from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.stored.index import RECORDS
from odradek.protocol.message import Buffer, CoordinatorRecord, DataMessage
from odradek.protocol.message_codec import MessageCodec, codec

_INT16 = Struct(">h")
_BY_TYPE = {(family, record_type): (module, key, value) for family, record_type, module, key, value in RECORDS}
_classes: dict[tuple[str, int], tuple[type[CoordinatorRecord], type[CoordinatorRecord]]] = {}

D = TypeVar("D", bound=DataMessage)

TRANSACTION_STATES = {
    0: "Empty",
    1: "Ongoing",
    2: "PrepareCommit",
    3: "PrepareAbort",
    4: "CompleteCommit",
    5: "CompleteAbort",
    6: "Dead",
    7: "PrepareEpochFence",
}
"""The states of a transaction in `__transaction_state`, as Kafka shows them."""


class UnknownRecordTypeError(ProtocolError):
    """A key of a record type that this release does not know: written by a newer one, to be skipped."""


def encode_record_key(key: CoordinatorRecord) -> bytes:
    """The key of a record: its type, then its fields."""
    return _INT16.pack(key.RECORD_TYPE) + codec(type(key), 0).encode(key)


def encode_versioned(message: DataMessage, version: int) -> bytes:
    """An int16 version, then the message in that version: the value of a record, as of other data."""
    kind: Any = message.__class__  # as a key: classes are hashable, messages are not
    front, versioned = _front_and_codec(kind, version)
    return front + versioned.encode(message)


encode_record_value: Callable[[CoordinatorRecord, int], bytes] = encode_versioned


@cache
def _front_and_codec(message: Any, version: int) -> tuple[bytes, MessageCodec[DataMessage]]:
    return _INT16.pack(version), codec(message, version)


def decode_versioned(message: type[D], data: Buffer) -> tuple[D, int]:
    """The message and its version. Raises ProtocolError for a version that the class does not have."""
    version = _int16(data, message.__name__)
    decoded, _ = codec(message, version).decode(data, 2)
    return decoded, version


def decode_group_record(key: Buffer, value: Buffer | None) -> tuple[CoordinatorRecord, CoordinatorRecord | None]:
    """A record of `__consumer_offsets`; the value is None for a tombstone.

    Raises UnknownRecordTypeError for a key of an unknown type, ProtocolError for bytes that are not such a record.
    """
    return decode_record("group", key, value)


def decode_transaction_record(key: Buffer, value: Buffer | None) -> tuple[CoordinatorRecord, CoordinatorRecord | None]:
    """A record of `__transaction_state`; the value is None for a tombstone."""
    return decode_record("transaction", key, value)


def decode_share_record(key: Buffer, value: Buffer | None) -> tuple[CoordinatorRecord, CoordinatorRecord | None]:
    """A record of `__share_group_state`; the value is None for a tombstone."""
    return decode_record("share", key, value)


def decode_record(family: str, key: Buffer, value: Buffer | None) -> tuple[CoordinatorRecord, CoordinatorRecord | None]:
    """A record of one coordinator: `group`, `transaction` or `share`."""
    key_class, value_class = record_classes(family, _int16(key, "record key"))
    decoded_key, _ = codec(key_class, 0).decode(key, 2)
    return decoded_key, None if value is None else decode_versioned(value_class, value)[0]


def record_classes(family: str, record_type: int) -> tuple[type[CoordinatorRecord], type[CoordinatorRecord]]:
    """The classes of a record type's key and value; their module is imported when they are first asked for."""
    found = _classes.get((family, record_type))
    if found is None:
        if (family, record_type) not in _BY_TYPE:
            raise UnknownRecordTypeError(f"{record_type} is not a record type of the {family} coordinator")
        module_name, key_name, value_name = _BY_TYPE[family, record_type]
        module = import_module(f"odradek.protocol.generated.stored.{module_name}")
        found = _classes[family, record_type] = getattr(module, key_name), getattr(module, value_name)
    return found


def _int16(data: Buffer, what: str) -> int:
    try:
        (number,) = _INT16.unpack_from(data)
    except struct_error:
        raise ProtocolError(f"{what}: {len(data)} bytes are too few") from None
    return int(number)
