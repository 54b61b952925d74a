# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.group_metadata`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int16_at,
    int32_at,
    int64_at,
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_ll: Final = Struct(">ll").pack
pack_llB: Final = Struct(">llB").pack
pack_lll: Final = Struct(">lll").pack
pack_q: Final = Struct(">q").pack
pack_qB: Final = Struct(">qB").pack
pack_ql: Final = Struct(">ql").pack


def decode_group_metadata_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataKey, int]:
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
        o1_group = text_at(buf, pos, e3)
        pos = e3
        message = GroupMetadataKey(group=o1_group)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataKey, version, data, offset, most)


def decode_group_metadata_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
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
        o1_protocol_type = text_at(buf, pos, e3)
        pos = e3
        o1_generation = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            o1_protocol = None
        else:
            e5: i64 = pos + n4
            o1_protocol = text_at(buf, pos, e5)
            pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            o1_leader = None
        else:
            e7: i64 = pos + n6
            o1_leader = text_at(buf, pos, e7)
            pos = e7
        n8 = int32_at(buf, pos)
        pos += 4
        if n8 < 0:
            raise IndexError
        if n8 * 18 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_members = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15 = int16_at(buf, pos)
            pos += 2
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            o12_client_id = text_at(buf, pos, e16)
            pos = e16
            n17 = int16_at(buf, pos)
            pos += 2
            if n17 < 0:
                raise IndexError
            e18: i64 = pos + n17
            o12_client_host = text_at(buf, pos, e18)
            pos = e18
            o12_session_timeout = int32_at(buf, pos)
            n19 = int32_at(buf, pos + 4)
            pos += 8
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            if e20 > end:
                raise IndexError
            o12_subscription = bytes(buf[pos:e20])
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            e22: i64 = pos + n21
            if e22 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e22])
            pos = e22
            v11 = MemberMetadata(
                member_id=o12_member_id,
                client_id=o12_client_id,
                client_host=o12_client_host,
                session_timeout=o12_session_timeout,
                subscription=o12_subscription,
                assignment=o12_assignment,
            )
            l9.append(v11)
        message = GroupMetadataValue(
            protocol_type=o1_protocol_type,
            generation=o1_generation,
            protocol=o1_protocol,
            leader=o1_leader,
            members=o1_members,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataValue, version, data, offset, most)


def decode_group_metadata_value_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
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
        o1_protocol_type = text_at(buf, pos, e3)
        pos = e3
        o1_generation = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            o1_protocol = None
        else:
            e5: i64 = pos + n4
            o1_protocol = text_at(buf, pos, e5)
            pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            o1_leader = None
        else:
            e7: i64 = pos + n6
            o1_leader = text_at(buf, pos, e7)
            pos = e7
        n8 = int32_at(buf, pos)
        pos += 4
        if n8 < 0:
            raise IndexError
        if n8 * 22 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_members = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15 = int16_at(buf, pos)
            pos += 2
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            o12_client_id = text_at(buf, pos, e16)
            pos = e16
            n17 = int16_at(buf, pos)
            pos += 2
            if n17 < 0:
                raise IndexError
            e18: i64 = pos + n17
            o12_client_host = text_at(buf, pos, e18)
            pos = e18
            o12_rebalance_timeout = int32_at(buf, pos)
            o12_session_timeout = int32_at(buf, pos + 4)
            n19 = int32_at(buf, pos + 8)
            pos += 12
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            if e20 > end:
                raise IndexError
            o12_subscription = bytes(buf[pos:e20])
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            e22: i64 = pos + n21
            if e22 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e22])
            pos = e22
            v11 = MemberMetadata(
                member_id=o12_member_id,
                client_id=o12_client_id,
                client_host=o12_client_host,
                rebalance_timeout=o12_rebalance_timeout,
                session_timeout=o12_session_timeout,
                subscription=o12_subscription,
                assignment=o12_assignment,
            )
            l9.append(v11)
        message = GroupMetadataValue(
            protocol_type=o1_protocol_type,
            generation=o1_generation,
            protocol=o1_protocol,
            leader=o1_leader,
            members=o1_members,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataValue, version, data, offset, most)


def decode_group_metadata_value_2(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
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
        o1_protocol_type = text_at(buf, pos, e3)
        pos = e3
        o1_generation = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            o1_protocol = None
        else:
            e5: i64 = pos + n4
            o1_protocol = text_at(buf, pos, e5)
            pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            o1_leader = None
        else:
            e7: i64 = pos + n6
            o1_leader = text_at(buf, pos, e7)
            pos = e7
        o1_current_state_timestamp = int64_at(buf, pos)
        n8 = int32_at(buf, pos + 8)
        pos += 12
        if n8 < 0:
            raise IndexError
        if n8 * 22 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_members = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15 = int16_at(buf, pos)
            pos += 2
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            o12_client_id = text_at(buf, pos, e16)
            pos = e16
            n17 = int16_at(buf, pos)
            pos += 2
            if n17 < 0:
                raise IndexError
            e18: i64 = pos + n17
            o12_client_host = text_at(buf, pos, e18)
            pos = e18
            o12_rebalance_timeout = int32_at(buf, pos)
            o12_session_timeout = int32_at(buf, pos + 4)
            n19 = int32_at(buf, pos + 8)
            pos += 12
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            if e20 > end:
                raise IndexError
            o12_subscription = bytes(buf[pos:e20])
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            e22: i64 = pos + n21
            if e22 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e22])
            pos = e22
            v11 = MemberMetadata(
                member_id=o12_member_id,
                client_id=o12_client_id,
                client_host=o12_client_host,
                rebalance_timeout=o12_rebalance_timeout,
                session_timeout=o12_session_timeout,
                subscription=o12_subscription,
                assignment=o12_assignment,
            )
            l9.append(v11)
        message = GroupMetadataValue(
            protocol_type=o1_protocol_type,
            generation=o1_generation,
            protocol=o1_protocol,
            leader=o1_leader,
            current_state_timestamp=o1_current_state_timestamp,
            members=o1_members,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataValue, version, data, offset, most)


def decode_group_metadata_value_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
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
        o1_protocol_type = text_at(buf, pos, e3)
        pos = e3
        o1_generation = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            o1_protocol = None
        else:
            e5: i64 = pos + n4
            o1_protocol = text_at(buf, pos, e5)
            pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            o1_leader = None
        else:
            e7: i64 = pos + n6
            o1_leader = text_at(buf, pos, e7)
            pos = e7
        o1_current_state_timestamp = int64_at(buf, pos)
        n8 = int32_at(buf, pos + 8)
        pos += 12
        if n8 < 0:
            raise IndexError
        if n8 * 24 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_members = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15 = int16_at(buf, pos)
            pos += 2
            if n15 < 0:
                o12_group_instance_id = None
            else:
                e16: i64 = pos + n15
                o12_group_instance_id = text_at(buf, pos, e16)
                pos = e16
            n17 = int16_at(buf, pos)
            pos += 2
            if n17 < 0:
                raise IndexError
            e18: i64 = pos + n17
            o12_client_id = text_at(buf, pos, e18)
            pos = e18
            n19 = int16_at(buf, pos)
            pos += 2
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            o12_client_host = text_at(buf, pos, e20)
            pos = e20
            o12_rebalance_timeout = int32_at(buf, pos)
            o12_session_timeout = int32_at(buf, pos + 4)
            n21 = int32_at(buf, pos + 8)
            pos += 12
            if n21 < 0:
                raise IndexError
            e22: i64 = pos + n21
            if e22 > end:
                raise IndexError
            o12_subscription = bytes(buf[pos:e22])
            pos = e22
            n23 = int32_at(buf, pos)
            pos += 4
            if n23 < 0:
                raise IndexError
            e24: i64 = pos + n23
            if e24 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e24])
            pos = e24
            v11 = MemberMetadata(
                member_id=o12_member_id,
                group_instance_id=o12_group_instance_id,
                client_id=o12_client_id,
                client_host=o12_client_host,
                rebalance_timeout=o12_rebalance_timeout,
                session_timeout=o12_session_timeout,
                subscription=o12_subscription,
                assignment=o12_assignment,
            )
            l9.append(v11)
        message = GroupMetadataValue(
            protocol_type=o1_protocol_type,
            generation=o1_generation,
            protocol=o1_protocol,
            leader=o1_leader,
            current_state_timestamp=o1_current_state_timestamp,
            members=o1_members,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataValue, version, data, offset, most)


def decode_group_metadata_value_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        e3: i64 = pos + n2 - 1
        o1_protocol_type = text_at(buf, pos, e3)
        pos = e3
        o1_generation = int32_at(buf, pos)
        n4: i64 = buf[pos + 4]
        pos += 5
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            o1_protocol = None
        else:
            e5: i64 = pos + n4 - 1
            o1_protocol = text_at(buf, pos, e5)
            pos = e5
        n6: i64 = buf[pos]
        pos += 1
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_leader = None
        else:
            e7: i64 = pos + n6 - 1
            o1_leader = text_at(buf, pos, e7)
            pos = e7
        o1_current_state_timestamp = int64_at(buf, pos)
        n8: i64 = buf[pos + 8]
        pos += 9
        if n8 > 127:
            n8, pos = long_length(buf, pos - 1)
        if n8 == 0:
            raise IndexError
        n8 -= 1
        if n8 * 15 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_members = l9
        for _ in range(n8):
            n13: i64 = buf[pos]
            pos += 1
            if n13 > 127:
                n13, pos = long_string(buf, pos - 1)
            if n13 == 0:
                raise IndexError
            e14: i64 = pos + n13 - 1
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15: i64 = buf[pos]
            pos += 1
            if n15 > 127:
                n15, pos = long_string(buf, pos - 1)
            if n15 == 0:
                o12_group_instance_id = None
            else:
                e16: i64 = pos + n15 - 1
                o12_group_instance_id = text_at(buf, pos, e16)
                pos = e16
            n17: i64 = buf[pos]
            pos += 1
            if n17 > 127:
                n17, pos = long_string(buf, pos - 1)
            if n17 == 0:
                raise IndexError
            e18: i64 = pos + n17 - 1
            o12_client_id = text_at(buf, pos, e18)
            pos = e18
            n19: i64 = buf[pos]
            pos += 1
            if n19 > 127:
                n19, pos = long_string(buf, pos - 1)
            if n19 == 0:
                raise IndexError
            e20: i64 = pos + n19 - 1
            o12_client_host = text_at(buf, pos, e20)
            pos = e20
            o12_rebalance_timeout = int32_at(buf, pos)
            o12_session_timeout = int32_at(buf, pos + 4)
            n21: i64 = buf[pos + 8]
            pos += 9
            if n21 > 127:
                n21, pos = long_length(buf, pos - 1)
            if n21 == 0:
                raise IndexError
            e22: i64 = pos + n21 - 1
            if e22 > end:
                raise IndexError
            o12_subscription = bytes(buf[pos:e22])
            pos = e22
            n23: i64 = buf[pos]
            pos += 1
            if n23 > 127:
                n23, pos = long_length(buf, pos - 1)
            if n23 == 0:
                raise IndexError
            e24: i64 = pos + n23 - 1
            if e24 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e24])
            pos = e24
            v11 = o12 = MemberMetadata(
                member_id=o12_member_id,
                group_instance_id=o12_group_instance_id,
                client_id=o12_client_id,
                client_host=o12_client_host,
                rebalance_timeout=o12_rebalance_timeout,
                session_timeout=o12_session_timeout,
                subscription=o12_subscription,
                assignment=o12_assignment,
            )
            if buf[pos]:
                o12.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o12.unknown_tagged_fields)
                check_count(len(o12.unknown_tagged_fields), left)
            else:
                pos += 1
            l9.append(v11)
        message = o1 = GroupMetadataValue(
            protocol_type=o1_protocol_type,
            generation=o1_generation,
            protocol=o1_protocol,
            leader=o1_leader,
            current_state_timestamp=o1_current_state_timestamp,
            members=o1_members,
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
    return decoded_again(GroupMetadataValue, version, data, offset, most)


def encode_group_metadata_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataKey = message
        b1 = m.group.encode()
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
        raise explained(GroupMetadataKey, version, message, error) from None


def encode_group_metadata_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataValue = message
        b1 = m.protocol_type.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        s5 = m.protocol
        if s5 is None:
            n4: i64 = -1
            b3 = b""
        else:
            b3 = s5.encode()
            n4 = len(b3)
            if n4 > 32767:
                refuse()
        s8 = m.leader
        if s8 is None:
            n7: i64 = -1
            b6 = b""
        else:
            b6 = s8.encode()
            n7 = len(b6)
            if n7 > 32767:
                refuse()
        l9 = m.members
        n10: i64 = len(l9)
        out += (pack_h(n2), b1, pack_lh(m.generation, n4), b3, pack_h(n7), b6, pack_l(n10))
        for v11 in l9:
            b12 = v11.member_id.encode()
            n13: i64 = len(b12)
            if n13 > 32767:
                refuse()
            b14 = v11.client_id.encode()
            n15: i64 = len(b14)
            if n15 > 32767:
                refuse()
            b16 = v11.client_host.encode()
            n17: i64 = len(b16)
            if n17 > 32767:
                refuse()
            b18 = v11.subscription
            n19: i64 = len(b18)
            b20 = v11.assignment
            n21: i64 = len(b20)
            if v11.unknown_tagged_fields:
                refuse()
            out += (
                pack_h(n13),
                b12,
                pack_h(n15),
                b14,
                pack_h(n17),
                b16,
                pack_ll(v11.session_timeout, n19),
                b18,
                pack_l(n21),
                b20,
            )
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(GroupMetadataValue, version, message, error) from None


def encode_group_metadata_value_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataValue = message
        b1 = m.protocol_type.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        s5 = m.protocol
        if s5 is None:
            n4: i64 = -1
            b3 = b""
        else:
            b3 = s5.encode()
            n4 = len(b3)
            if n4 > 32767:
                refuse()
        s8 = m.leader
        if s8 is None:
            n7: i64 = -1
            b6 = b""
        else:
            b6 = s8.encode()
            n7 = len(b6)
            if n7 > 32767:
                refuse()
        l9 = m.members
        n10: i64 = len(l9)
        out += (pack_h(n2), b1, pack_lh(m.generation, n4), b3, pack_h(n7), b6, pack_l(n10))
        for v11 in l9:
            b12 = v11.member_id.encode()
            n13: i64 = len(b12)
            if n13 > 32767:
                refuse()
            b14 = v11.client_id.encode()
            n15: i64 = len(b14)
            if n15 > 32767:
                refuse()
            b16 = v11.client_host.encode()
            n17: i64 = len(b16)
            if n17 > 32767:
                refuse()
            b18 = v11.subscription
            n19: i64 = len(b18)
            b20 = v11.assignment
            n21: i64 = len(b20)
            if v11.unknown_tagged_fields:
                refuse()
            out += (
                pack_h(n13),
                b12,
                pack_h(n15),
                b14,
                pack_h(n17),
                b16,
                pack_lll(v11.rebalance_timeout, v11.session_timeout, n19),
                b18,
                pack_l(n21),
                b20,
            )
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(GroupMetadataValue, version, message, error) from None


def encode_group_metadata_value_2(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataValue = message
        b1 = m.protocol_type.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        s5 = m.protocol
        if s5 is None:
            n4: i64 = -1
            b3 = b""
        else:
            b3 = s5.encode()
            n4 = len(b3)
            if n4 > 32767:
                refuse()
        s8 = m.leader
        if s8 is None:
            n7: i64 = -1
            b6 = b""
        else:
            b6 = s8.encode()
            n7 = len(b6)
            if n7 > 32767:
                refuse()
        l9 = m.members
        n10: i64 = len(l9)
        out += (pack_h(n2), b1, pack_lh(m.generation, n4), b3, pack_h(n7), b6, pack_ql(m.current_state_timestamp, n10))
        for v11 in l9:
            b12 = v11.member_id.encode()
            n13: i64 = len(b12)
            if n13 > 32767:
                refuse()
            b14 = v11.client_id.encode()
            n15: i64 = len(b14)
            if n15 > 32767:
                refuse()
            b16 = v11.client_host.encode()
            n17: i64 = len(b16)
            if n17 > 32767:
                refuse()
            b18 = v11.subscription
            n19: i64 = len(b18)
            b20 = v11.assignment
            n21: i64 = len(b20)
            if v11.unknown_tagged_fields:
                refuse()
            out += (
                pack_h(n13),
                b12,
                pack_h(n15),
                b14,
                pack_h(n17),
                b16,
                pack_lll(v11.rebalance_timeout, v11.session_timeout, n19),
                b18,
                pack_l(n21),
                b20,
            )
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(GroupMetadataValue, version, message, error) from None


def encode_group_metadata_value_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataValue = message
        b1 = m.protocol_type.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        s5 = m.protocol
        if s5 is None:
            n4: i64 = -1
            b3 = b""
        else:
            b3 = s5.encode()
            n4 = len(b3)
            if n4 > 32767:
                refuse()
        s8 = m.leader
        if s8 is None:
            n7: i64 = -1
            b6 = b""
        else:
            b6 = s8.encode()
            n7 = len(b6)
            if n7 > 32767:
                refuse()
        l9 = m.members
        n10: i64 = len(l9)
        out += (pack_h(n2), b1, pack_lh(m.generation, n4), b3, pack_h(n7), b6, pack_ql(m.current_state_timestamp, n10))
        for v11 in l9:
            b12 = v11.member_id.encode()
            n13: i64 = len(b12)
            if n13 > 32767:
                refuse()
            s16 = v11.group_instance_id
            if s16 is None:
                n15: i64 = -1
                b14 = b""
            else:
                b14 = s16.encode()
                n15 = len(b14)
                if n15 > 32767:
                    refuse()
            b17 = v11.client_id.encode()
            n18: i64 = len(b17)
            if n18 > 32767:
                refuse()
            b19 = v11.client_host.encode()
            n20: i64 = len(b19)
            if n20 > 32767:
                refuse()
            b21 = v11.subscription
            n22: i64 = len(b21)
            b23 = v11.assignment
            n24: i64 = len(b23)
            if v11.unknown_tagged_fields:
                refuse()
            out += (
                pack_h(n13),
                b12,
                pack_h(n15),
                b14,
                pack_h(n18),
                b17,
                pack_h(n20),
                b19,
                pack_lll(v11.rebalance_timeout, v11.session_timeout, n22),
                b21,
                pack_l(n24),
                b23,
            )
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(GroupMetadataValue, version, message, error) from None


def encode_group_metadata_value_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: GroupMetadataValue = message
        b1 = m.protocol_type.encode()
        n2: i64 = len(b1) + 1
        if n2 > 32768:
            refuse()
        s5 = m.protocol
        if s5 is None:
            n4: i64 = 0
            b3 = b""
        else:
            b3 = s5.encode()
            n4 = len(b3) + 1
            if n4 > 32768:
                refuse()
        s8 = m.leader
        if s8 is None:
            n7: i64 = 0
            b6 = b""
        else:
            b6 = s8.encode()
            n7 = len(b6) + 1
            if n7 > 32768:
                refuse()
        l9 = m.members
        n10: i64 = len(l9) + 1
        out += (
            BYTE[n2] if n2 < 128 else encode_uvarint(n2),
            b1,
            pack_lB(m.generation, n4) if n4 < 128 else pack_l(m.generation) + encode_uvarint(n4),
            b3,
            BYTE[n7] if n7 < 128 else encode_uvarint(n7),
            b6,
            pack_qB(m.current_state_timestamp, n10)
            if n10 < 128
            else pack_q(m.current_state_timestamp) + encode_uvarint(n10),
        )
        for v11 in l9:
            b12 = v11.member_id.encode()
            n13: i64 = len(b12) + 1
            if n13 > 32768:
                refuse()
            s16 = v11.group_instance_id
            if s16 is None:
                n15: i64 = 0
                b14 = b""
            else:
                b14 = s16.encode()
                n15 = len(b14) + 1
                if n15 > 32768:
                    refuse()
            b17 = v11.client_id.encode()
            n18: i64 = len(b17) + 1
            if n18 > 32768:
                refuse()
            b19 = v11.client_host.encode()
            n20: i64 = len(b19) + 1
            if n20 > 32768:
                refuse()
            b21 = v11.subscription
            n22: i64 = len(b21) + 1
            b23 = v11.assignment
            n24: i64 = len(b23) + 1
            out += (
                BYTE[n13] if n13 < 128 else encode_uvarint(n13),
                b12,
                BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                b14,
                BYTE[n18] if n18 < 128 else encode_uvarint(n18),
                b17,
                BYTE[n20] if n20 < 128 else encode_uvarint(n20),
                b19,
                pack_llB(v11.rebalance_timeout, v11.session_timeout, n22)
                if n22 < 128
                else pack_ll(v11.rebalance_timeout, v11.session_timeout) + encode_uvarint(n22),
                b21,
                BYTE[n24] if n24 < 128 else encode_uvarint(n24),
                b23,
                BYTE[0] if not v11.unknown_tagged_fields else encode_tagged_section((), v11.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(GroupMetadataValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "GroupMetadataKey": {0: decode_group_metadata_key_0},
    "GroupMetadataValue": {
        0: decode_group_metadata_value_0,
        1: decode_group_metadata_value_1,
        2: decode_group_metadata_value_2,
        3: decode_group_metadata_value_3,
        4: decode_group_metadata_value_4,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "GroupMetadataKey": {0: encode_group_metadata_key_0},
    "GroupMetadataValue": {
        0: encode_group_metadata_value_0,
        1: encode_group_metadata_value_1,
        2: encode_group_metadata_value_2,
        3: encode_group_metadata_value_3,
        4: encode_group_metadata_value_4,
    },
}
