"""Codecs of `messages.add_partitions_to_txn`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack


def _read_add_partitions_to_txn_topic_0(r: Reader) -> AddPartitionsToTxnTopic:
    return AddPartitionsToTxnTopic(name=r.string(), partitions=[r.int32() for _ in range(r.count(4))])


def _read_add_partitions_to_txn_request_0(r: Reader) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=r.string(),
        v3_and_below_producer_id=r.int64(),
        v3_and_below_producer_epoch=r.int16(),
        v3_and_below_topics=[_read_add_partitions_to_txn_topic_0(r) for _ in range(r.count(6))],
    )


def _read_add_partitions_to_txn_topic_3(r: Reader) -> AddPartitionsToTxnTopic:
    return AddPartitionsToTxnTopic(
        name=r.compact_string(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_add_partitions_to_txn_request_3(r: Reader) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=r.compact_string(),
        v3_and_below_producer_id=r.int64(),
        v3_and_below_producer_epoch=r.int16(),
        v3_and_below_topics=[_read_add_partitions_to_txn_topic_3(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_add_partitions_to_txn_transaction_4(r: Reader) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=r.compact_string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        verify_only=r.boolean(),
        topics=[_read_add_partitions_to_txn_topic_3(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_add_partitions_to_txn_request_4(r: Reader) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        transactions=[_read_add_partitions_to_txn_transaction_4(r) for _ in range(r.compact_count(14))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_add_partitions_to_txn_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddPartitionsToTxnRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 4:
            message = _read_add_partitions_to_txn_request_4(reader)
        elif version >= 3:
            message = _read_add_partitions_to_txn_request_3(reader)
        else:
            message = _read_add_partitions_to_txn_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(AddPartitionsToTxnRequest, version, buf, offset, most)


def _write_add_partitions_to_txn_partition_result_0(w: Writer, m: AddPartitionsToTxnPartitionResult) -> None:
    w.fixed(_pack_lh(m.partition_index, m.partition_error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_add_partitions_to_txn_topic_result_0(w: Writer, m: AddPartitionsToTxnTopicResult) -> None:
    w.string(m.name)
    w.count(len(m.results_by_partition))
    for each in m.results_by_partition:
        _write_add_partitions_to_txn_partition_result_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_add_partitions_to_txn_response_0(w: Writer, m: AddPartitionsToTxnResponse) -> None:
    if m.results_by_transaction is None or len(m.results_by_transaction) > 0:
        w.refuse()
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.results_by_topic_v3_and_below))
    for each in m.results_by_topic_v3_and_below:
        _write_add_partitions_to_txn_topic_result_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_add_partitions_to_txn_partition_result_3(w: Writer, m: AddPartitionsToTxnPartitionResult) -> None:
    w.fixed(_pack_lh(m.partition_index, m.partition_error_code))
    w.tags((), m.unknown_tagged_fields)


def _write_add_partitions_to_txn_topic_result_3(w: Writer, m: AddPartitionsToTxnTopicResult) -> None:
    w.compact_string(m.name)
    w.compact(len(m.results_by_partition))
    for each in m.results_by_partition:
        _write_add_partitions_to_txn_partition_result_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_add_partitions_to_txn_response_3(w: Writer, m: AddPartitionsToTxnResponse) -> None:
    if m.results_by_transaction is None or len(m.results_by_transaction) > 0:
        w.refuse()
    w.fixed(_pack_l(m.throttle_time_ms))
    w.compact(len(m.results_by_topic_v3_and_below))
    for each in m.results_by_topic_v3_and_below:
        _write_add_partitions_to_txn_topic_result_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_add_partitions_to_txn_result_4(w: Writer, m: AddPartitionsToTxnResult) -> None:
    w.compact_string(m.transactional_id)
    w.compact(len(m.topic_results))
    for each in m.topic_results:
        _write_add_partitions_to_txn_topic_result_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_add_partitions_to_txn_response_4(w: Writer, m: AddPartitionsToTxnResponse) -> None:
    if m.results_by_topic_v3_and_below is None or len(m.results_by_topic_v3_and_below) > 0:
        w.refuse()
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact(len(m.results_by_transaction))
    for each in m.results_by_transaction:
        _write_add_partitions_to_txn_result_4(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_add_partitions_to_txn_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 4:
            _write_add_partitions_to_txn_response_4(writer, message)
        elif version >= 3:
            _write_add_partitions_to_txn_response_3(writer, message)
        else:
            _write_add_partitions_to_txn_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(AddPartitionsToTxnResponse, version, message)


def encode_add_partitions_to_txn_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_add_partitions_to_txn_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "AddPartitionsToTxnRequest": decode_add_partitions_to_txn_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "AddPartitionsToTxnResponse": encode_add_partitions_to_txn_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "AddPartitionsToTxnResponse": encode_add_partitions_to_txn_response_parts,
}
