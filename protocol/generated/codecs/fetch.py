"""Codecs of `messages.fetch`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
    SnapshotId,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_lhl: Final = Struct(">lhl").pack
_pack_lhq: Final = Struct(">lhq").pack
_pack_lhqq: Final = Struct(">lhqq").pack
_pack_lhqqq: Final = Struct(">lhqqq").pack
_pack_ll: Final = Struct(">ll").pack
_pack_lq: Final = Struct(">lq").pack
_pack_ql: Final = Struct(">ql").pack
_pack_qq: Final = Struct(">qq").pack


def _read_fetch_partition_0(r: Reader) -> FetchPartition:
    return FetchPartition(partition=r.int32(), fetch_offset=r.int64(), partition_max_bytes=r.int32())


def _read_fetch_topic_0(r: Reader) -> FetchTopic:
    return FetchTopic(topic=r.string(), partitions=[_read_fetch_partition_0(r) for _ in range(r.count(16))])


def _read_fetch_request_0(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        topics=[_read_fetch_topic_0(r) for _ in range(r.count(6))],
    )


def _read_fetch_request_3(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        topics=[_read_fetch_topic_0(r) for _ in range(r.count(6))],
    )


def _read_fetch_request_4(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        topics=[_read_fetch_topic_0(r) for _ in range(r.count(6))],
    )


def _read_fetch_partition_5(r: Reader) -> FetchPartition:
    return FetchPartition(
        partition=r.int32(), fetch_offset=r.int64(), log_start_offset=r.int64(), partition_max_bytes=r.int32()
    )


def _read_fetch_topic_5(r: Reader) -> FetchTopic:
    return FetchTopic(topic=r.string(), partitions=[_read_fetch_partition_5(r) for _ in range(r.count(24))])


def _read_fetch_request_5(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        topics=[_read_fetch_topic_5(r) for _ in range(r.count(6))],
    )


def _read_forgotten_topic_7(r: Reader) -> ForgottenTopic:
    return ForgottenTopic(topic=r.string(), partitions=[r.int32() for _ in range(r.count(4))])


def _read_fetch_request_7(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_5(r) for _ in range(r.count(6))],
        forgotten_topics_data=[_read_forgotten_topic_7(r) for _ in range(r.count(6))],
    )


def _read_fetch_partition_9(r: Reader) -> FetchPartition:
    return FetchPartition(
        partition=r.int32(),
        current_leader_epoch=r.int32(),
        fetch_offset=r.int64(),
        log_start_offset=r.int64(),
        partition_max_bytes=r.int32(),
    )


def _read_fetch_topic_9(r: Reader) -> FetchTopic:
    return FetchTopic(topic=r.string(), partitions=[_read_fetch_partition_9(r) for _ in range(r.count(28))])


def _read_fetch_request_9(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_9(r) for _ in range(r.count(6))],
        forgotten_topics_data=[_read_forgotten_topic_7(r) for _ in range(r.count(6))],
    )


def _read_fetch_request_11(r: Reader) -> FetchRequest:
    return FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_9(r) for _ in range(r.count(6))],
        forgotten_topics_data=[_read_forgotten_topic_7(r) for _ in range(r.count(6))],
        rack_id=r.string(),
    )


def _read_fetch_partition_12(r: Reader) -> FetchPartition:
    return FetchPartition(
        partition=r.int32(),
        current_leader_epoch=r.int32(),
        fetch_offset=r.int64(),
        last_fetched_epoch=r.int32(),
        log_start_offset=r.int64(),
        partition_max_bytes=r.int32(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_topic_12(r: Reader) -> FetchTopic:
    return FetchTopic(
        topic=r.compact_string(),
        partitions=[_read_fetch_partition_12(r) for _ in range(r.compact_count(33))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_forgotten_topic_12(r: Reader) -> ForgottenTopic:
    return ForgottenTopic(
        topic=r.compact_string(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_request_12(r: Reader) -> FetchRequest:
    message = FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_12(r) for _ in range(r.compact_count(3))],
        forgotten_topics_data=[_read_forgotten_topic_12(r) for _ in range(r.compact_count(3))],
        rack_id=r.compact_string(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.cluster_id = r.compact_string_or_null()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_fetch_topic_13(r: Reader) -> FetchTopic:
    return FetchTopic(
        topic_id=r.uuid(),
        partitions=[_read_fetch_partition_12(r) for _ in range(r.compact_count(33))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_forgotten_topic_13(r: Reader) -> ForgottenTopic:
    return ForgottenTopic(
        topic_id=r.uuid(),
        partitions=[r.int32() for _ in range(r.compact_count(4))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_request_13(r: Reader) -> FetchRequest:
    message = FetchRequest(
        replica_id=r.int32(),
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_13(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_13(r) for _ in range(r.compact_count(18))],
        rack_id=r.compact_string(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.cluster_id = r.compact_string_or_null()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_replica_state_15(r: Reader) -> ReplicaState:
    return ReplicaState(replica_id=r.int32(), replica_epoch=r.int64(), unknown_tagged_fields=r.unknown_tags())


def _read_fetch_request_15(r: Reader) -> FetchRequest:
    message = FetchRequest(
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_13(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_13(r) for _ in range(r.compact_count(18))],
        rack_id=r.compact_string(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.cluster_id = r.compact_string_or_null()
        elif tag == 1:
            message.replica_state = _read_replica_state_15(r)
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_fetch_partition_17(r: Reader) -> FetchPartition:
    message = FetchPartition(
        partition=r.int32(),
        current_leader_epoch=r.int32(),
        fetch_offset=r.int64(),
        last_fetched_epoch=r.int32(),
        log_start_offset=r.int64(),
        partition_max_bytes=r.int32(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.replica_directory_id = r.uuid()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_fetch_topic_17(r: Reader) -> FetchTopic:
    return FetchTopic(
        topic_id=r.uuid(),
        partitions=[_read_fetch_partition_17(r) for _ in range(r.compact_count(33))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_request_17(r: Reader) -> FetchRequest:
    message = FetchRequest(
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_17(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_13(r) for _ in range(r.compact_count(18))],
        rack_id=r.compact_string(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.cluster_id = r.compact_string_or_null()
        elif tag == 1:
            message.replica_state = _read_replica_state_15(r)
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_fetch_partition_18(r: Reader) -> FetchPartition:
    message = FetchPartition(
        partition=r.int32(),
        current_leader_epoch=r.int32(),
        fetch_offset=r.int64(),
        last_fetched_epoch=r.int32(),
        log_start_offset=r.int64(),
        partition_max_bytes=r.int32(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.replica_directory_id = r.uuid()
        elif tag == 1:
            message.high_watermark = r.int64()
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def _read_fetch_topic_18(r: Reader) -> FetchTopic:
    return FetchTopic(
        topic_id=r.uuid(),
        partitions=[_read_fetch_partition_18(r) for _ in range(r.compact_count(33))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_fetch_request_18(r: Reader) -> FetchRequest:
    message = FetchRequest(
        max_wait_ms=r.int32(),
        min_bytes=r.int32(),
        max_bytes=r.int32(),
        isolation_level=r.int8(),
        session_id=r.int32(),
        session_epoch=r.int32(),
        topics=[_read_fetch_topic_18(r) for _ in range(r.compact_count(18))],
        forgotten_topics_data=[_read_forgotten_topic_13(r) for _ in range(r.compact_count(18))],
        rack_id=r.compact_string(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.cluster_id = r.compact_string_or_null()
        elif tag == 1:
            message.replica_state = _read_replica_state_15(r)
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def decode_fetch_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 18:
            message = _read_fetch_request_18(reader)
        elif version >= 17:
            message = _read_fetch_request_17(reader)
        elif version >= 15:
            message = _read_fetch_request_15(reader)
        elif version >= 13:
            message = _read_fetch_request_13(reader)
        elif version >= 12:
            message = _read_fetch_request_12(reader)
        elif version >= 11:
            message = _read_fetch_request_11(reader)
        elif version >= 9:
            message = _read_fetch_request_9(reader)
        elif version >= 7:
            message = _read_fetch_request_7(reader)
        elif version >= 5:
            message = _read_fetch_request_5(reader)
        elif version >= 4:
            message = _read_fetch_request_4(reader)
        elif version >= 3:
            message = _read_fetch_request_3(reader)
        else:
            message = _read_fetch_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, buf, offset, most)


def _write_partition_data_0(w: Writer, m: PartitionData) -> None:
    if m.diverging_epoch.unknown_tagged_fields or m.diverging_epoch.epoch != -1 or m.diverging_epoch.end_offset != -1:
        w.refuse()
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    if m.snapshot_id.unknown_tagged_fields or m.snapshot_id.end_offset != -1 or m.snapshot_id.epoch != -1:
        w.refuse()
    if m.preferred_read_replica != -1:
        w.refuse()
    w.fixed(_pack_lhq(m.partition_index, m.error_code, m.high_watermark))
    w.records_or_null(m.records)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetchable_topic_response_0(w: Writer, m: FetchableTopicResponse) -> None:
    w.string(m.topic)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_0(w: Writer, m: FetchResponse) -> None:
    if m.session_id != 0:
        w.refuse()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_1(w: Writer, m: FetchResponse) -> None:
    if m.session_id != 0:
        w.refuse()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_aborted_transaction_4(w: Writer, m: AbortedTransaction) -> None:
    w.fixed(_pack_qq(m.producer_id, m.first_offset))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_data_4(w: Writer, m: PartitionData) -> None:
    if m.diverging_epoch.unknown_tagged_fields or m.diverging_epoch.epoch != -1 or m.diverging_epoch.end_offset != -1:
        w.refuse()
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    if m.snapshot_id.unknown_tagged_fields or m.snapshot_id.end_offset != -1 or m.snapshot_id.epoch != -1:
        w.refuse()
    if m.preferred_read_replica != -1:
        w.refuse()
    w.fixed(_pack_lhqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset))
    if m.aborted_transactions is None:
        w.count(-1)
    else:
        w.count(len(m.aborted_transactions))
        for each in m.aborted_transactions:
            _write_aborted_transaction_4(w, each)
    w.records_or_null(m.records)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetchable_topic_response_4(w: Writer, m: FetchableTopicResponse) -> None:
    w.string(m.topic)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_4(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_4(w: Writer, m: FetchResponse) -> None:
    if m.session_id != 0:
        w.refuse()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_4(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_data_5(w: Writer, m: PartitionData) -> None:
    if m.diverging_epoch.unknown_tagged_fields or m.diverging_epoch.epoch != -1 or m.diverging_epoch.end_offset != -1:
        w.refuse()
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    if m.snapshot_id.unknown_tagged_fields or m.snapshot_id.end_offset != -1 or m.snapshot_id.epoch != -1:
        w.refuse()
    if m.preferred_read_replica != -1:
        w.refuse()
    w.fixed(_pack_lhqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset))
    if m.aborted_transactions is None:
        w.count(-1)
    else:
        w.count(len(m.aborted_transactions))
        for each in m.aborted_transactions:
            _write_aborted_transaction_4(w, each)
    w.records_or_null(m.records)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetchable_topic_response_5(w: Writer, m: FetchableTopicResponse) -> None:
    w.string(m.topic)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_5(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_5(w: Writer, m: FetchResponse) -> None:
    if m.session_id != 0:
        w.refuse()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_l(m.throttle_time_ms))
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_5(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_7(w: Writer, m: FetchResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.session_id))
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_5(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_partition_data_11(w: Writer, m: PartitionData) -> None:
    if m.diverging_epoch.unknown_tagged_fields or m.diverging_epoch.epoch != -1 or m.diverging_epoch.end_offset != -1:
        w.refuse()
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        w.refuse()
    if m.snapshot_id.unknown_tagged_fields or m.snapshot_id.end_offset != -1 or m.snapshot_id.epoch != -1:
        w.refuse()
    w.fixed(_pack_lhqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset))
    if m.aborted_transactions is None:
        w.count(-1)
    else:
        w.count(len(m.aborted_transactions))
        for each in m.aborted_transactions:
            _write_aborted_transaction_4(w, each)
    w.fixed(_pack_l(m.preferred_read_replica))
    w.records_or_null(m.records)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetchable_topic_response_11(w: Writer, m: FetchableTopicResponse) -> None:
    w.string(m.topic)
    w.count(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_11(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_fetch_response_11(w: Writer, m: FetchResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.session_id))
    w.count(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_11(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_aborted_transaction_12(w: Writer, m: AbortedTransaction) -> None:
    w.fixed(_pack_qq(m.producer_id, m.first_offset))
    w.tags((), m.unknown_tagged_fields)


def _write_epoch_end_offset_12(w: Writer, m: EpochEndOffset) -> None:
    w.fixed(_pack_lq(m.epoch, m.end_offset))
    w.tags((), m.unknown_tagged_fields)


def _diverging_epoch_of_partition_data_12(m: PartitionData) -> bytes:
    w = Writer()
    _write_epoch_end_offset_12(w, m.diverging_epoch)
    return w.whole()


def _write_leader_id_and_epoch_12(w: Writer, m: LeaderIdAndEpoch) -> None:
    w.fixed(_pack_ll(m.leader_id, m.leader_epoch))
    w.tags((), m.unknown_tagged_fields)


def _current_leader_of_partition_data_12(m: PartitionData) -> bytes:
    w = Writer()
    _write_leader_id_and_epoch_12(w, m.current_leader)
    return w.whole()


def _write_snapshot_id_12(w: Writer, m: SnapshotId) -> None:
    w.fixed(_pack_ql(m.end_offset, m.epoch))
    w.tags((), m.unknown_tagged_fields)


def _snapshot_id_of_partition_data_12(m: PartitionData) -> bytes:
    w = Writer()
    _write_snapshot_id_12(w, m.snapshot_id)
    return w.whole()


def _write_partition_data_12(w: Writer, m: PartitionData) -> None:
    w.fixed(_pack_lhqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset))
    if m.aborted_transactions is None:
        w.compact(-1)
    else:
        w.compact(len(m.aborted_transactions))
        for each in m.aborted_transactions:
            _write_aborted_transaction_12(w, each)
    w.fixed(_pack_l(m.preferred_read_replica))
    w.compact_records_or_null(m.records)
    known: tuple[tuple[int, bytes], ...] = ()
    if m.diverging_epoch.unknown_tagged_fields or m.diverging_epoch.epoch != -1 or m.diverging_epoch.end_offset != -1:
        known = (*known, (0, _diverging_epoch_of_partition_data_12(m)))
    if (
        m.current_leader.unknown_tagged_fields
        or m.current_leader.leader_id != -1
        or m.current_leader.leader_epoch != -1
    ):
        known = (*known, (1, _current_leader_of_partition_data_12(m)))
    if m.snapshot_id.unknown_tagged_fields or m.snapshot_id.end_offset != -1 or m.snapshot_id.epoch != -1:
        known = (*known, (2, _snapshot_id_of_partition_data_12(m)))
    w.tags(known, m.unknown_tagged_fields)


def _write_fetchable_topic_response_12(w: Writer, m: FetchableTopicResponse) -> None:
    w.compact_string(m.topic)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_12(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_fetch_response_12(w: Writer, m: FetchResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.session_id))
    w.compact(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_12(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_fetchable_topic_response_13(w: Writer, m: FetchableTopicResponse) -> None:
    w.uuid(m.topic_id)
    w.compact(len(m.partitions))
    for each in m.partitions:
        _write_partition_data_12(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_fetch_response_13(w: Writer, m: FetchResponse) -> None:
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        w.refuse()
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.session_id))
    w.compact(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_13(w, each)
    w.tags((), m.unknown_tagged_fields)


def _write_node_endpoint_16(w: Writer, m: NodeEndpoint) -> None:
    w.fixed(_pack_l(m.node_id))
    w.compact_string(m.host)
    w.fixed(_pack_l(m.port))
    w.compact_string_or_null(m.rack)
    w.tags((), m.unknown_tagged_fields)


def _node_endpoints_of_fetch_response_16(m: FetchResponse) -> bytes:
    w = Writer()
    w.compact(len(m.node_endpoints))
    for each in m.node_endpoints:
        _write_node_endpoint_16(w, each)
    return w.whole()


def _write_fetch_response_16(w: Writer, m: FetchResponse) -> None:
    w.fixed(_pack_lhl(m.throttle_time_ms, m.error_code, m.session_id))
    w.compact(len(m.responses))
    for each in m.responses:
        _write_fetchable_topic_response_13(w, each)
    known: tuple[tuple[int, bytes], ...] = ()
    if m.node_endpoints is None or len(m.node_endpoints) > 0:
        known = (*known, (0, _node_endpoints_of_fetch_response_16(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_fetch_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 16:
            _write_fetch_response_16(writer, message)
        elif version >= 13:
            _write_fetch_response_13(writer, message)
        elif version >= 12:
            _write_fetch_response_12(writer, message)
        elif version >= 11:
            _write_fetch_response_11(writer, message)
        elif version >= 7:
            _write_fetch_response_7(writer, message)
        elif version >= 5:
            _write_fetch_response_5(writer, message)
        elif version >= 4:
            _write_fetch_response_4(writer, message)
        elif version >= 1:
            _write_fetch_response_1(writer, message)
        else:
            _write_fetch_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(FetchResponse, version, message)


def encode_fetch_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_fetch_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "FetchRequest": decode_fetch_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "FetchResponse": encode_fetch_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "FetchResponse": encode_fetch_response_parts,
}
