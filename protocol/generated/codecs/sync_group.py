"""Codecs of `messages.sync_group`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_h: Final = Struct(">h").pack
_pack_lh: Final = Struct(">lh").pack


def _read_sync_group_request_assignment_0(r: Reader) -> SyncGroupRequestAssignment:
    return SyncGroupRequestAssignment(member_id=r.string(), assignment=r.byte_string())


def _read_sync_group_request_0(r: Reader) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=r.string(),
        generation_id=r.int32(),
        member_id=r.string(),
        assignments=[_read_sync_group_request_assignment_0(r) for _ in range(r.count(6))],
    )


def _read_sync_group_request_3(r: Reader) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=r.string(),
        generation_id=r.int32(),
        member_id=r.string(),
        group_instance_id=r.string_or_null(),
        assignments=[_read_sync_group_request_assignment_0(r) for _ in range(r.count(6))],
    )


def _read_sync_group_request_assignment_4(r: Reader) -> SyncGroupRequestAssignment:
    return SyncGroupRequestAssignment(
        member_id=r.compact_string(), assignment=r.compact_byte_string(), unknown_tagged_fields=r.unknown_tags()
    )


def _read_sync_group_request_4(r: Reader) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=r.compact_string(),
        generation_id=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        assignments=[_read_sync_group_request_assignment_4(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_sync_group_request_5(r: Reader) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=r.compact_string(),
        generation_id=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        protocol_type=r.compact_string_or_null(),
        protocol_name=r.compact_string_or_null(),
        assignments=[_read_sync_group_request_assignment_4(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_sync_group_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[SyncGroupRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 5:
            message = _read_sync_group_request_5(reader)
        elif version >= 4:
            message = _read_sync_group_request_4(reader)
        elif version >= 3:
            message = _read_sync_group_request_3(reader)
        else:
            message = _read_sync_group_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(SyncGroupRequest, version, buf, offset, most)


def _write_sync_group_response_0(w: Writer, m: SyncGroupResponse) -> None:
    w.fixed(_pack_h(m.error_code))
    w.byte_string(m.assignment)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_sync_group_response_1(w: Writer, m: SyncGroupResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.byte_string(m.assignment)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_sync_group_response_4(w: Writer, m: SyncGroupResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_byte_string(m.assignment)
    w.tags((), m.unknown_tagged_fields)


def _write_sync_group_response_5(w: Writer, m: SyncGroupResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.protocol_type)
    w.compact_string_or_null(m.protocol_name)
    w.compact_byte_string(m.assignment)
    w.tags((), m.unknown_tagged_fields)


def encode_sync_group_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 5:
            _write_sync_group_response_5(writer, message)
        elif version >= 4:
            _write_sync_group_response_4(writer, message)
        elif version >= 1:
            _write_sync_group_response_1(writer, message)
        else:
            _write_sync_group_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(SyncGroupResponse, version, message)


def encode_sync_group_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_sync_group_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "SyncGroupRequest": decode_sync_group_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "SyncGroupResponse": encode_sync_group_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "SyncGroupResponse": encode_sync_group_response_parts,
}
