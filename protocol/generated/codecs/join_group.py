"""Codecs of `messages.join_group`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_o: Final = Struct(">?").pack
_pack_hl: Final = Struct(">hl").pack
_pack_lhl: Final = Struct(">lhl").pack


def _read_join_group_request_protocol_0(r: Reader) -> JoinGroupRequestProtocol:
    return JoinGroupRequestProtocol(name=r.string(), metadata=r.byte_string())


def _read_join_group_request_0(r: Reader) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=r.string(),
        session_timeout_ms=r.int32(),
        member_id=r.string(),
        protocol_type=r.string(),
        protocols=[_read_join_group_request_protocol_0(r) for _ in range(r.count(6))],
    )


def _read_join_group_request_1(r: Reader) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=r.string(),
        session_timeout_ms=r.int32(),
        rebalance_timeout_ms=r.int32(),
        member_id=r.string(),
        protocol_type=r.string(),
        protocols=[_read_join_group_request_protocol_0(r) for _ in range(r.count(6))],
    )


def _read_join_group_request_5(r: Reader) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=r.string(),
        session_timeout_ms=r.int32(),
        rebalance_timeout_ms=r.int32(),
        member_id=r.string(),
        group_instance_id=r.string_or_null(),
        protocol_type=r.string(),
        protocols=[_read_join_group_request_protocol_0(r) for _ in range(r.count(6))],
    )


def _read_join_group_request_protocol_6(r: Reader) -> JoinGroupRequestProtocol:
    return JoinGroupRequestProtocol(
        name=r.compact_string(), metadata=r.compact_byte_string(), unknown_tagged_fields=r.unknown_tags()
    )


def _read_join_group_request_6(r: Reader) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=r.compact_string(),
        session_timeout_ms=r.int32(),
        rebalance_timeout_ms=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        protocol_type=r.compact_string(),
        protocols=[_read_join_group_request_protocol_6(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_join_group_request_8(r: Reader) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=r.compact_string(),
        session_timeout_ms=r.int32(),
        rebalance_timeout_ms=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        protocol_type=r.compact_string(),
        protocols=[_read_join_group_request_protocol_6(r) for _ in range(r.compact_count(3))],
        reason=r.compact_string_or_null(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_join_group_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[JoinGroupRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 8:
            message = _read_join_group_request_8(reader)
        elif version >= 6:
            message = _read_join_group_request_6(reader)
        elif version >= 5:
            message = _read_join_group_request_5(reader)
        elif version >= 1:
            message = _read_join_group_request_1(reader)
        else:
            message = _read_join_group_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(JoinGroupRequest, version, buf, offset, most)


def _write_join_group_response_member_0(w: Writer, m: JoinGroupResponseMember) -> None:
    w.string(m.member_id)
    w.byte_string(m.metadata)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_join_group_response_0(w: Writer, m: JoinGroupResponse) -> None:
    if m.skip_assignment != False:
        w.refuse()
    w.fixed(_pack_hl(m.error_code, m.generation_id))
    w.string(m.protocol_name)
    w.string(m.leader)
    w.string(m.member_id)
    w.count(len(m.members))
    for each in m.members:
        _write_join_group_response_member_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_join_group_response_2(w: Writer, m: JoinGroupResponse) -> None:
    if m.skip_assignment != False:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id))
    w.string(m.protocol_name)
    w.string(m.leader)
    w.string(m.member_id)
    w.count(len(m.members))
    for each in m.members:
        _write_join_group_response_member_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_join_group_response_member_5(w: Writer, m: JoinGroupResponseMember) -> None:
    w.string(m.member_id)
    w.string_or_null(m.group_instance_id)
    w.byte_string(m.metadata)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_join_group_response_5(w: Writer, m: JoinGroupResponse) -> None:
    if m.skip_assignment != False:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id))
    w.string(m.protocol_name)
    w.string(m.leader)
    w.string(m.member_id)
    w.count(len(m.members))
    for each in m.members:
        _write_join_group_response_member_5(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_join_group_response_member_6(w: Writer, m: JoinGroupResponseMember) -> None:
    w.compact_string(m.member_id)
    w.compact_string_or_null(m.group_instance_id)
    w.compact_byte_string(m.metadata)
    w.tags((), m.unknown_tagged_fields)


def _write_join_group_response_6(w: Writer, m: JoinGroupResponse) -> None:
    if m.skip_assignment != False:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id))
    w.compact_string(m.protocol_name)
    w.compact_string(m.leader)
    w.compact_string(m.member_id)
    w.compact(len(m.members))
    for each in m.members:
        _write_join_group_response_member_6(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_join_group_response_7(w: Writer, m: JoinGroupResponse) -> None:
    if m.skip_assignment != False:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id))
    w.compact_string_or_null(m.protocol_type)
    w.compact_string_or_null(m.protocol_name)
    w.compact_string(m.leader)
    w.compact_string(m.member_id)
    w.compact(len(m.members))
    for each in m.members:
        _write_join_group_response_member_6(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_join_group_response_9(w: Writer, m: JoinGroupResponse) -> None:
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.generation_id))
    w.compact_string_or_null(m.protocol_type)
    w.compact_string_or_null(m.protocol_name)
    w.compact_string(m.leader)
    w.fixed(_pack_o(m.skip_assignment))
    w.compact_string(m.member_id)
    w.compact(len(m.members))
    for each in m.members:
        _write_join_group_response_member_6(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_join_group_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 9:
            _write_join_group_response_9(writer, message)
        elif version >= 7:
            _write_join_group_response_7(writer, message)
        elif version >= 6:
            _write_join_group_response_6(writer, message)
        elif version >= 5:
            _write_join_group_response_5(writer, message)
        elif version >= 2:
            _write_join_group_response_2(writer, message)
        else:
            _write_join_group_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(JoinGroupResponse, version, message)


def encode_join_group_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_join_group_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "JoinGroupRequest": decode_join_group_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "JoinGroupResponse": encode_join_group_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "JoinGroupResponse": encode_join_group_response_parts,
}
