"""Codecs of `messages.heartbeat`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_h: Final = Struct(">h").pack
_pack_lh: Final = Struct(">lh").pack


def _read_heartbeat_request_0(r: Reader) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=r.string(), generation_id=r.int32(), member_id=r.string())


def _read_heartbeat_request_3(r: Reader) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=r.string(), generation_id=r.int32(), member_id=r.string(), group_instance_id=r.string_or_null()
    )


def _read_heartbeat_request_4(r: Reader) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=r.compact_string(),
        generation_id=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_heartbeat_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[HeartbeatRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 4:
            message = _read_heartbeat_request_4(reader)
        elif version >= 3:
            message = _read_heartbeat_request_3(reader)
        else:
            message = _read_heartbeat_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(HeartbeatRequest, version, buf, offset, most)


def _write_heartbeat_response_0(w: Writer, m: HeartbeatResponse) -> None:
    w.fixed(_pack_h(m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_heartbeat_response_1(w: Writer, m: HeartbeatResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_heartbeat_response_4(w: Writer, m: HeartbeatResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.tags((), m.unknown_tagged_fields)


def encode_heartbeat_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 4:
            _write_heartbeat_response_4(writer, message)
        elif version >= 1:
            _write_heartbeat_response_1(writer, message)
        else:
            _write_heartbeat_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(HeartbeatResponse, version, message)


def encode_heartbeat_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_heartbeat_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "HeartbeatRequest": decode_heartbeat_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "HeartbeatResponse": encode_heartbeat_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "HeartbeatResponse": encode_heartbeat_response_parts,
}
