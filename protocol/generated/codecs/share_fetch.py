"""Codecs of `messages.share_fetch`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.share_fetch import (
    AcknowledgementBatch,
    AcquiredRecords,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_h: Final = Struct(">h").pack
_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack
_pack_ll: Final = Struct(">ll").pack
_pack_qqh: Final = Struct(">qqh").pack


def _read_acknowledgement_batch_1(r: Reader) -> AcknowledgementBatch:
    return AcknowledgementBatch(
        first_offset=r.int64(),
        last_offset=r.int64(),
        acknowledge_types=[r.int8() for _ in range(r.compact_count(1))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_partition_1(r: Reader) -> FetchPartition:
    return FetchPartition(
        partition_index=r.int32(),
        acknowledgement_batches=[_read_acknowledgement_batch_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_topic_1(r: Reader) -> FetchTopic:
    return FetchTopic(
        topic_id=r.uuid(),
        partitions=[_read_fetch_partition_1(r) for _ in range(r.compact_count(6))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_forgotten_topic_1(r: Reader) -> ForgottenTopic:
    return ForgottenTopic(
        topic_id=r.uuid(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_share_fetch_request_1(r: Reader) -> ShareFetchRequest:
    return ShareFetchRequest(
        group_id=r.compact_string_or_null(),
        member_id=r.compact_string_or_null(),
        share_session_epoch=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        max_records=r.int32(),
        batch_size=r.int32(),
        topics=[_read_fetch_topic_1(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_share_fetch_request_2(r: Reader) -> ShareFetchRequest:
    return ShareFetchRequest(
        group_id=r.compact_string_or_null(),
        member_id=r.compact_string_or_null(),
        share_session_epoch=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        max_records=r.int32(),
        batch_size=r.int32(),
        share_acquire_mode=r.int8(),
        is_renew_ack=r.boolean(),
        topics=[_read_fetch_topic_1(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_1(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_share_fetch_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareFetchRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 2:
            message = _read_share_fetch_request_2(reader)
        else:
            message = _read_share_fetch_request_1(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ShareFetchRequest, version, buf, offset, most)


def _write_leader_id_and_epoch_1(w: Writer, m: LeaderIdAndEpoch) -> None:
    w.fixed(_pack_ll(m.leader_id, m.leader_epoch))
    w.tags((), m.unknown_tagged_fields)


def _write_acquired_records_1(w: Writer, m: AcquiredRecords) -> None:
    w.fixed(_pack_qqh(m.first_offset, m.last_offset, m.delivery_count))
    w.tags((), m.unknown_tagged_fields)


def _write_partition_data_1(w: Writer, m: PartitionData) -> None:
    w.fixed(_pack_lh(m.partition_index, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.fixed(_pack_h(m.acknowledge_error_code))
    w.compact_string_or_null(m.acknowledge_error_message)
    _write_leader_id_and_epoch_1(w, m.current_leader)
    w.compact_records(m.records)
    w.compact(len(m.acquired_records))
    for each in m.acquired_records:
        _write_acquired_records_1(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_share_fetchable_topic_response_1(w: Writer, m: ShareFetchableTopicResponse) -> None:
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


def _write_share_fetch_response_1(w: Writer, m: ShareFetchResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.fixed(_pack_l(m.acquisition_lock_timeout_ms))
    w.compact(len(m.responses))
    for each in m.responses:
        _write_share_fetchable_topic_response_1(w, each)
    w.compact(len(m.node_endpoints))
    for each_2 in m.node_endpoints:
        _write_node_endpoint_1(w, each_2)
    w.tags((), m.unknown_tagged_fields)


def encode_share_fetch_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_share_fetch_response_1(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ShareFetchResponse, version, message)


def encode_share_fetch_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_share_fetch_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ShareFetchRequest": decode_share_fetch_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ShareFetchResponse": encode_share_fetch_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ShareFetchResponse": encode_share_fetch_response_parts,
}
