"""Codecs of `messages.offset_commit`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack


def _read_offset_commit_request_partition_0(r: Reader) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=r.int32(), committed_offset=r.int64(), committed_metadata=r.string_or_null()
    )


def _read_offset_commit_request_topic_0(r: Reader) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name=r.string(), partitions=[_read_offset_commit_request_partition_0(r) for _ in range(r.count(14))]
    )


def _read_offset_commit_request_0(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(), topics=[_read_offset_commit_request_topic_0(r) for _ in range(r.count(6))]
    )


def _read_offset_commit_request_partition_1(r: Reader) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=r.int32(),
        committed_offset=r.int64(),
        commit_timestamp=r.int64(),
        committed_metadata=r.string_or_null(),
    )


def _read_offset_commit_request_topic_1(r: Reader) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name=r.string(), partitions=[_read_offset_commit_request_partition_1(r) for _ in range(r.count(22))]
    )


def _read_offset_commit_request_1(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.string(),
        topics=[_read_offset_commit_request_topic_1(r) for _ in range(r.count(6))],
    )


def _read_offset_commit_request_2(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.string(),
        retention_time_ms=r.int64(),
        topics=[_read_offset_commit_request_topic_0(r) for _ in range(r.count(6))],
    )


def _read_offset_commit_request_5(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.string(),
        topics=[_read_offset_commit_request_topic_0(r) for _ in range(r.count(6))],
    )


def _read_offset_commit_request_partition_6(r: Reader) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=r.int32(),
        committed_offset=r.int64(),
        committed_leader_epoch=r.int32(),
        committed_metadata=r.string_or_null(),
    )


def _read_offset_commit_request_topic_6(r: Reader) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name=r.string(), partitions=[_read_offset_commit_request_partition_6(r) for _ in range(r.count(18))]
    )


def _read_offset_commit_request_6(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.string(),
        topics=[_read_offset_commit_request_topic_6(r) for _ in range(r.count(6))],
    )


def _read_offset_commit_request_7(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.string(),
        group_instance_id=r.string_or_null(),
        topics=[_read_offset_commit_request_topic_6(r) for _ in range(r.count(6))],
    )


def _read_offset_commit_request_partition_8(r: Reader) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=r.int32(),
        committed_offset=r.int64(),
        committed_leader_epoch=r.int32(),
        committed_metadata=r.compact_string_or_null(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_offset_commit_request_topic_8(r: Reader) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        name=r.compact_string(),
        partitions=[_read_offset_commit_request_partition_8(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_offset_commit_request_8(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.compact_string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        topics=[_read_offset_commit_request_topic_8(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_offset_commit_request_topic_10(r: Reader) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(
        topic_id=r.uuid(),
        partitions=[_read_offset_commit_request_partition_8(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_offset_commit_request_10(r: Reader) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=r.compact_string(),
        generation_id_or_member_epoch=r.int32(),
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        topics=[_read_offset_commit_request_topic_10(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_offset_commit_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 10:
            message = _read_offset_commit_request_10(reader)
        elif version >= 8:
            message = _read_offset_commit_request_8(reader)
        elif version >= 7:
            message = _read_offset_commit_request_7(reader)
        elif version >= 6:
            message = _read_offset_commit_request_6(reader)
        elif version >= 5:
            message = _read_offset_commit_request_5(reader)
        elif version >= 2:
            message = _read_offset_commit_request_2(reader)
        elif version >= 1:
            message = _read_offset_commit_request_1(reader)
        else:
            message = _read_offset_commit_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitRequest, version, buf, offset, most)


def _write_offset_commit_response_partition_0(w: Writer, m: OffsetCommitResponsePartition) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_response_topic_0(w: Writer, m: OffsetCommitResponseTopic) -> None:
    w.string(m.name)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_offset_commit_response_partition_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_response_0(w: Writer, m: OffsetCommitResponse) -> None:
    w.count(len(m.topics))
    for each in m.topics:
        _write_offset_commit_response_topic_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_response_3(w: Writer, m: OffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.topics))
    for each in m.topics:
        _write_offset_commit_response_topic_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_offset_commit_response_partition_8(w: Writer, m: OffsetCommitResponsePartition) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    w.tags((), m.unknown_tagged_fields)


def _write_offset_commit_response_topic_8(w: Writer, m: OffsetCommitResponseTopic) -> None:
    w.compact_string(m.name)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_offset_commit_response_partition_8(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_offset_commit_response_8(w: Writer, m: OffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.compact(len(m.topics))
    for each in m.topics:
        _write_offset_commit_response_topic_8(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_offset_commit_response_topic_10(w: Writer, m: OffsetCommitResponseTopic) -> None:
    w.uuid(m.topic_id)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_offset_commit_response_partition_8(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_offset_commit_response_10(w: Writer, m: OffsetCommitResponse) -> None:
    w.fixed(_pack_l(m.throttle_time_ms))
    w.compact(len(m.topics))
    for each in m.topics:
        _write_offset_commit_response_topic_10(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_offset_commit_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 10:
            _write_offset_commit_response_10(writer, message)
        elif version >= 8:
            _write_offset_commit_response_8(writer, message)
        elif version >= 3:
            _write_offset_commit_response_3(writer, message)
        else:
            _write_offset_commit_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(OffsetCommitResponse, version, message)


def encode_offset_commit_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_offset_commit_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "OffsetCommitRequest": decode_offset_commit_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "OffsetCommitResponse": encode_offset_commit_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "OffsetCommitResponse": encode_offset_commit_response_parts,
}
