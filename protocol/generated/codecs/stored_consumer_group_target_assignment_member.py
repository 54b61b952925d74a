# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.consumer_group_target_assignment_member`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, pack, unpack_from
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import BYTE, check_count, explained, int16_at, long_length, refuse, text_at
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_target_assignment_member import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_16s: Final = Struct(">16s").pack
pack_B_l: Final = [Struct(f">B{count}l").pack for count in range(9)]
pack_h: Final = Struct(">h").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_consumer_group_target_assignment_member_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
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
        n4 = int16_at(buf, pos)
        pos += 2
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        message = ConsumerGroupTargetAssignmentMemberKey(group_id=o1_group_id, member_id=o1_member_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMemberKey, version, data, offset, most)


def decode_consumer_group_target_assignment_member_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 18 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topic_partitions = l3
        for _ in range(n2):
            if pos + 17 > end:
                raise IndexError
            o6_topic_id = buf[pos : pos + 16]
            n7: i64 = buf[pos + 16]
            pos += 17
            if n7 > 127:
                n7, pos = long_length(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            left -= n7 - 1
            check_count(n7 - 1, left)
            if n7 < 9:
                o6_partitions = list(unpack_from__l[n7 - 1](buf, pos))
            else:
                o6_partitions = list(unpack_from(f">{n7 - 1}l", buf, pos))
            pos += n7 * 4 - 4
            v5 = o6 = TopicPartition(topic_id=o6_topic_id, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        message = o1 = ConsumerGroupTargetAssignmentMemberValue(topic_partitions=o1_topic_partitions)
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupTargetAssignmentMemberValue, version, data, offset, most)


def encode_consumer_group_target_assignment_member_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupTargetAssignmentMemberKey = message
        b1 = m.group_id.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.member_id.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_h(n2), b1, pack_h(n4), b3)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupTargetAssignmentMemberKey, version, message, error) from None


def encode_consumer_group_target_assignment_member_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupTargetAssignmentMemberValue = message
        l1 = m.topic_partitions
        n2: i64 = len(l1) + 1
        out.append(BYTE[n2] if n2 < 128 else encode_uvarint(n2))
        for v3 in l1:
            u4 = v3.topic_id
            l5 = v3.partitions
            n6: i64 = len(l5) + 1
            out += (
                pack_16s(u4 if len(u4) == 16 else refuse()),
                pack_B_l[len(l5)](n6, *l5) if len(l5) < 9 else encode_uvarint(n6) + pack(f">{len(l5)}l", *l5),
                BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupTargetAssignmentMemberValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ConsumerGroupTargetAssignmentMemberKey": {0: decode_consumer_group_target_assignment_member_key_0},
    "ConsumerGroupTargetAssignmentMemberValue": {0: decode_consumer_group_target_assignment_member_value_0},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ConsumerGroupTargetAssignmentMemberKey": {0: encode_consumer_group_target_assignment_member_key_0},
    "ConsumerGroupTargetAssignmentMemberValue": {0: encode_consumer_group_target_assignment_member_value_0},
}
