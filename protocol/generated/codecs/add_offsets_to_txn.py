# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.add_offsets_to_txn`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import check_count, explained, int16_at, int64_at, long_string, refuse, text_at
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, read_unknown_fields

pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack


def decode_add_offsets_to_txn_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddOffsetsToTxnRequest, int]:
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
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        n4 = int16_at(buf, pos + 10)
        pos += 12
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        message = AddOffsetsToTxnRequest(
            transactional_id=o1_transactional_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            group_id=o1_group_id,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(AddOffsetsToTxnRequest, version, data, offset, most)


def decode_add_offsets_to_txn_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddOffsetsToTxnRequest, int]:
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
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        n4: i64 = buf[pos + 10]
        pos += 11
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        message = o1 = AddOffsetsToTxnRequest(
            transactional_id=o1_transactional_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            group_id=o1_group_id,
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
    return decoded_again(AddOffsetsToTxnRequest, version, data, offset, most)


def encode_add_offsets_to_txn_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: AddOffsetsToTxnResponse = message
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_lh(m.throttle_time_ms, m.error_code))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(AddOffsetsToTxnResponse, version, message, error) from None


def encode_add_offsets_to_txn_response_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: AddOffsetsToTxnResponse = message
        out.append(
            pack_lhB(m.throttle_time_ms, m.error_code, 0)
            if not m.unknown_tagged_fields
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_tagged_section((), m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(AddOffsetsToTxnResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "AddOffsetsToTxnRequest": {0: decode_add_offsets_to_txn_request_0, 3: decode_add_offsets_to_txn_request_3},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "AddOffsetsToTxnResponse": {0: encode_add_offsets_to_txn_response_0, 3: encode_add_offsets_to_txn_response_3},
}
