"""Codecs of `messages.produce`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lhq: Final = Struct(">lhq").pack
_pack_lhqq: Final = Struct(">lhqq").pack
_pack_lhqqq: Final = Struct(">lhqqq").pack
_pack_ll: Final = Struct(">ll").pack


def _read_partition_produce_data_0(r: Reader) -> PartitionProduceData:
    return PartitionProduceData(index=r.int32(), records=r.records_or_null())


def _read_topic_produce_data_0(r: Reader) -> TopicProduceData:
    return TopicProduceData(
        name=r.string(), partition_data=[_read_partition_produce_data_0(r) for _ in range(r.count(8))]
    )


def _read_produce_request_0(r: Reader) -> ProduceRequest:
    return ProduceRequest(
        acks=r.int16(), timeout_ms=r.int32(), topic_data=[_read_topic_produce_data_0(r) for _ in range(r.count(6))]
    )


def _read_produce_request_3(r: Reader) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=r.string_or_null(),
        acks=r.int16(),
        timeout_ms=r.int32(),
        topic_data=[_read_topic_produce_data_0(r) for _ in range(r.count(6))],
    )


def _read_partition_produce_data_9(r: Reader) -> PartitionProduceData:
    return PartitionProduceData(
        index=r.int32(), records=r.compact_records_or_null(), unknown_tagged_fields=r.unknown_tags()
    )


def _read_topic_produce_data_9(r: Reader) -> TopicProduceData:
    return TopicProduceData(
        name=r.compact_string(),
        partition_data=[_read_partition_produce_data_9(r) for _ in range(r.compact_count(6))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_produce_request_9(r: Reader) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=r.compact_string_or_null(),
        acks=r.int16(),
        timeout_ms=r.int32(),
        topic_data=[_read_topic_produce_data_9(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_topic_produce_data_13(r: Reader) -> TopicProduceData:
    return TopicProduceData(
        topic_id=r.uuid(),
        partition_data=[_read_partition_produce_data_9(r) for _ in range(r.compact_count(6))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_produce_request_13(r: Reader) -> ProduceRequest:
    return ProduceRequest(
        transactional_id=r.compact_string_or_null(),
        acks=r.int16(),
        timeout_ms=r.int32(),
        topic_data=[_read_topic_produce_data_13(r) for _ in range(r.compact_count(18))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_produce_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ProduceRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 13:
            message = _read_produce_request_13(reader)
        elif version >= 9:
            message = _read_produce_request_9(reader)
        elif version >= 3:
            message = _read_produce_request_3(reader)
        else:
            message = _read_produce_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ProduceRequest, version, buf, offset, most)


def _write_partition_produce_response_0(w: Writer, m: PartitionProduceResponse) -> None:
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    w.fixed(_pack_lhq(m.index, m.error_code, m.base_offset))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_topic_produce_response_0(w: Writer, m: TopicProduceResponse) -> None:
    w.string(m.name)
    w.count(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_produce_response_0(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_produce_response_1(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_0(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_produce_response_2(w: Writer, m: PartitionProduceResponse) -> None:
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    w.fixed(_pack_lhqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_topic_produce_response_2(w: Writer, m: TopicProduceResponse) -> None:
    w.string(m.name)
    w.count(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_2(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_produce_response_2(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_2(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_produce_response_5(w: Writer, m: PartitionProduceResponse) -> None:
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    w.fixed(_pack_lhqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_topic_produce_response_5(w: Writer, m: TopicProduceResponse) -> None:
    w.string(m.name)
    w.count(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_5(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_produce_response_5(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_5(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_batch_index_and_error_message_8(w: Writer, m: BatchIndexAndErrorMessage) -> None:
    w.fixed(_pack_l(m.batch_index))
    w.string_or_null(m.batch_index_error_message)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_produce_response_8(w: Writer, m: PartitionProduceResponse) -> None:
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    w.fixed(_pack_lhqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset))
    w.count(len(m.record_errors))
    for each in m.record_errors:
        _write_batch_index_and_error_message_8(w, each)
    w.string_or_null(m.error_message)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_topic_produce_response_8(w: Writer, m: TopicProduceResponse) -> None:
    w.string(m.name)
    w.count(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_8(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_produce_response_8(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_8(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_batch_index_and_error_message_9(w: Writer, m: BatchIndexAndErrorMessage) -> None:
    w.fixed(_pack_l(m.batch_index))
    w.compact_string_or_null(m.batch_index_error_message)
    w.tags((), m.unknown_tagged_fields)


def _write_partition_produce_response_9(w: Writer, m: PartitionProduceResponse) -> None:
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    w.fixed(_pack_lhqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset))
    w.compact(len(m.record_errors))
    for each in m.record_errors:
        _write_batch_index_and_error_message_9(w, each)
    w.compact_string_or_null(m.error_message)
    w.tags((), m.unknown_tagged_fields)


def _write_topic_produce_response_9(w: Writer, m: TopicProduceResponse) -> None:
    w.compact_string(m.name)
    w.compact(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_9(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_produce_response_9(w: Writer, m: ProduceResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.compact(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_9(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    w.tags((), m.unknown_tagged_fields)


def _write_leader_id_and_epoch_10(w: Writer, m: LeaderIdAndEpoch) -> None:
    w.fixed(_pack_ll(m.leader_id, m.leader_epoch))
    w.tags((), m.unknown_tagged_fields)


def _current_leader_of_partition_produce_response_10(m: PartitionProduceResponse) -> bytes:
    w = Writer()
    _write_leader_id_and_epoch_10(w, m.current_leader)
    return w.whole()


def _write_partition_produce_response_10(w: Writer, m: PartitionProduceResponse) -> None:
    w.fixed(_pack_lhqqq(m.index, m.error_code, m.base_offset, m.log_append_time_ms, m.log_start_offset))
    w.compact(len(m.record_errors))
    for each in m.record_errors:
        _write_batch_index_and_error_message_9(w, each)
    w.compact_string_or_null(m.error_message)
    known: tuple[tuple[int, bytes], ...] = ()
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        known = (*known, (0, _current_leader_of_partition_produce_response_10(m)))
    w.tags(known, m.unknown_tagged_fields)


def _write_topic_produce_response_10(w: Writer, m: TopicProduceResponse) -> None:
    w.compact_string(m.name)
    w.compact(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_10(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_node_endpoint_10(w: Writer, m: NodeEndpoint) -> None:
    w.fixed(_pack_l(m.node_id))
    w.compact_string(m.host)
    w.fixed(_pack_l(m.port))
    w.compact_string_or_null(m.rack)
    w.tags((), m.unknown_tagged_fields)


def _node_endpoints_of_produce_response_10(m: ProduceResponse) -> bytes:
    w = Writer()
    w.compact(len(m.node_endpoints))
    for each in m.node_endpoints:
        _write_node_endpoint_10(w, each)
    return w.whole()


def _write_produce_response_10(w: Writer, m: ProduceResponse) -> None:
    w.compact(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_10(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        known = (*known, (0, _node_endpoints_of_produce_response_10(m)))
    w.tags(known, m.unknown_tagged_fields)


def _write_topic_produce_response_13(w: Writer, m: TopicProduceResponse) -> None:
    w.uuid(m.topic_id)
    w.compact(len(m.partition_responses))
    for each in m.partition_responses:
        _write_partition_produce_response_10(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_produce_response_13(w: Writer, m: ProduceResponse) -> None:
    w.compact(len(m.responses))
    for each in m.responses:
        _write_topic_produce_response_13(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        known = (*known, (0, _node_endpoints_of_produce_response_10(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_produce_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 13:
            _write_produce_response_13(writer, message)
        elif version >= 10:
            _write_produce_response_10(writer, message)
        elif version >= 9:
            _write_produce_response_9(writer, message)
        elif version >= 8:
            _write_produce_response_8(writer, message)
        elif version >= 5:
            _write_produce_response_5(writer, message)
        elif version >= 2:
            _write_produce_response_2(writer, message)
        elif version >= 1:
            _write_produce_response_1(writer, message)
        else:
            _write_produce_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ProduceResponse, version, message)


def encode_produce_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_produce_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ProduceRequest": decode_produce_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ProduceResponse": encode_produce_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ProduceResponse": encode_produce_response_parts,
}
