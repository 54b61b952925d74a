"""Codecs of `messages.end_txn`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.end_txn import EndTxnRequest, EndTxnResponse
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_lh: Final = Struct(">lh").pack
_pack_lhqh: Final = Struct(">lhqh").pack


def _read_end_txn_request_0(r: Reader) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=r.string(), producer_id=r.int64(), producer_epoch=r.int16(), committed=r.boolean()
    )


def _read_end_txn_request_3(r: Reader) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=r.compact_string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        committed=r.boolean(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_end_txn_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[EndTxnRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 3:
            message = _read_end_txn_request_3(reader)
        else:
            message = _read_end_txn_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(EndTxnRequest, version, buf, offset, most)


def _write_end_txn_response_0(w: Writer, m: EndTxnResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_end_txn_response_3(w: Writer, m: EndTxnResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.tags((), m.unknown_tagged_fields)


def _write_end_txn_response_5(w: Writer, m: EndTxnResponse) -> None:
    w.fixed(_pack_lhqh(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch))
    w.tags((), m.unknown_tagged_fields)


def encode_end_txn_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 5:
            _write_end_txn_response_5(writer, message)
        elif version >= 3:
            _write_end_txn_response_3(writer, message)
        else:
            _write_end_txn_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(EndTxnResponse, version, message)


def encode_end_txn_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_end_txn_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "EndTxnRequest": decode_end_txn_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "EndTxnResponse": encode_end_txn_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "EndTxnResponse": encode_end_txn_response_parts,
}
