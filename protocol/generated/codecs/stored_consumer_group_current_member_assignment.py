# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.consumer_group_current_member_assignment`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, pack, unpack_from
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int8_at,
    int16_at,
    int32_at,
    long_length,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_current_member_assignment import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import (
    ANY_NUMBER,
    checked_tags,
    encode_tagged_section,
    encode_uvarint,
    read_raw_field,
    read_tagged_field,
    read_unknown_fields,
    read_uvarint,
)

pack_16s: Final = Struct(">16s").pack
pack_B_l: Final = [Struct(f">B{count}l").pack for count in range(9)]
pack_h: Final = Struct(">h").pack
pack_llb: Final = Struct(">llb").pack
pack_llbB: Final = Struct(">llbB").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_consumer_group_current_member_assignment_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
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
        message = ConsumerGroupCurrentMemberAssignmentKey(group_id=o1_group_id, member_id=o1_member_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupCurrentMemberAssignmentKey, version, data, offset, most)


def decode_consumer_group_current_member_assignment_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_member_epoch = int32_at(buf, pos)
        o1_previous_member_epoch = int32_at(buf, pos + 4)
        o1_state = int8_at(buf, pos + 8)
        n2: i64 = buf[pos + 9]
        pos += 10
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
        o1_assigned_partitions = l3
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
            n8: i64 = buf[pos]
            pos += 1
            v5 = o6 = TopicPartitions(topic_id=o6_topic_id, partitions=o6_partitions)
            if n8:
                if n8 > 127:
                    n8, pos = read_uvarint(buf, pos - 1)
                    checked_tags(n8)
                left -= n8
                check_count(n8, left)
                u9: list[tuple[int, bytes]] = []
                for _ in range(n8):
                    t10, s11, pos = read_tagged_field(buf, pos)
                    if t10 == 0:
                        n13: i64 = buf[pos]
                        pos += 1
                        if n13 > 127:
                            n13, pos = long_length(buf, pos - 1)
                        if n13 == 0:
                            o6.assignment_epochs = None
                        else:
                            left -= n13 - 1
                            check_count(n13 - 1, left)
                            if n13 < 9:
                                o6.assignment_epochs = list(unpack_from__l[n13 - 1](buf, pos))
                            else:
                                o6.assignment_epochs = list(unpack_from(f">{n13 - 1}l", buf, pos))
                            pos += n13 * 4 - 4
                    else:
                        d12, pos = read_raw_field(buf, pos, s11)
                        u9.append((t10, d12))
                o6.unknown_tagged_fields = tuple(u9)
            l3.append(v5)
        n14: i64 = buf[pos]
        pos += 1
        if n14 > 127:
            n14, pos = long_length(buf, pos - 1)
        if n14 == 0:
            raise IndexError
        n14 -= 1
        if n14 * 18 > end - pos:
            raise IndexError
        left -= n14
        check_count(n14, left)
        l15: list[Any] = []
        o1_partitions_pending_revocation = l15
        for _ in range(n14):
            if pos + 17 > end:
                raise IndexError
            o18_topic_id = buf[pos : pos + 16]
            n19: i64 = buf[pos + 16]
            pos += 17
            if n19 > 127:
                n19, pos = long_length(buf, pos - 1)
            if n19 == 0:
                raise IndexError
            left -= n19 - 1
            check_count(n19 - 1, left)
            if n19 < 9:
                o18_partitions = list(unpack_from__l[n19 - 1](buf, pos))
            else:
                o18_partitions = list(unpack_from(f">{n19 - 1}l", buf, pos))
            pos += n19 * 4 - 4
            n20: i64 = buf[pos]
            pos += 1
            v17 = o18 = TopicPartitions(topic_id=o18_topic_id, partitions=o18_partitions)
            if n20:
                if n20 > 127:
                    n20, pos = read_uvarint(buf, pos - 1)
                    checked_tags(n20)
                left -= n20
                check_count(n20, left)
                u21: list[tuple[int, bytes]] = []
                for _ in range(n20):
                    t22, s23, pos = read_tagged_field(buf, pos)
                    if t22 == 0:
                        n25: i64 = buf[pos]
                        pos += 1
                        if n25 > 127:
                            n25, pos = long_length(buf, pos - 1)
                        if n25 == 0:
                            o18.assignment_epochs = None
                        else:
                            left -= n25 - 1
                            check_count(n25 - 1, left)
                            if n25 < 9:
                                o18.assignment_epochs = list(unpack_from__l[n25 - 1](buf, pos))
                            else:
                                o18.assignment_epochs = list(unpack_from(f">{n25 - 1}l", buf, pos))
                            pos += n25 * 4 - 4
                    else:
                        d24, pos = read_raw_field(buf, pos, s23)
                        u21.append((t22, d24))
                o18.unknown_tagged_fields = tuple(u21)
            l15.append(v17)
        message = o1 = ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=o1_member_epoch,
            previous_member_epoch=o1_previous_member_epoch,
            state=o1_state,
            assigned_partitions=o1_assigned_partitions,
            partitions_pending_revocation=o1_partitions_pending_revocation,
        )
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupCurrentMemberAssignmentValue, version, data, offset, most)


def encode_consumer_group_current_member_assignment_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupCurrentMemberAssignmentKey = message
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
        raise explained(ConsumerGroupCurrentMemberAssignmentKey, version, message, error) from None


def encode_consumer_group_current_member_assignment_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupCurrentMemberAssignmentValue = message
        l1 = m.assigned_partitions
        n2: i64 = len(l1) + 1
        out.append(
            pack_llbB(m.member_epoch, m.previous_member_epoch, m.state, n2)
            if n2 < 128
            else pack_llb(m.member_epoch, m.previous_member_epoch, m.state) + encode_uvarint(n2)
        )
        for v3 in l1:
            u4 = v3.topic_id
            l5 = v3.partitions
            n6: i64 = len(l5) + 1
            t7: tuple[tuple[int, bytes], ...] = ()
            if v3.assignment_epochs is None or len(v3.assignment_epochs):
                w8: list[bytes] = []
                l9 = v3.assignment_epochs
                if l9 is None:
                    n10: i64 = 0
                    l9 = []
                else:
                    n10 = len(l9) + 1
                w8.append(
                    pack_B_l[len(l9)](n10, *l9) if len(l9) < 9 else encode_uvarint(n10) + pack(f">{len(l9)}l", *l9)
                )
                t7 += ((0, b"".join(w8)),)
            out += (
                pack_16s(u4 if len(u4) == 16 else refuse()),
                pack_B_l[len(l5)](n6, *l5) if len(l5) < 9 else encode_uvarint(n6) + pack(f">{len(l5)}l", *l5),
                BYTE[0]
                if not (t7 or v3.unknown_tagged_fields)
                else encode_tagged_section(t7, v3.unknown_tagged_fields),
            )
        l11 = m.partitions_pending_revocation
        n12: i64 = len(l11) + 1
        out.append(BYTE[n12] if n12 < 128 else encode_uvarint(n12))
        for v13 in l11:
            u14 = v13.topic_id
            l15 = v13.partitions
            n16: i64 = len(l15) + 1
            t17: tuple[tuple[int, bytes], ...] = ()
            if v13.assignment_epochs is None or len(v13.assignment_epochs):
                w18: list[bytes] = []
                l19 = v13.assignment_epochs
                if l19 is None:
                    n20: i64 = 0
                    l19 = []
                else:
                    n20 = len(l19) + 1
                w18.append(
                    pack_B_l[len(l19)](n20, *l19) if len(l19) < 9 else encode_uvarint(n20) + pack(f">{len(l19)}l", *l19)
                )
                t17 += ((0, b"".join(w18)),)
            out += (
                pack_16s(u14 if len(u14) == 16 else refuse()),
                pack_B_l[len(l15)](n16, *l15) if len(l15) < 9 else encode_uvarint(n16) + pack(f">{len(l15)}l", *l15),
                BYTE[0]
                if not (t17 or v13.unknown_tagged_fields)
                else encode_tagged_section(t17, v13.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupCurrentMemberAssignmentValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ConsumerGroupCurrentMemberAssignmentKey": {0: decode_consumer_group_current_member_assignment_key_0},
    "ConsumerGroupCurrentMemberAssignmentValue": {0: decode_consumer_group_current_member_assignment_value_0},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ConsumerGroupCurrentMemberAssignmentKey": {0: encode_consumer_group_current_member_assignment_key_0},
    "ConsumerGroupCurrentMemberAssignmentValue": {0: encode_consumer_group_current_member_assignment_value_0},
}
