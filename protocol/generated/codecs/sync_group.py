# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.sync_group`. Generated from the constructs: do not edit.

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
from odradek.protocol.generated.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_hl: Final = Struct(">hl").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_lhl: Final = Struct(">lhl").pack


def decode_sync_group_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[SyncGroupRequest, int]:
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
        o1_generation_id = int32_at(buf, pos)
        n4 = int16_at(buf, pos + 4)
        pos += 6
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        n6 = int32_at(buf, pos)
        pos += 4
        if n6 < 0:
            raise IndexError
        if n6 * 6 > end - pos:
            raise IndexError
        left -= n6
        check_count(n6, left)
        l7: list[Any] = []
        o1_assignments = l7
        for _ in range(n6):
            n11 = int16_at(buf, pos)
            pos += 2
            if n11 < 0:
                raise IndexError
            e12: i64 = pos + n11
            o10_member_id = text_at(buf, pos, e12)
            pos = e12
            n13 = int32_at(buf, pos)
            pos += 4
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            if e14 > end:
                raise IndexError
            o10_assignment = bytes(buf[pos:e14])
            pos = e14
            v9 = SyncGroupRequestAssignment(member_id=o10_member_id, assignment=o10_assignment)
            l7.append(v9)
        message = SyncGroupRequest(
            group_id=o1_group_id, generation_id=o1_generation_id, member_id=o1_member_id, assignments=o1_assignments
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(SyncGroupRequest, version, data, offset, most)


def decode_sync_group_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[SyncGroupRequest, int]:
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
        o1_generation_id = int32_at(buf, pos)
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
            o1_group_instance_id = None
        else:
            e7: i64 = pos + n6
            o1_group_instance_id = text_at(buf, pos, e7)
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
        o1_assignments = l9
        for _ in range(n8):
            n13 = int16_at(buf, pos)
            pos += 2
            if n13 < 0:
                raise IndexError
            e14: i64 = pos + n13
            o12_member_id = text_at(buf, pos, e14)
            pos = e14
            n15 = int32_at(buf, pos)
            pos += 4
            if n15 < 0:
                raise IndexError
            e16: i64 = pos + n15
            if e16 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e16])
            pos = e16
            v11 = SyncGroupRequestAssignment(member_id=o12_member_id, assignment=o12_assignment)
            l9.append(v11)
        message = SyncGroupRequest(
            group_id=o1_group_id,
            generation_id=o1_generation_id,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            assignments=o1_assignments,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(SyncGroupRequest, version, data, offset, most)


def decode_sync_group_request_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[SyncGroupRequest, int]:
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
        o1_generation_id = int32_at(buf, pos)
        n4: i64 = buf[pos + 4]
        pos += 5
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
            n8, pos = long_length(buf, pos - 1)
        if n8 == 0:
            raise IndexError
        n8 -= 1
        if n8 * 3 > end - pos:
            raise IndexError
        left -= n8
        check_count(n8, left)
        l9: list[Any] = []
        o1_assignments = l9
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
                n15, pos = long_length(buf, pos - 1)
            if n15 == 0:
                raise IndexError
            e16: i64 = pos + n15 - 1
            if e16 > end:
                raise IndexError
            o12_assignment = bytes(buf[pos:e16])
            pos = e16
            v11 = o12 = SyncGroupRequestAssignment(member_id=o12_member_id, assignment=o12_assignment)
            if buf[pos]:
                o12.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o12.unknown_tagged_fields)
                check_count(len(o12.unknown_tagged_fields), left)
            else:
                pos += 1
            l9.append(v11)
        message = o1 = SyncGroupRequest(
            group_id=o1_group_id,
            generation_id=o1_generation_id,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            assignments=o1_assignments,
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
    return decoded_again(SyncGroupRequest, version, data, offset, most)


def decode_sync_group_request_5(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[SyncGroupRequest, int]:
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
        o1_generation_id = int32_at(buf, pos)
        n4: i64 = buf[pos + 4]
        pos += 5
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
            o1_protocol_type = None
        else:
            e9: i64 = pos + n8 - 1
            o1_protocol_type = text_at(buf, pos, e9)
            pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_string(buf, pos - 1)
        if n10 == 0:
            o1_protocol_name = None
        else:
            e11: i64 = pos + n10 - 1
            o1_protocol_name = text_at(buf, pos, e11)
            pos = e11
        n12: i64 = buf[pos]
        pos += 1
        if n12 > 127:
            n12, pos = long_length(buf, pos - 1)
        if n12 == 0:
            raise IndexError
        n12 -= 1
        if n12 * 3 > end - pos:
            raise IndexError
        left -= n12
        check_count(n12, left)
        l13: list[Any] = []
        o1_assignments = l13
        for _ in range(n12):
            n17: i64 = buf[pos]
            pos += 1
            if n17 > 127:
                n17, pos = long_string(buf, pos - 1)
            if n17 == 0:
                raise IndexError
            e18: i64 = pos + n17 - 1
            o16_member_id = text_at(buf, pos, e18)
            pos = e18
            n19: i64 = buf[pos]
            pos += 1
            if n19 > 127:
                n19, pos = long_length(buf, pos - 1)
            if n19 == 0:
                raise IndexError
            e20: i64 = pos + n19 - 1
            if e20 > end:
                raise IndexError
            o16_assignment = bytes(buf[pos:e20])
            pos = e20
            v15 = o16 = SyncGroupRequestAssignment(member_id=o16_member_id, assignment=o16_assignment)
            if buf[pos]:
                o16.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o16.unknown_tagged_fields)
                check_count(len(o16.unknown_tagged_fields), left)
            else:
                pos += 1
            l13.append(v15)
        message = o1 = SyncGroupRequest(
            group_id=o1_group_id,
            generation_id=o1_generation_id,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            protocol_type=o1_protocol_type,
            protocol_name=o1_protocol_name,
            assignments=o1_assignments,
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
    return decoded_again(SyncGroupRequest, version, data, offset, most)


def encode_sync_group_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: SyncGroupResponse = message
        b1 = m.assignment
        n2: i64 = len(b1)
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_hl(m.error_code, n2), b1)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(SyncGroupResponse, version, message, error) from None


def encode_sync_group_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: SyncGroupResponse = message
        b1 = m.assignment
        n2: i64 = len(b1)
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_lhl(m.throttle_time_ms, m.error_code, n2), b1)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(SyncGroupResponse, version, message, error) from None


def encode_sync_group_response_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: SyncGroupResponse = message
        b1 = m.assignment
        n2: i64 = len(b1) + 1
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields),
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(SyncGroupResponse, version, message, error) from None


def encode_sync_group_response_5(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: SyncGroupResponse = message
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
        b7 = m.assignment
        n8: i64 = len(b7) + 1
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            BYTE[n8] if n8 < 128 else encode_uvarint(n8),
            b7,
            BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields),
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(SyncGroupResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "SyncGroupRequest": {
        0: decode_sync_group_request_0,
        3: decode_sync_group_request_3,
        4: decode_sync_group_request_4,
        5: decode_sync_group_request_5,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "SyncGroupResponse": {
        0: encode_sync_group_response_0,
        1: encode_sync_group_response_1,
        4: encode_sync_group_response_4,
        5: encode_sync_group_response_5,
    },
}
