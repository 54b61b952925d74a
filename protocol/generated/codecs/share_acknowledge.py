"""Codecs of `messages.share_acknowledge`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack
_pack_ll: Final = Struct(">ll").pack


def _read_acknowledgement_batch_1(r: Reader) -> AcknowledgementBatch:
    return AcknowledgementBatch(
        first_offset=r.int64(),
        last_offset=r.int64(),
        acknowledge_types=[r.int8() for _ in range(r.compact_count(1))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_acknowledge_partition_1(r: Reader) -> AcknowledgePartition:
    return AcknowledgePartition(
        partition_index=r.int32(),
        acknowledgement_batches=[_read_acknowledgement_batch_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_acknowledge_topic_1(r: Reader) -> AcknowledgeTopic:
    return AcknowledgeTopic(
        topic_id=r.uuid(),
        partitions=[_read_acknowledge_partition_1(r) for _ in range(r.compact_count(6))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_share_acknowledge_request_1(r: Reader) -> ShareAcknowledgeRequest:
    return ShareAcknowledgeRequest(
        group_id=r.compact_string_or_null(),
        member_id=r.compact_string_or_null(),
        share_session_epoch=r.int32(),
        topics=[_read_acknowledge_topic_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_share_acknowledge_request_2(r: Reader) -> ShareAcknowledgeRequest:
    return ShareAcknowledgeRequest(
        group_id=r.compact_string_or_null(),
        member_id=r.compact_string_or_null(),
        share_session_epoch=r.int32(),
        is_renew_ack=r.boolean(),
        topics=[_read_acknowledge_topic_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_share_acknowledge_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareAcknowledgeRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 2:
            message = _read_share_acknowledge_request_2(reader)
        else:
            message = _read_share_acknowledge_request_1(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ShareAcknowledgeRequest, version, buf, offset, most)


def _write_leader_id_and_epoch_1(w: Writer, m: LeaderIdAndEpoch) -> None:
    w.fixed(_pack_ll(m.leader_id, m.leader_epoch))
    w.tags((), m.unknown_tagged_fields)


def _write_partition_data_1(w: Writer, m: PartitionData) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    w.compact_string_or_null(m.error_message)
    _write_leader_id_and_epoch_1(w, m.current_leader)
    w.tags((), m.unknown_tagged_fields)


def _write_share_acknowledge_topic_response_1(w: Writer, m: ShareAcknowledgeTopicResponse) -> None:
    w.uuid(m.topic_id)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_1(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_node_endpoint_1(w: Writer, m: NodeEndpoint) -> None:
    w.fixed(_pack_l(m.node_id))
    w.compact_string(m.host)
    w.fixed(_pack_l(m.port))
    w.compact_string_or_null(m.rack)
    w.tags((), m.unknown_tagged_fields)


def _write_share_acknowledge_response_1(w: Writer, m: ShareAcknowledgeResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.compact(len(m.responses))
    for each in m.responses:
        _write_share_acknowledge_topic_response_1(w, each)
    w.compact(len(m.node_endpoints))
    for each_2 in m.node_endpoints:
        _write_node_endpoint_1(w, each_2)
    w.tags((), m.unknown_tagged_fields)


def _write_share_acknowledge_response_2(w: Writer, m: ShareAcknowledgeResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.fixed(_pack_l(m.acquisition_lock_timeout_ms))
    w.compact(len(m.responses))
    for each in m.responses:
        _write_share_acknowledge_topic_response_1(w, each)
    w.compact(len(m.node_endpoints))
    for each_2 in m.node_endpoints:
        _write_node_endpoint_1(w, each_2)
    w.tags((), m.unknown_tagged_fields)


def encode_share_acknowledge_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 2:
            _write_share_acknowledge_response_2(writer, message)
        else:
            _write_share_acknowledge_response_1(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ShareAcknowledgeResponse, version, message)


def encode_share_acknowledge_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_share_acknowledge_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ShareAcknowledgeRequest": decode_share_acknowledge_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ShareAcknowledgeResponse": encode_share_acknowledge_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ShareAcknowledgeResponse": encode_share_acknowledge_response_parts,
}
