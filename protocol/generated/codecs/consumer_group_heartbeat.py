"""Codecs of `messages.consumer_group_heartbeat`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
    TopicPartitions,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_lh: Final = Struct(">lh").pack
_pack_ll: Final = Struct(">ll").pack


def _read_subscribed_topic_names_or_null_0(r: Reader) -> list[str] | None:
    count = r.compact_count_or_null(1)
    return None if count < 0 else [r.compact_string() for _ in range(count)]


def _read_topic_partitions_0(r: Reader) -> TopicPartitions:
    return TopicPartitions(
        topic_id=r.uuid(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_topic_partitions_or_null_0(r: Reader) -> list[TopicPartitions] | None:
    count = r.compact_count_or_null(18)
    return None if count < 0 else [_read_topic_partitions_0(r) for _ in range(count)]


def _read_consumer_group_heartbeat_request_0(r: Reader) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id=r.compact_string(),
        member_id=r.compact_string(),
        member_epoch=r.int32(),
        instance_id=r.compact_string_or_null(),
        rack_id=r.compact_string_or_null(),
        rebalance_timeout_ms=r.int32(),
        subscribed_topic_names=_read_subscribed_topic_names_or_null_0(r),
        server_assignor=r.compact_string_or_null(),
        topic_partitions=_read_topic_partitions_or_null_0(r),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_consumer_group_heartbeat_request_1(r: Reader) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id=r.compact_string(),
        member_id=r.compact_string(),
        member_epoch=r.int32(),
        instance_id=r.compact_string_or_null(),
        rack_id=r.compact_string_or_null(),
        rebalance_timeout_ms=r.int32(),
        subscribed_topic_names=_read_subscribed_topic_names_or_null_0(r),
        subscribed_topic_regex=r.compact_string_or_null(),
        server_assignor=r.compact_string_or_null(),
        topic_partitions=_read_topic_partitions_or_null_0(r),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_consumer_group_heartbeat_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 1:
            message = _read_consumer_group_heartbeat_request_1(reader)
        else:
            message = _read_consumer_group_heartbeat_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupHeartbeatRequest, version, buf, offset, most)


def _write_response_topic_partitions_0(w: Writer, m: ResponseTopicPartitions) -> None:
    w.uuid(m.topic_id)
    w.compact_numbers("l", m.partitions)
    w.tags((), m.unknown_tagged_fields)


def _write_assignment_0(w: Writer, m: Assignment) -> None:
    w.compact(len(m.topic_partitions))
    for each in m.topic_partitions:
        _write_response_topic_partitions_0(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_consumer_group_heartbeat_response_0(w: Writer, m: ConsumerGroupHeartbeatResponse) -> None:
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.compact_string_or_null(m.member_id)
    w.fixed(_pack_ll(m.member_epoch, m.heartbeat_interval_ms))
    if m.assignment is None:
        w.fixed(b"\xff")
    else:
        w.fixed(b"\1")
        _write_assignment_0(w, m.assignment)
    w.tags((), m.unknown_tagged_fields)


def encode_consumer_group_heartbeat_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_heartbeat_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupHeartbeatResponse, version, message)


def encode_consumer_group_heartbeat_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_heartbeat_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ConsumerGroupHeartbeatRequest": decode_consumer_group_heartbeat_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ConsumerGroupHeartbeatResponse": encode_consumer_group_heartbeat_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ConsumerGroupHeartbeatResponse": encode_consumer_group_heartbeat_response_parts,
}
