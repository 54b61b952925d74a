"""Codecs of `stored.transaction_log`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_h: Final = Struct(">h").pack
_pack_q: Final = Struct(">q").pack
_pack_qhlb: Final = Struct(">qhlb").pack
_pack_qq: Final = Struct(">qq").pack


def _read_transaction_log_key_0(r: Reader) -> TransactionLogKey:
    return TransactionLogKey(transactional_id=r.string())


def decode_transaction_log_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TransactionLogKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_transaction_log_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(TransactionLogKey, version, buf, offset, most)


def _read_partitions_schema_0(r: Reader) -> PartitionsSchema:
    return PartitionsSchema(topic=r.string(), partition_ids=[r.int32() for _ in range(r.count(4))])


def _read_transaction_partitions_or_null_0(r: Reader) -> list[PartitionsSchema] | None:
    count = r.count_or_null(6)
    return None if count < 0 else [_read_partitions_schema_0(r) for _ in range(count)]


def _read_transaction_log_value_0(r: Reader) -> TransactionLogValue:
    return TransactionLogValue(
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        transaction_timeout_ms=r.int32(),
        transaction_status=r.int8(),
        transaction_partitions=_read_transaction_partitions_or_null_0(r),
        transaction_last_update_timestamp_ms=r.int64(),
        transaction_start_timestamp_ms=r.int64(),
    )


def _read_partitions_schema_1(r: Reader) -> PartitionsSchema:
    return PartitionsSchema(
        topic=r.compact_string(),
        partition_ids=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_transaction_partitions_or_null_1(r: Reader) -> list[PartitionsSchema] | None:
    count = r.compact_count_or_null(3)
    return None if count < 0 else [_read_partitions_schema_1(r) for _ in range(count)]


def _read_transaction_log_value_1(r: Reader) -> TransactionLogValue:
    message = TransactionLogValue(
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        transaction_timeout_ms=r.int32(),
        transaction_status=r.int8(),
        transaction_partitions=_read_transaction_partitions_or_null_1(r),
        transaction_last_update_timestamp_ms=r.int64(),
        transaction_start_timestamp_ms=r.int64(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.previous_producer_id = r.int64()
        elif tag == 1:
            message.next_producer_id = r.int64()
        elif tag == 2:
            message.client_transaction_version = r.int16()
        elif tag == 3:
            message.next_producer_epoch = r.int16()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def decode_transaction_log_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TransactionLogValue, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 1:
            message = _read_transaction_log_value_1(reader)
        else:
            message = _read_transaction_log_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(TransactionLogValue, version, buf, offset, most)


def _write_transaction_log_key_0(w: Writer, m: TransactionLogKey) -> None:
    w.string(m.transactional_id)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_transaction_log_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_transaction_log_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(TransactionLogKey, version, message)


def encode_transaction_log_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_transaction_log_key_parts(version, message))


def _write_partitions_schema_0(w: Writer, m: PartitionsSchema) -> None:
    w.string(m.topic)
    w.numbers("l", m.partition_ids)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_transaction_log_value_0(w: Writer, m: TransactionLogValue) -> None:
    if m.previous_producer_id != -1:
        w.refuse()
    if m.next_producer_id != -1:
        w.refuse()
    if m.next_producer_epoch != -1:
        w.refuse()
    if m.client_transaction_version != 0:
        w.refuse()
    w.fixed(_pack_qhlb(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status))
    if m.transaction_partitions is None:
        w.count(-1)
    else:
        w.count(len(m.transaction_partitions))
        for each in m.transaction_partitions:
            _write_partitions_schema_0(w, each)
    w.fixed(_pack_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partitions_schema_1(w: Writer, m: PartitionsSchema) -> None:
    w.compact_string(m.topic)
    w.compact_numbers("l", m.partition_ids)
    w.tags((), m.unknown_tagged_fields)


def _previous_producer_id_of_transaction_log_value_1(m: TransactionLogValue) -> bytes:
    w = Writer()
    w.fixed(_pack_q(m.previous_producer_id))
    return w.whole()


def _next_producer_id_of_transaction_log_value_1(m: TransactionLogValue) -> bytes:
    w = Writer()
    w.fixed(_pack_q(m.next_producer_id))
    return w.whole()


def _client_transaction_version_of_transaction_log_value_1(m: TransactionLogValue) -> bytes:
    w = Writer()
    w.fixed(_pack_h(m.client_transaction_version))
    return w.whole()


def _next_producer_epoch_of_transaction_log_value_1(m: TransactionLogValue) -> bytes:
    w = Writer()
    w.fixed(_pack_h(m.next_producer_epoch))
    return w.whole()


def _write_transaction_log_value_1(w: Writer, m: TransactionLogValue) -> None:
    w.fixed(_pack_qhlb(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status))
    if m.transaction_partitions is None:
        w.compact(-1)
    else:
        w.compact(len(m.transaction_partitions))
        for each in m.transaction_partitions:
            _write_partitions_schema_1(w, each)
    w.fixed(_pack_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.previous_producer_id != -1:
        known = (*known, (0, _previous_producer_id_of_transaction_log_value_1(m)))
    if m.next_producer_id != -1:
        known = (*known, (1, _next_producer_id_of_transaction_log_value_1(m)))
    if m.client_transaction_version != 0:
        known = (*known, (2, _client_transaction_version_of_transaction_log_value_1(m)))
    if m.next_producer_epoch != -1:
        known = (*known, (3, _next_producer_epoch_of_transaction_log_value_1(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_transaction_log_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 1:
            _write_transaction_log_value_1(writer, message)
        else:
            _write_transaction_log_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(TransactionLogValue, version, message)


def encode_transaction_log_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_transaction_log_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "TransactionLogKey": decode_transaction_log_key,
    "TransactionLogValue": decode_transaction_log_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "TransactionLogKey": encode_transaction_log_key,
    "TransactionLogValue": encode_transaction_log_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "TransactionLogKey": encode_transaction_log_key_parts,
    "TransactionLogValue": encode_transaction_log_value_parts,
}
