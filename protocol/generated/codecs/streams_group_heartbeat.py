"""Codecs of `messages.streams_group_heartbeat`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.streams_group_heartbeat import (
    CopartitionGroup,
    Endpoint,
    EndpointToPartitions,
    KeyValue,
    ResponseEndpoint,
    ResponseTaskIds,
    Status,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    TopicPartition,
    Topology,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_ol: Final = Struct(">?l").pack
_pack_u: Final = Struct(">H").pack
_pack_b: Final = Struct(">b").pack
_pack_l: Final = Struct(">l").pack
_pack_lh: Final = Struct(">lh").pack
_pack_llll: Final = Struct(">llll").pack
_pack_lllq: Final = Struct(">lllq").pack


def _read_key_value_0(r: Reader) -> KeyValue:
    return KeyValue(key=r.compact_string(), value=r.compact_string(), unknown_tagged_fields=r.unknown_tags())


def _read_topic_info_0(r: Reader) -> TopicInfo:
    return TopicInfo(
        name=r.compact_string(),
        partitions=r.int32(),
        replication_factor=r.int16(),
        topic_configs=[_read_key_value_0(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_copartition_group_0(r: Reader) -> CopartitionGroup:
    return CopartitionGroup(
        source_topics=[r.int16() for _ in range(r.compact_count(2))],
        source_topic_regex=[r.int16() for _ in range(r.compact_count(2))],
        repartition_source_topics=[r.int16() for _ in range(r.compact_count(2))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_subtopology_0(r: Reader) -> Subtopology:
    return Subtopology(
        subtopology_id=r.compact_string(),
        source_topics=[r.compact_string() for _ in range(r.compact_count(1))],
        source_topic_regex=[r.compact_string() for _ in range(r.compact_count(1))],
        state_changelog_topics=[_read_topic_info_0(r) for _ in range(r.compact_count(9))],
        repartition_sink_topics=[r.compact_string() for _ in range(r.compact_count(1))],
        repartition_source_topics=[_read_topic_info_0(r) for _ in range(r.compact_count(9))],
        copartition_groups=[_read_copartition_group_0(r) for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_topology_0(r: Reader) -> Topology:
    return Topology(
        epoch=r.int32(),
        subtopologies=[_read_subtopology_0(r) for _ in range(r.compact_count(8))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_nullable_topology_0(r: Reader) -> Topology | None:
    return None if r.int8() < 0 else _read_topology_0(r)


def _read_task_ids_0(r: Reader) -> TaskIds:
    return TaskIds(
        subtopology_id=r.compact_string(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_active_tasks_or_null_0(r: Reader) -> list[TaskIds] | None:
    count = r.compact_count_or_null(3)
    return None if count < 0 else [_read_task_ids_0(r) for _ in range(count)]


def _read_standby_tasks_or_null_0(r: Reader) -> list[TaskIds] | None:
    count = r.compact_count_or_null(3)
    return None if count < 0 else [_read_task_ids_0(r) for _ in range(count)]


def _read_warmup_tasks_or_null_0(r: Reader) -> list[TaskIds] | None:
    count = r.compact_count_or_null(3)
    return None if count < 0 else [_read_task_ids_0(r) for _ in range(count)]


def _read_endpoint_0(r: Reader) -> Endpoint:
    return Endpoint(host=r.compact_string(), port=r.uint16(), unknown_tagged_fields=r.unknown_tags())


def _read_nullable_endpoint_0(r: Reader) -> Endpoint | None:
    return None if r.int8() < 0 else _read_endpoint_0(r)


def _read_client_tags_or_null_0(r: Reader) -> list[KeyValue] | None:
    count = r.compact_count_or_null(3)
    return None if count < 0 else [_read_key_value_0(r) for _ in range(count)]


def _read_task_offset_0(r: Reader) -> TaskOffset:
    return TaskOffset(
        subtopology_id=r.compact_string(), partition=r.int32(), offset=r.int64(), unknown_tagged_fields=r.unknown_tags()
    )


def _read_task_offsets_or_null_0(r: Reader) -> list[TaskOffset] | None:
    count = r.compact_count_or_null(14)
    return None if count < 0 else [_read_task_offset_0(r) for _ in range(count)]


def _read_task_end_offsets_or_null_0(r: Reader) -> list[TaskOffset] | None:
    count = r.compact_count_or_null(14)
    return None if count < 0 else [_read_task_offset_0(r) for _ in range(count)]


def _read_streams_group_heartbeat_request_0(r: Reader) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=r.compact_string(),
        member_id=r.compact_string(),
        member_epoch=r.int32(),
        endpoint_information_epoch=r.int32(),
        instance_id=r.compact_string_or_null(),
        rack_id=r.compact_string_or_null(),
        rebalance_timeout_ms=r.int32(),
        topology=_read_nullable_topology_0(r),
        active_tasks=_read_active_tasks_or_null_0(r),
        standby_tasks=_read_standby_tasks_or_null_0(r),
        warmup_tasks=_read_warmup_tasks_or_null_0(r),
        process_id=r.compact_string_or_null(),
        user_endpoint=_read_nullable_endpoint_0(r),
        client_tags=_read_client_tags_or_null_0(r),
        task_offsets=_read_task_offsets_or_null_0(r),
        task_end_offsets=_read_task_end_offsets_or_null_0(r),
        shutdown_application=r.boolean(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_streams_group_heartbeat_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[StreamsGroupHeartbeatRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_streams_group_heartbeat_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(StreamsGroupHeartbeatRequest, version, buf, offset, most)


def _write_status_0(w: Writer, m: Status) -> None:
    w.fixed(_pack_b(m.status_code))
    w.compact_string(m.status_detail)
    w.tags((), m.unknown_tagged_fields)


def _write_response_task_ids_0(w: Writer, m: ResponseTaskIds) -> None:
    w.compact_string(m.subtopology_id)
    w.compact_numbers("l", m.partitions)
    w.tags((), m.unknown_tagged_fields)


def _write_response_endpoint_0(w: Writer, m: ResponseEndpoint) -> None:
    w.compact_string(m.host)
    w.fixed(_pack_u(m.port))
    w.tags((), m.unknown_tagged_fields)


def _write_topic_partition_0(w: Writer, m: TopicPartition) -> None:
    w.compact_string(m.topic)
    w.compact_numbers("l", m.partitions)
    w.tags((), m.unknown_tagged_fields)


def _write_endpoint_to_partitions_0(w: Writer, m: EndpointToPartitions) -> None:
    _write_response_endpoint_0(w, m.user_endpoint)
    w.compact(len(m.active_partitions))
    for each in m.active_partitions:
        _write_topic_partition_0(w, each)
    w.compact(len(m.standby_partitions))
    for each_2 in m.standby_partitions:
        _write_topic_partition_0(w, each_2)
    w.tags((), m.unknown_tagged_fields)


def _write_streams_group_heartbeat_response_0(w: Writer, m: StreamsGroupHeartbeatResponse) -> None:
    if m.topology_description_required != False:
        w.refuse()
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.compact_string(m.member_id)
    w.fixed(
        _pack_llll(m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag_legacy, m.task_offset_interval_ms)
    )
    if m.status is None:
        w.compact(-1)
    else:
        w.compact(len(m.status))
        for each in m.status:
            _write_status_0(w, each)
    if m.active_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.active_tasks))
        for each_2 in m.active_tasks:
            _write_response_task_ids_0(w, each_2)
    if m.standby_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.standby_tasks))
        for each_3 in m.standby_tasks:
            _write_response_task_ids_0(w, each_3)
    if m.warmup_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.warmup_tasks))
        for each_4 in m.warmup_tasks:
            _write_response_task_ids_0(w, each_4)
    w.fixed(_pack_l(m.endpoint_information_epoch))
    if m.partitions_by_user_endpoint is None:
        w.compact(-1)
    else:
        w.compact(len(m.partitions_by_user_endpoint))
        for each_5 in m.partitions_by_user_endpoint:
            _write_endpoint_to_partitions_0(w, each_5)
    w.tags((), m.unknown_tagged_fields)


def _write_streams_group_heartbeat_response_1(w: Writer, m: StreamsGroupHeartbeatResponse) -> None:
    if m.acceptable_recovery_lag_legacy != 0:
        w.refuse()
    w.fixed(_pack_lh(m.throttle_time_ms, m.error_code))
    w.compact_string_or_null(m.error_message)
    w.compact_string(m.member_id)
    w.fixed(_pack_lllq(m.member_epoch, m.heartbeat_interval_ms, m.task_offset_interval_ms, m.acceptable_recovery_lag))
    if m.status is None:
        w.compact(-1)
    else:
        w.compact(len(m.status))
        for each in m.status:
            _write_status_0(w, each)
    if m.active_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.active_tasks))
        for each_2 in m.active_tasks:
            _write_response_task_ids_0(w, each_2)
    if m.standby_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.standby_tasks))
        for each_3 in m.standby_tasks:
            _write_response_task_ids_0(w, each_3)
    if m.warmup_tasks is None:
        w.compact(-1)
    else:
        w.compact(len(m.warmup_tasks))
        for each_4 in m.warmup_tasks:
            _write_response_task_ids_0(w, each_4)
    w.fixed(_pack_ol(m.topology_description_required, m.endpoint_information_epoch))
    if m.partitions_by_user_endpoint is None:
        w.compact(-1)
    else:
        w.compact(len(m.partitions_by_user_endpoint))
        for each_5 in m.partitions_by_user_endpoint:
            _write_endpoint_to_partitions_0(w, each_5)
    w.tags((), m.unknown_tagged_fields)


def encode_streams_group_heartbeat_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 1:
            _write_streams_group_heartbeat_response_1(writer, message)
        else:
            _write_streams_group_heartbeat_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(StreamsGroupHeartbeatResponse, version, message)


def encode_streams_group_heartbeat_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_streams_group_heartbeat_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "StreamsGroupHeartbeatRequest": decode_streams_group_heartbeat_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "StreamsGroupHeartbeatResponse": encode_streams_group_heartbeat_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "StreamsGroupHeartbeatResponse": encode_streams_group_heartbeat_response_parts,
}
