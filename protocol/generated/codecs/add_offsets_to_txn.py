"""Codecs of `messages.add_offsets_to_txn`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_lh: Final = Struct(">lh").pack


def _read_add_offsets_to_txn_request_0(r: Reader) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=r.string(), producer_id=r.int64(), producer_epoch=r.int16(), group_id=r.string()
    )


def _read_add_offsets_to_txn_request_3(r: Reader) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=r.compact_string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        group_id=r.compact_string(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_add_offsets_to_txn_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddOffsetsToTxnRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 3:
            message = _read_add_offsets_to_txn_request_3(reader)
        else:
            message = _read_add_offsets_to_txn_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(AddOffsetsToTxnRequest, version, buf, offset, most)


def _write_add_offsets_to_txn_response_0(w: Writer, m: AddOffsetsToTxnResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_add_offsets_to_txn_response_3(w: Writer, m: AddOffsetsToTxnResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.tags((), m.unknown_tagged_fields)


def encode_add_offsets_to_txn_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 3:
            _write_add_offsets_to_txn_response_3(writer, message)
        else:
            _write_add_offsets_to_txn_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(AddOffsetsToTxnResponse, version, message)


def encode_add_offsets_to_txn_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_add_offsets_to_txn_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "AddOffsetsToTxnRequest": decode_add_offsets_to_txn_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "AddOffsetsToTxnResponse": encode_add_offsets_to_txn_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "AddOffsetsToTxnResponse": encode_add_offsets_to_txn_response_parts,
}
