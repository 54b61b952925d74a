# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.join_group`. Generated from the constructs: do not edit.

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
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_h: Final = Struct(">h").pack
pack_hlh: Final = Struct(">hlh").pack
pack_l: Final = Struct(">l").pack
pack_lhl: Final = Struct(">lhl").pack
pack_lhlB: Final = Struct(">lhlB").pack
pack_lhlh: Final = Struct(">lhlh").pack
pack_o: Final = Struct(">?").pack
pack_oB: Final = Struct(">?B").pack


def decode_join_group_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
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
        o1_session_timeout_ms = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            raise IndexError
        e7: i64 = pos + n6
        o1_protocol_type = text_at(buf, pos, e7)
        pos = e7
        n8 = int32_at(buf, pos)
        pos += 4
        if n8 < 0:
            raise IndexError
        if n8 * 6 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_protocols = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_name = text_at(buf, pos, e14)
            pos = e14
            n15 = int32_at(buf, pos)
            pos += 4
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            if e16 > end:
                raise IndexError
            o12_metadata = bytes(buf[pos:e16])
            pos = e16
            v11 = JoinGroupRequestProtocol(name=o12_name, metadata=o12_metadata)
            l9.append(v11)
        message = JoinGroupRequest(
            group_id=o1_group_id,
            session_timeout_ms=o1_session_timeout_ms,
            member_id=o1_member_id,
            protocol_type=o1_protocol_type,
            protocols=o1_protocols,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(JoinGroupRequest, version, data, offset, most)


def decode_join_group_request_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
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
        o1_session_timeout_ms = int32_at(buf, pos)
        o1_rebalance_timeout_ms = int32_at(buf, pos + 4)
        n4 = int16_at(buf, pos + 8)
        pos += 10
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            raise IndexError
        e7: i64 = pos + n6
        o1_protocol_type = text_at(buf, pos, e7)
        pos = e7
        n8 = int32_at(buf, pos)
        pos += 4
        if n8 < 0:
            raise IndexError
        if n8 * 6 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_protocols = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_name = text_at(buf, pos, e14)
            pos = e14
            n15 = int32_at(buf, pos)
            pos += 4
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            if e16 > end:
                raise IndexError
            o12_metadata = bytes(buf[pos:e16])
            pos = e16
            v11 = JoinGroupRequestProtocol(name=o12_name, metadata=o12_metadata)
            l9.append(v11)
        message = JoinGroupRequest(
            group_id=o1_group_id,
            session_timeout_ms=o1_session_timeout_ms,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            member_id=o1_member_id,
            protocol_type=o1_protocol_type,
            protocols=o1_protocols,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(JoinGroupRequest, version, data, offset, most)


def decode_join_group_request_5(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
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
        o1_session_timeout_ms = int32_at(buf, pos)
        o1_rebalance_timeout_ms = int32_at(buf, pos + 4)
        n4 = int16_at(buf, pos + 8)
        pos += 10
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6 = int16_at(buf, pos)
        pos += 2
        if n6 < 0:
            o1_group_instance_id = None
        else:
            e7: i64 = pos + n6
            o1_group_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8 = int16_at(buf, pos)
        pos += 2
        if n8 < 0:
            raise IndexError
        e9: i64 = pos + n8
        o1_protocol_type = text_at(buf, pos, e9)
        pos = e9
        n10 = int32_at(buf, pos)
        pos += 4
        if n10 < 0:
            raise IndexError
        if n10 * 6 > end - pos:
            raise IndexError
        left -= n10
        check_count(n10, left)
        l11: list[Any] = []
        o1_protocols = l11
        for _ in range(n10):
            n15 = int16_at(buf, pos)
            pos += 2
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            o14_name = text_at(buf, pos, e16)
            pos = e16
            n17 = int32_at(buf, pos)
            pos += 4
            if n17 < 0:
                raise IndexError
            e18: i64 = pos + n17
            if e18 > end:
                raise IndexError
            o14_metadata = bytes(buf[pos:e18])
            pos = e18
            v13 = JoinGroupRequestProtocol(name=o14_name, metadata=o14_metadata)
            l11.append(v13)
        message = JoinGroupRequest(
            group_id=o1_group_id,
            session_timeout_ms=o1_session_timeout_ms,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            protocol_type=o1_protocol_type,
            protocols=o1_protocols,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(JoinGroupRequest, version, data, offset, most)


def decode_join_group_request_6(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
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
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        o1_session_timeout_ms = int32_at(buf, pos)
        o1_rebalance_timeout_ms = int32_at(buf, pos + 4)
        n4: i64 = buf[pos + 8]
        pos += 9
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6: i64 = buf[pos]
        pos += 1
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_group_instance_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_group_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            raise IndexError
        e9: i64 = pos + n8 - 1
        o1_protocol_type = text_at(buf, pos, e9)
        pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            raise IndexError
        n10 -= 1
        if n10 * 3 > end - pos:
            raise IndexError
        left -= n10
        check_count(n10, left)
        l11: list[Any] = []
        o1_protocols = l11
        for _ in range(n10):
            n15: i64 = buf[pos]
            pos += 1
            if n15 > 127:
                n15, pos = long_string(buf, pos - 1)
            if n15 == 0:
                raise IndexError
            e16: i64 = pos + n15 - 1
            o14_name = text_at(buf, pos, e16)
            pos = e16
            n17: i64 = buf[pos]
            pos += 1
            if n17 > 127:
                n17, pos = long_length(buf, pos - 1)
            if n17 == 0:
                raise IndexError
            e18: i64 = pos + n17 - 1
            if e18 > end:
                raise IndexError
            o14_metadata = bytes(buf[pos:e18])
            pos = e18
            v13 = o14 = JoinGroupRequestProtocol(name=o14_name, metadata=o14_metadata)
            if buf[pos]:
                o14.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o14.unknown_tagged_fields)
                check_count(len(o14.unknown_tagged_fields), left)
            else:
                pos += 1
            l11.append(v13)
        message = o1 = JoinGroupRequest(
            group_id=o1_group_id,
            session_timeout_ms=o1_session_timeout_ms,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            protocol_type=o1_protocol_type,
            protocols=o1_protocols,
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
    return decoded_again(JoinGroupRequest, version, data, offset, most)


def decode_join_group_request_8(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
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
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        o1_session_timeout_ms = int32_at(buf, pos)
        o1_rebalance_timeout_ms = int32_at(buf, pos + 4)
        n4: i64 = buf[pos + 8]
        pos += 9
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6: i64 = buf[pos]
        pos += 1
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_group_instance_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_group_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            raise IndexError
        e9: i64 = pos + n8 - 1
        o1_protocol_type = text_at(buf, pos, e9)
        pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            raise IndexError
        n10 -= 1
        if n10 * 3 > end - pos:
            raise IndexError
        left -= n10
        check_count(n10, left)
        l11: list[Any] = []
        o1_protocols = l11
        for _ in range(n10):
            n15: i64 = buf[pos]
            pos += 1
            if n15 > 127:
                n15, pos = long_string(buf, pos - 1)
            if n15 == 0:
                raise IndexError
            e16: i64 = pos + n15 - 1
            o14_name = text_at(buf, pos, e16)
            pos = e16
            n17: i64 = buf[pos]
            pos += 1
            if n17 > 127:
                n17, pos = long_length(buf, pos - 1)
            if n17 == 0:
                raise IndexError
            e18: i64 = pos + n17 - 1
            if e18 > end:
                raise IndexError
            o14_metadata = bytes(buf[pos:e18])
            pos = e18
            v13 = o14 = JoinGroupRequestProtocol(name=o14_name, metadata=o14_metadata)
            if buf[pos]:
                o14.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o14.unknown_tagged_fields)
                check_count(len(o14.unknown_tagged_fields), left)
            else:
                pos += 1
            l11.append(v13)
        n19: i64 = buf[pos]
        pos += 1
        if n19 > 127:
            n19, pos = long_string(buf, pos - 1)
        if n19 == 0:
            o1_reason = None
        else:
            e20: i64 = pos + n19 - 1
            o1_reason = text_at(buf, pos, e20)
            pos = e20
        message = o1 = JoinGroupRequest(
            group_id=o1_group_id,
            session_timeout_ms=o1_session_timeout_ms,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            protocol_type=o1_protocol_type,
            protocols=o1_protocols,
            reason=o1_reason,
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
    return decoded_again(JoinGroupRequest, version, data, offset, most)


def encode_join_group_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        if m.skip_assignment != False:
            refuse()
        b1 = m.protocol_name.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.leader.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        b5 = m.member_id.encode()
        n6: i64 = len(b5)
        if n6 > 32767:
            refuse()
        l7 = m.members
        n8: i64 = len(l7)
        out += (pack_hlh(m.error_code, m.generation_id, n2), b1, pack_h(n4), b3, pack_h(n6), b5, pack_l(n8))
        for v9 in l7:
            b10 = v9.member_id.encode()
            n11: i64 = len(b10)
            if n11 > 32767:
                refuse()
            b12 = v9.metadata
            n13: i64 = len(b12)
            if v9.unknown_tagged_fields:
                refuse()
            out += (pack_h(n11), b10, pack_l(n13), b12)
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


def encode_join_group_response_2(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        if m.skip_assignment != False:
            refuse()
        b1 = m.protocol_name.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.leader.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        b5 = m.member_id.encode()
        n6: i64 = len(b5)
        if n6 > 32767:
            refuse()
        l7 = m.members
        n8: i64 = len(l7)
        out += (
            pack_lhlh(m.throttle_time_ms, m.error_code, m.generation_id, n2),
            b1,
            pack_h(n4),
            b3,
            pack_h(n6),
            b5,
            pack_l(n8),
        )
        for v9 in l7:
            b10 = v9.member_id.encode()
            n11: i64 = len(b10)
            if n11 > 32767:
                refuse()
            b12 = v9.metadata
            n13: i64 = len(b12)
            if v9.unknown_tagged_fields:
                refuse()
            out += (pack_h(n11), b10, pack_l(n13), b12)
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


def encode_join_group_response_5(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        if m.skip_assignment != False:
            refuse()
        b1 = m.protocol_name.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.leader.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        b5 = m.member_id.encode()
        n6: i64 = len(b5)
        if n6 > 32767:
            refuse()
        l7 = m.members
        n8: i64 = len(l7)
        out += (
            pack_lhlh(m.throttle_time_ms, m.error_code, m.generation_id, n2),
            b1,
            pack_h(n4),
            b3,
            pack_h(n6),
            b5,
            pack_l(n8),
        )
        for v9 in l7:
            b10 = v9.member_id.encode()
            n11: i64 = len(b10)
            if n11 > 32767:
                refuse()
            s14 = v9.group_instance_id
            if s14 is None:
                n13: i64 = -1
                b12 = b""
            else:
                b12 = s14.encode()
                n13 = len(b12)
                if n13 > 32767:
                    refuse()
            b15 = v9.metadata
            n16: i64 = len(b15)
            if v9.unknown_tagged_fields:
                refuse()
            out += (pack_h(n11), b10, pack_h(n13), b12, pack_l(n16), b15)
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


def encode_join_group_response_6(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        if m.skip_assignment != False:
            refuse()
        b1 = m.protocol_name.encode()
        n2: i64 = len(b1) + 1
        if n2 > 32768:
            refuse()
        b3 = m.leader.encode()
        n4: i64 = len(b3) + 1
        if n4 > 32768:
            refuse()
        b5 = m.member_id.encode()
        n6: i64 = len(b5) + 1
        if n6 > 32768:
            refuse()
        l7 = m.members
        n8: i64 = len(l7) + 1
        out += (
            pack_lhlB(m.throttle_time_ms, m.error_code, m.generation_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id) + encode_uvarint(n2),
            b1,
            BYTE[n4] if n4 < 128 else encode_uvarint(n4),
            b3,
            BYTE[n6] if n6 < 128 else encode_uvarint(n6),
            b5,
            BYTE[n8] if n8 < 128 else encode_uvarint(n8),
        )
        for v9 in l7:
            b10 = v9.member_id.encode()
            n11: i64 = len(b10) + 1
            if n11 > 32768:
                refuse()
            s14 = v9.group_instance_id
            if s14 is None:
                n13: i64 = 0
                b12 = b""
            else:
                b12 = s14.encode()
                n13 = len(b12) + 1
                if n13 > 32768:
                    refuse()
            b15 = v9.metadata
            n16: i64 = len(b15) + 1
            out += (
                BYTE[n11] if n11 < 128 else encode_uvarint(n11),
                b10,
                BYTE[n13] if n13 < 128 else encode_uvarint(n13),
                b12,
                BYTE[n16] if n16 < 128 else encode_uvarint(n16),
                b15,
                BYTE[0] if not v9.unknown_tagged_fields else encode_tagged_section((), v9.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


def encode_join_group_response_7(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        if m.skip_assignment != False:
            refuse()
        s3 = m.protocol_type
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        s6 = m.protocol_name
        if s6 is None:
            n5: i64 = 0
            b4 = b""
        else:
            b4 = s6.encode()
            n5 = len(b4) + 1
            if n5 > 32768:
                refuse()
        b7 = m.leader.encode()
        n8: i64 = len(b7) + 1
        if n8 > 32768:
            refuse()
        b9 = m.member_id.encode()
        n10: i64 = len(b9) + 1
        if n10 > 32768:
            refuse()
        l11 = m.members
        n12: i64 = len(l11) + 1
        out += (
            pack_lhlB(m.throttle_time_ms, m.error_code, m.generation_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            BYTE[n8] if n8 < 128 else encode_uvarint(n8),
            b7,
            BYTE[n10] if n10 < 128 else encode_uvarint(n10),
            b9,
            BYTE[n12] if n12 < 128 else encode_uvarint(n12),
        )
        for v13 in l11:
            b14 = v13.member_id.encode()
            n15: i64 = len(b14) + 1
            if n15 > 32768:
                refuse()
            s18 = v13.group_instance_id
            if s18 is None:
                n17: i64 = 0
                b16 = b""
            else:
                b16 = s18.encode()
                n17 = len(b16) + 1
                if n17 > 32768:
                    refuse()
            b19 = v13.metadata
            n20: i64 = len(b19) + 1
            out += (
                BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                b14,
                BYTE[n17] if n17 < 128 else encode_uvarint(n17),
                b16,
                BYTE[n20] if n20 < 128 else encode_uvarint(n20),
                b19,
                BYTE[0] if not v13.unknown_tagged_fields else encode_tagged_section((), v13.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


def encode_join_group_response_9(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: JoinGroupResponse = message
        s3 = m.protocol_type
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        s6 = m.protocol_name
        if s6 is None:
            n5: i64 = 0
            b4 = b""
        else:
            b4 = s6.encode()
            n5 = len(b4) + 1
            if n5 > 32768:
                refuse()
        b7 = m.leader.encode()
        n8: i64 = len(b7) + 1
        if n8 > 32768:
            refuse()
        b9 = m.member_id.encode()
        n10: i64 = len(b9) + 1
        if n10 > 32768:
            refuse()
        l11 = m.members
        n12: i64 = len(l11) + 1
        out += (
            pack_lhlB(m.throttle_time_ms, m.error_code, m.generation_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            BYTE[n8] if n8 < 128 else encode_uvarint(n8),
            b7,
            pack_oB(m.skip_assignment, n10) if n10 < 128 else pack_o(m.skip_assignment) + encode_uvarint(n10),
            b9,
            BYTE[n12] if n12 < 128 else encode_uvarint(n12),
        )
        for v13 in l11:
            b14 = v13.member_id.encode()
            n15: i64 = len(b14) + 1
            if n15 > 32768:
                refuse()
            s18 = v13.group_instance_id
            if s18 is None:
                n17: i64 = 0
                b16 = b""
            else:
                b16 = s18.encode()
                n17 = len(b16) + 1
                if n17 > 32768:
                    refuse()
            b19 = v13.metadata
            n20: i64 = len(b19) + 1
            out += (
                BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                b14,
                BYTE[n17] if n17 < 128 else encode_uvarint(n17),
                b16,
                BYTE[n20] if n20 < 128 else encode_uvarint(n20),
                b19,
                BYTE[0] if not v13.unknown_tagged_fields else encode_tagged_section((), v13.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(JoinGroupResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "JoinGroupRequest": {
        0: decode_join_group_request_0,
        1: decode_join_group_request_1,
        5: decode_join_group_request_5,
        6: decode_join_group_request_6,
        8: decode_join_group_request_8,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "JoinGroupResponse": {
        0: encode_join_group_response_0,
        2: encode_join_group_response_2,
        5: encode_join_group_response_5,
        6: encode_join_group_response_6,
        7: encode_join_group_response_7,
        9: encode_join_group_response_9,
    },
}
