"""Unsigned varints and tagged fields (KIP-482) as plain functions over a buffer, for compiled codecs and headers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from odradek.protocol.errors import ProtocolError
from odradek.protocol.message import Buffer, UnknownTaggedFields

MAX_VARINT_BYTES = 5
MAX_STRING_BYTES: Final = 0x7FFF
"""The longest string, in every version of the protocol, also where the length has more bits."""
MAX_ELEMENTS: Final = 1_000_000
"""The longest array."""
ANY_NUMBER: Final = 1 << 60
"""For a reader that takes any number of elements in all arrays of a message together."""
MAX_TAGGED_FIELDS: Final = 10_000
"""The most tagged fields of one struct."""
_NO_FIELDS = b"\0"
_ONE_BYTE: Final = [bytes((value,)) for value in range(0x80)]


def read_uvarint(buf: Buffer, offset: int) -> tuple[int, int]:
    """(value, next offset). Values are 32 bits wide: like Kafka's reader, higher bits of the fifth byte are dropped.

    Raises IndexError where the buffer ends too early.
    """
    value = 0
    for shift in range(0, 7 * MAX_VARINT_BYTES, 7):
        byte = buf[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, offset
    raise ProtocolError(f"variable-length integer of more than {MAX_VARINT_BYTES} bytes")


def read_compact_length(buf: Buffer, offset: int) -> tuple[int, int]:
    """(length or count, next offset); negative stands for null. Stored as the length plus one."""
    value, offset = read_uvarint(buf, offset)
    if value > 0x80000000:  # negative as the 32-bit integer that Kafka takes it for
        return -1, offset
    return value - 1, offset


def encode_uvarint(value: int) -> bytes:
    if 0 <= value < 0x80:
        return _ONE_BYTE[value]
    if not 0 <= value <= 0xFFFFFFFF:
        raise ProtocolError(f"{value} does not fit in an unsigned variable-length integer of 32 bits")
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_tagged_field(buf: Buffer, offset: int) -> tuple[int, int, int]:
    """Tag, size and the offset of the data."""
    tag, offset = read_uvarint(buf, offset)
    size, offset = read_uvarint(buf, offset)
    return tag, size, offset


def read_raw_field(buf: Buffer, offset: int, size: int) -> tuple[bytes, int]:
    """The data of an unknown tagged field and the offset after it."""
    end = offset + size
    if end > len(buf):
        raise ProtocolError(f"tagged field of {size} bytes, {len(buf) - offset} are left")
    return bytes(buf[offset:end]), end


def read_unknown_fields(buf: Buffer, offset: int) -> tuple[UnknownTaggedFields, int]:
    """A tagged section in which no tag is known."""
    count, offset = read_uvarint(buf, offset)
    fields = []
    for _ in range(checked_tags(count)):
        tag, size, offset = read_tagged_field(buf, offset)
        data, offset = read_raw_field(buf, offset, size)
        fields.append((tag, data))
    return tuple(fields), offset


def checked_tags(count: int) -> int:
    """The number of a struct's tagged fields; ProtocolError for one that Kafka does not read."""
    if count > MAX_TAGGED_FIELDS:
        raise ProtocolError(f"{count} tagged fields, at most {MAX_TAGGED_FIELDS} are allowed")
    return count


def encode_tagged_section(known: Sequence[tuple[int, bytes]], unknown: UnknownTaggedFields) -> bytes:
    """A section with the known fields (ascending) and the unknown ones between and after them.

    Raises ProtocolError if the unknown tags do not ascend or one is the tag of a known field.
    """
    fields = _with_unknown(known, unknown) if unknown else known
    if not fields:
        return _NO_FIELDS
    parts = [encode_uvarint(len(fields))]
    for tag, data in fields:
        parts.append(encode_uvarint(tag))
        parts.append(encode_uvarint(len(data)))
        parts.append(data)
    return b"".join(parts)


def _with_unknown(known: Sequence[tuple[int, bytes]], unknown: UnknownTaggedFields) -> list[tuple[int, bytes]]:
    if any(first[0] >= second[0] for first, second in pairwise(unknown)):
        raise ProtocolError("the unknown tagged fields are not in ascending order of their tags")
    tags = {tag for tag, _ in known}
    for tag, _ in unknown:
        if tag in tags:
            raise ProtocolError(f"tag {tag} is that of a known field, it cannot stand for an unknown one")
    return sorted((*known, *unknown), key=_tag_of)


def _tag_of(field: tuple[int, bytes]) -> int:
    return field[0]
