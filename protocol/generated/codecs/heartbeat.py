# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.heartbeat`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import check_count, explained, int16_at, int32_at, long_string, refuse, text_at
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, read_unknown_fields

pack_h: Final = Struct(">h").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack


def decode_heartbeat_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[HeartbeatRequest, int]:
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
        message = HeartbeatRequest(group_id=o1_group_id, generation_id=o1_generation_id, member_id=o1_member_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(HeartbeatRequest, version, data, offset, most)


def decode_heartbeat_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[HeartbeatRequest, int]:
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
        message = HeartbeatRequest(
            group_id=o1_group_id,
            generation_id=o1_generation_id,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(HeartbeatRequest, version, data, offset, most)


def decode_heartbeat_request_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[HeartbeatRequest, int]:
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
        message = o1 = HeartbeatRequest(
            group_id=o1_group_id,
            generation_id=o1_generation_id,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
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
    return decoded_again(HeartbeatRequest, version, data, offset, most)


def encode_heartbeat_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: HeartbeatResponse = message
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_h(m.error_code))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(HeartbeatResponse, version, message, error) from None


def encode_heartbeat_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: HeartbeatResponse = message
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_lh(m.throttle_time_ms, m.error_code))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(HeartbeatResponse, version, message, error) from None


def encode_heartbeat_response_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: HeartbeatResponse = message
        out.append(
            pack_lhB(m.throttle_time_ms, m.error_code, 0)
            if not m.unknown_tagged_fields
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_tagged_section((), m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(HeartbeatResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "HeartbeatRequest": {0: decode_heartbeat_request_0, 3: decode_heartbeat_request_3, 4: decode_heartbeat_request_4},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "HeartbeatResponse": {
        0: encode_heartbeat_response_0,
        1: encode_heartbeat_response_1,
        4: encode_heartbeat_response_4,
    },
}
