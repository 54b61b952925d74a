# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.end_txn`. Generated from the constructs: do not edit.

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
from odradek.protocol.generated.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, read_unknown_fields

pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_lhqh: Final = Struct(">lhqh").pack
pack_lhqhB: Final = Struct(">lhqhB").pack


def decode_end_txn_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[EndTxnRequest, int]:
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
        o1_committed = buf[pos + 10] != 0
        pos += 11
        message = EndTxnRequest(
            transactional_id=o1_transactional_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            committed=o1_committed,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(EndTxnRequest, version, data, offset, most)


def decode_end_txn_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[EndTxnRequest, int]:
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
        o1_committed = buf[pos + 10] != 0
        n4: i64 = buf[pos + 11]
        pos += 12
        message = o1 = EndTxnRequest(
            transactional_id=o1_transactional_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            committed=o1_committed,
        )
        if n4:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(EndTxnRequest, version, data, offset, most)


def encode_end_txn_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: EndTxnResponse = message
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_lh(m.throttle_time_ms, m.error_code))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(EndTxnResponse, version, message, error) from None


def encode_end_txn_response_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: EndTxnResponse = message
        out.append(
            pack_lhB(m.throttle_time_ms, m.error_code, 0)
            if not m.unknown_tagged_fields
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_tagged_section((), m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(EndTxnResponse, version, message, error) from None


def encode_end_txn_response_5(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: EndTxnResponse = message
        out.append(
            pack_lhqhB(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch, 0)
            if not m.unknown_tagged_fields
            else pack_lhqh(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)
            + encode_tagged_section((), m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(EndTxnResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "EndTxnRequest": {0: decode_end_txn_request_0, 3: decode_end_txn_request_3},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "EndTxnResponse": {0: encode_end_txn_response_0, 3: encode_end_txn_response_3, 5: encode_end_txn_response_5},
}
