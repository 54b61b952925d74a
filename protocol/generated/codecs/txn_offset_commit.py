"""Codecs of `messages.txn_offset_commit`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack


def _read_txn_offset_commit_request_partition_0(r: Reader) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=r.int32(), committed_offset=r.int64(), committed_metadata=r.string_or_null()
    )


def _read_txn_offset_commit_request_topic_0(r: Reader) -> TxnOffsetCommitRequestTopic:
    return TxnOffsetCommitRequestTopic(
        name=r.string(), partitions=[_read_txn_offset_commit_request_partition_0(r) for _ in range(r.count(14))]
    )


def _read_txn_offset_commit_request_0(r: Reader) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=r.string(),
        group_id=r.string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        topics=[_read_txn_offset_commit_request_topic_0(r) for _ in range(r.count(6))],
    )


def _read_txn_offset_commit_request_partition_2(r: Reader) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=r.int32(),
        committed_offset=r.int64(),
        committed_leader_epoch=r.int32(),
        committed_metadata=r.string_or_null(),
    )


def _read_txn_offset_commit_request_topic_2(r: Reader) -> TxnOffsetCommitRequestTopic:
    return TxnOffsetCommitRequestTopic(
        name=r.string(), partitions=[_read_txn_offset_commit_request_partition_2(r) for _ in range(r.count(18))]
    )


def _read_txn_offset_commit_request_2(r: Reader) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=r.string(),
        group_id=r.string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        topics=[_read_txn_offset_commit_request_topic_2(r) for _ in range(r.count(6))],
    )


def _read_txn_offset_commit_request_partition_3(r: Reader) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=r.int32(),
        committed_offset=r.int64(),
        committed_leader_epoch=r.int32(),
        committed_metadata=r.compact_string_or_null(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_txn_offset_commit_request_topic_3(r: Reader) -> TxnOffsetCommitRequestTopic:
    return TxnOffsetCommitRequestTopic(
        name=r.compact_string(),
        partitions=[_read_txn_offset_commit_request_partition_3(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_txn_offset_commit_request_3(r: Reader) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=r.compact_string(),
        group_id=r.compact_string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        topics=[_read_txn_offset_commit_request_topic_3(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_txn_offset_commit_request_topic_6(r: Reader) -> TxnOffsetCommitRequestTopic:
    return TxnOffsetCommitRequestTopic(
        topic_id=r.uuid(),
        partitions=[_read_txn_offset_commit_request_partition_3(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_txn_offset_commit_request_6(r: Reader) -> TxnOffsetCommitRequest:
    return TxnOffsetCommitRequest(
        transactional_id=r.compact_string(),
        group_id=r.compact_string(),
        producer_id=r.int64(),
        producer_epoch=r.int16(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        topics=[_read_txn_offset_commit_request_topic_6(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_txn_offset_commit_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TxnOffsetCommitRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 6:
            message = _read_txn_offset_commit_request_6(reader)
        elif version >= 3:
            message = _read_txn_offset_commit_request_3(reader)
        elif version >= 2:
            message = _read_txn_offset_commit_request_2(reader)
        else:
            message = _read_txn_offset_commit_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(TxnOffsetCommitRequest, version, buf, offset, most)


def _write_txn_offset_commit_response_partition_0(w: Writer, m: TxnOffsetCommitResponsePartition) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_txn_offset_commit_response_topic_0(w: Writer, m: TxnOffsetCommitResponseTopic) -> None:
    w.string(m.name)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_txn_offset_commit_response_partition_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_txn_offset_commit_response_0(w: Writer, m: TxnOffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.topics))
    for each in m.topics:
        _write_txn_offset_commit_response_topic_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_txn_offset_commit_response_partition_3(w: Writer, m: TxnOffsetCommitResponsePartition) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    w.tags((), m.unknown_tagged_fields)


def _write_txn_offset_commit_response_topic_3(w: Writer, m: TxnOffsetCommitResponseTopic) -> None:
    w.compact_string(m.name)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_txn_offset_commit_response_partition_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_txn_offset_commit_response_3(w: Writer, m: TxnOffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.compact(len(m.topics))
    for each in m.topics:
        _write_txn_offset_commit_response_topic_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_txn_offset_commit_response_topic_6(w: Writer, m: TxnOffsetCommitResponseTopic) -> None:
    w.uuid(m.topic_id)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_txn_offset_commit_response_partition_3(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_txn_offset_commit_response_6(w: Writer, m: TxnOffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.compact(len(m.topics))
    for each in m.topics:
        _write_txn_offset_commit_response_topic_6(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_txn_offset_commit_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 6:
            _write_txn_offset_commit_response_6(writer, message)
        elif version >= 3:
            _write_txn_offset_commit_response_3(writer, message)
        else:
            _write_txn_offset_commit_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(TxnOffsetCommitResponse, version, message)


def encode_txn_offset_commit_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_txn_offset_commit_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "TxnOffsetCommitRequest": decode_txn_offset_commit_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "TxnOffsetCommitResponse": encode_txn_offset_commit_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "TxnOffsetCommitResponse": encode_txn_offset_commit_response_parts,
}
