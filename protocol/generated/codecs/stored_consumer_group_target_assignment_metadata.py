# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.consumer_group_target_assignment_metadata`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import check_count, explained, int16_at, int32_at, int64_at, refuse, text_at
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import (
    ANY_NUMBER,
    checked_tags,
    encode_tagged_section,
    read_raw_field,
    read_tagged_field,
    read_uvarint,
)

pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_q: Final = Struct(">q").pack


def decode_consumer_group_target_assignment_metadata_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMetadataKey, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2 = int16_at(buf, pos)
        pos += 2
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        message = ConsumerGroupTargetAssignmentMetadataKey(group_id=o1_group_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMetadataKey, version, data, offset, most)


def decode_consumer_group_target_assignment_metadata_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMetadataValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_assignment_epoch = int32_at(buf, pos)
        n2: i64 = buf[pos + 4]
        pos += 5
        message = o1 = ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=o1_assignment_epoch)
        if n2:
            if n2 > 127:
                n2, pos = read_uvarint(buf, pos - 1)
                checked_tags(n2)
            left -= n2
            check_count(n2, left)
            u3: list[tuple[int, bytes]] = []
            for _ in range(n2):
                t4, s5, pos = read_tagged_field(buf, pos)
                if t4 == 0:
                    o1.assignment_timestamp = int64_at(buf, pos)
                    pos += 8
                else:
                    d6, pos = read_raw_field(buf, pos, s5)
                    u3.append((t4, d6))
            o1.unknown_tagged_fields = tuple(u3)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMetadataValue, version, data, offset, most)


def encode_consumer_group_target_assignment_metadata_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupTargetAssignmentMetadataKey = message
        b1 = m.group_id.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_h(n2), b1)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupTargetAssignmentMetadataKey, version, message, error) from None


def encode_consumer_group_target_assignment_metadata_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupTargetAssignmentMetadataValue = message
        t1: tuple[tuple[int, bytes], ...] = ()
        if m.assignment_timestamp != 0:
            w2: list[bytes] = []
            w2.append(pack_q(m.assignment_timestamp))
            t1 += ((0, b"".join(w2)),)
        out.append(
            pack_lB(m.assignment_epoch, 0)
            if not (t1 or m.unknown_tagged_fields)
            else pack_l(m.assignment_epoch) + encode_tagged_section(t1, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupTargetAssignmentMetadataValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ConsumerGroupTargetAssignmentMetadataKey": {0: decode_consumer_group_target_assignment_metadata_key_0},
    "ConsumerGroupTargetAssignmentMetadataValue": {0: decode_consumer_group_target_assignment_metadata_value_0},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ConsumerGroupTargetAssignmentMetadataKey": {0: encode_consumer_group_target_assignment_metadata_key_0},
    "ConsumerGroupTargetAssignmentMetadataValue": {0: encode_consumer_group_target_assignment_metadata_value_0},
}
