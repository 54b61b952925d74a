# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.fetch`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, unpack_from
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int8_at,
    int16_at,
    int32_at,
    int64_at,
    long_length,
    long_string,
    put_records,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import (
    ANY_NUMBER,
    checked_tags,
    encode_tagged_section,
    encode_uvarint,
    read_raw_field,
    read_tagged_field,
    read_unknown_fields,
    read_uvarint,
)

pack_16s: Final = Struct(">16s").pack
pack_16sB: Final = Struct(">16sB").pack
pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lhl: Final = Struct(">lhl").pack
pack_lhlB: Final = Struct(">lhlB").pack
pack_lhll: Final = Struct(">lhll").pack
pack_lhql: Final = Struct(">lhql").pack
pack_lhqql: Final = Struct(">lhqql").pack
pack_lhqqq: Final = Struct(">lhqqq").pack
pack_lhqqqB: Final = Struct(">lhqqqB").pack
pack_lhqqql: Final = Struct(">lhqqql").pack
pack_ll: Final = Struct(">ll").pack
pack_llB: Final = Struct(">llB").pack
pack_lq: Final = Struct(">lq").pack
pack_lqB: Final = Struct(">lqB").pack
pack_ql: Final = Struct(">ql").pack
pack_qlB: Final = Struct(">qlB").pack
pack_qq: Final = Struct(">qq").pack
pack_qqB: Final = Struct(">qqB").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_fetch_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        n2 = int32_at(buf, pos + 12)
        pos += 16
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 16 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_fetch_offset = int64_at(buf, pos + 4)
                o13_partition_max_bytes = int32_at(buf, pos + 12)
                pos += 16
                v12 = FetchPartition(
                    partition=o13_partition, fetch_offset=o13_fetch_offset, partition_max_bytes=o13_partition_max_bytes
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        message = FetchRequest(
            replica_id=o1_replica_id, max_wait_ms=o1_max_wait_ms, min_bytes=o1_min_bytes, topics=o1_topics
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        n2 = int32_at(buf, pos + 16)
        pos += 20
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 16 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_fetch_offset = int64_at(buf, pos + 4)
                o13_partition_max_bytes = int32_at(buf, pos + 12)
                pos += 16
                v12 = FetchPartition(
                    partition=o13_partition, fetch_offset=o13_fetch_offset, partition_max_bytes=o13_partition_max_bytes
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            topics=o1_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        n2 = int32_at(buf, pos + 17)
        pos += 21
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 16 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_fetch_offset = int64_at(buf, pos + 4)
                o13_partition_max_bytes = int32_at(buf, pos + 12)
                pos += 16
                v12 = FetchPartition(
                    partition=o13_partition, fetch_offset=o13_fetch_offset, partition_max_bytes=o13_partition_max_bytes
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            topics=o1_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_5(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        n2 = int32_at(buf, pos + 17)
        pos += 21
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 24 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_fetch_offset = int64_at(buf, pos + 4)
                o13_log_start_offset = int64_at(buf, pos + 12)
                o13_partition_max_bytes = int32_at(buf, pos + 20)
                pos += 24
                v12 = FetchPartition(
                    partition=o13_partition,
                    fetch_offset=o13_fetch_offset,
                    log_start_offset=o13_log_start_offset,
                    partition_max_bytes=o13_partition_max_bytes,
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            topics=o1_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_7(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        o1_session_id = int32_at(buf, pos + 17)
        o1_session_epoch = int32_at(buf, pos + 21)
        n2 = int32_at(buf, pos + 25)
        pos += 29
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 24 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_fetch_offset = int64_at(buf, pos + 4)
                o13_log_start_offset = int64_at(buf, pos + 12)
                o13_partition_max_bytes = int32_at(buf, pos + 20)
                pos += 24
                v12 = FetchPartition(
                    partition=o13_partition,
                    fetch_offset=o13_fetch_offset,
                    log_start_offset=o13_log_start_offset,
                    partition_max_bytes=o13_partition_max_bytes,
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        n14 = int32_at(buf, pos)
        pos += 4
        if n14 < 0:
            raise IndexError
        if n14 * 6 > end - pos:
            raise IndexError
        left -= n14
        check_count(n14, left)
        l15: list[Any] = []
        o1_forgotten_topics_data = l15
        for _ in range(n14):
            n19 = int16_at(buf, pos)
            pos += 2
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            o18_topic = text_at(buf, pos, e20)
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            left -= n21
            check_count(n21, left)
            if n21 < 9:
                o18_partitions = list(unpack_from__l[n21](buf, pos))
            else:
                o18_partitions = list(unpack_from(f">{n21}l", buf, pos))
            pos += n21 * 4
            v17 = ForgottenTopic(topic=o18_topic, partitions=o18_partitions)
            l15.append(v17)
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_9(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        o1_session_id = int32_at(buf, pos + 17)
        o1_session_epoch = int32_at(buf, pos + 21)
        n2 = int32_at(buf, pos + 25)
        pos += 29
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 28 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_current_leader_epoch = int32_at(buf, pos + 4)
                o13_fetch_offset = int64_at(buf, pos + 8)
                o13_log_start_offset = int64_at(buf, pos + 16)
                o13_partition_max_bytes = int32_at(buf, pos + 24)
                pos += 28
                v12 = FetchPartition(
                    partition=o13_partition,
                    current_leader_epoch=o13_current_leader_epoch,
                    fetch_offset=o13_fetch_offset,
                    log_start_offset=o13_log_start_offset,
                    partition_max_bytes=o13_partition_max_bytes,
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        n14 = int32_at(buf, pos)
        pos += 4
        if n14 < 0:
            raise IndexError
        if n14 * 6 > end - pos:
            raise IndexError
        left -= n14
        check_count(n14, left)
        l15: list[Any] = []
        o1_forgotten_topics_data = l15
        for _ in range(n14):
            n19 = int16_at(buf, pos)
            pos += 2
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            o18_topic = text_at(buf, pos, e20)
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            left -= n21
            check_count(n21, left)
            if n21 < 9:
                o18_partitions = list(unpack_from__l[n21](buf, pos))
            else:
                o18_partitions = list(unpack_from(f">{n21}l", buf, pos))
            pos += n21 * 4
            v17 = ForgottenTopic(topic=o18_topic, partitions=o18_partitions)
            l15.append(v17)
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_11(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        o1_session_id = int32_at(buf, pos + 17)
        o1_session_epoch = int32_at(buf, pos + 21)
        n2 = int32_at(buf, pos + 25)
        pos += 29
        if n2 < 0:
            raise IndexError
        if n2 * 6 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 28 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_current_leader_epoch = int32_at(buf, pos + 4)
                o13_fetch_offset = int64_at(buf, pos + 8)
                o13_log_start_offset = int64_at(buf, pos + 16)
                o13_partition_max_bytes = int32_at(buf, pos + 24)
                pos += 28
                v12 = FetchPartition(
                    partition=o13_partition,
                    current_leader_epoch=o13_current_leader_epoch,
                    fetch_offset=o13_fetch_offset,
                    log_start_offset=o13_log_start_offset,
                    partition_max_bytes=o13_partition_max_bytes,
                )
                l10.append(v12)
            v5 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            l3.append(v5)
        n14 = int32_at(buf, pos)
        pos += 4
        if n14 < 0:
            raise IndexError
        if n14 * 6 > end - pos:
            raise IndexError
        left -= n14
        check_count(n14, left)
        l15: list[Any] = []
        o1_forgotten_topics_data = l15
        for _ in range(n14):
            n19 = int16_at(buf, pos)
            pos += 2
            if n19 < 0:
                raise IndexError
            e20: i64 = pos + n19
            o18_topic = text_at(buf, pos, e20)
            pos = e20
            n21 = int32_at(buf, pos)
            pos += 4
            if n21 < 0:
                raise IndexError
            left -= n21
            check_count(n21, left)
            if n21 < 9:
                o18_partitions = list(unpack_from__l[n21](buf, pos))
            else:
                o18_partitions = list(unpack_from(f">{n21}l", buf, pos))
            pos += n21 * 4
            v17 = ForgottenTopic(topic=o18_topic, partitions=o18_partitions)
            l15.append(v17)
        n22 = int16_at(buf, pos)
        pos += 2
        if n22 < 0:
            raise IndexError
        e23: i64 = pos + n22
        o1_rack_id = text_at(buf, pos, e23)
        pos = e23
        message = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_12(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        o1_session_id = int32_at(buf, pos + 17)
        o1_session_epoch = int32_at(buf, pos + 21)
        n2: i64 = buf[pos + 25]
        pos += 26
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 3 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            n7: i64 = buf[pos]
            pos += 1
            if n7 > 127:
                n7, pos = long_string(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            e8: i64 = pos + n7 - 1
            o6_topic = text_at(buf, pos, e8)
            pos = e8
            n9: i64 = buf[pos]
            pos += 1
            if n9 > 127:
                n9, pos = long_length(buf, pos - 1)
            if n9 == 0:
                raise IndexError
            n9 -= 1
            if n9 * 33 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partitions = l10
            for _ in range(n9):
                o13_partition = int32_at(buf, pos)
                o13_current_leader_epoch = int32_at(buf, pos + 4)
                o13_fetch_offset = int64_at(buf, pos + 8)
                o13_last_fetched_epoch = int32_at(buf, pos + 16)
                o13_log_start_offset = int64_at(buf, pos + 20)
                o13_partition_max_bytes = int32_at(buf, pos + 28)
                n14: i64 = buf[pos + 32]
                pos += 33
                v12 = o13 = FetchPartition(
                    partition=o13_partition,
                    current_leader_epoch=o13_current_leader_epoch,
                    fetch_offset=o13_fetch_offset,
                    last_fetched_epoch=o13_last_fetched_epoch,
                    log_start_offset=o13_log_start_offset,
                    partition_max_bytes=o13_partition_max_bytes,
                )
                if n14:
                    o13.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                    left -= len(o13.unknown_tagged_fields)
                    check_count(len(o13.unknown_tagged_fields), left)
                l10.append(v12)
            v5 = o6 = FetchTopic(topic=o6_topic, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        n15: i64 = buf[pos]
        pos += 1
        if n15 > 127:
            n15, pos = long_length(buf, pos - 1)
        if n15 == 0:
            raise IndexError
        n15 -= 1
        if n15 * 3 > end - pos:
            raise IndexError
        left -= n15
        check_count(n15, left)
        l16: list[Any] = []
        o1_forgotten_topics_data = l16
        for _ in range(n15):
            n20: i64 = buf[pos]
            pos += 1
            if n20 > 127:
                n20, pos = long_string(buf, pos - 1)
            if n20 == 0:
                raise IndexError
            e21: i64 = pos + n20 - 1
            o19_topic = text_at(buf, pos, e21)
            pos = e21
            n22: i64 = buf[pos]
            pos += 1
            if n22 > 127:
                n22, pos = long_length(buf, pos - 1)
            if n22 == 0:
                raise IndexError
            left -= n22 - 1
            check_count(n22 - 1, left)
            if n22 < 9:
                o19_partitions = list(unpack_from__l[n22 - 1](buf, pos))
            else:
                o19_partitions = list(unpack_from(f">{n22 - 1}l", buf, pos))
            pos += n22 * 4 - 4
            v18 = o19 = ForgottenTopic(topic=o19_topic, partitions=o19_partitions)
            if buf[pos]:
                o19.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o19.unknown_tagged_fields)
                check_count(len(o19.unknown_tagged_fields), left)
            else:
                pos += 1
            l16.append(v18)
        n23: i64 = buf[pos]
        pos += 1
        if n23 > 127:
            n23, pos = long_string(buf, pos - 1)
        if n23 == 0:
            raise IndexError
        e24: i64 = pos + n23 - 1
        o1_rack_id = text_at(buf, pos, e24)
        pos = e24
        n25: i64 = buf[pos]
        pos += 1
        message = o1 = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        if n25:
            if n25 > 127:
                n25, pos = read_uvarint(buf, pos - 1)
                checked_tags(n25)
            left -= n25
            check_count(n25, left)
            u26: list[tuple[int, bytes]] = []
            for _ in range(n25):
                t27, s28, pos = read_tagged_field(buf, pos)
                if t27 == 0:
                    n30: i64 = buf[pos]
                    pos += 1
                    if n30 > 127:
                        n30, pos = long_string(buf, pos - 1)
                    if n30 == 0:
                        o1.cluster_id = None
                    else:
                        e31: i64 = pos + n30 - 1
                        o1.cluster_id = text_at(buf, pos, e31)
                        pos = e31
                else:
                    d29, pos = read_raw_field(buf, pos, s28)
                    u26.append((t27, d29))
            o1.unknown_tagged_fields = tuple(u26)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_13(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_replica_id = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_isolation_level = int8_at(buf, pos + 16)
        o1_session_id = int32_at(buf, pos + 17)
        o1_session_epoch = int32_at(buf, pos + 21)
        n2: i64 = buf[pos + 25]
        pos += 26
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 18 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            if pos + 17 > end:
                raise IndexError
            o6_topic_id = buf[pos : pos + 16]
            n7: i64 = buf[pos + 16]
            pos += 17
            if n7 > 127:
                n7, pos = long_length(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            n7 -= 1
            if n7 * 33 > end - pos:
                raise IndexError
            left -= n7
            check_count(n7, left)
            l8: list[Any] = []
            o6_partitions = l8
            for _ in range(n7):
                o11_partition = int32_at(buf, pos)
                o11_current_leader_epoch = int32_at(buf, pos + 4)
                o11_fetch_offset = int64_at(buf, pos + 8)
                o11_last_fetched_epoch = int32_at(buf, pos + 16)
                o11_log_start_offset = int64_at(buf, pos + 20)
                o11_partition_max_bytes = int32_at(buf, pos + 28)
                n12: i64 = buf[pos + 32]
                pos += 33
                v10 = o11 = FetchPartition(
                    partition=o11_partition,
                    current_leader_epoch=o11_current_leader_epoch,
                    fetch_offset=o11_fetch_offset,
                    last_fetched_epoch=o11_last_fetched_epoch,
                    log_start_offset=o11_log_start_offset,
                    partition_max_bytes=o11_partition_max_bytes,
                )
                if n12:
                    o11.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                    left -= len(o11.unknown_tagged_fields)
                    check_count(len(o11.unknown_tagged_fields), left)
                l8.append(v10)
            v5 = o6 = FetchTopic(topic_id=o6_topic_id, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        n13: i64 = buf[pos]
        pos += 1
        if n13 > 127:
            n13, pos = long_length(buf, pos - 1)
        if n13 == 0:
            raise IndexError
        n13 -= 1
        if n13 * 18 > end - pos:
            raise IndexError
        left -= n13
        check_count(n13, left)
        l14: list[Any] = []
        o1_forgotten_topics_data = l14
        for _ in range(n13):
            if pos + 17 > end:
                raise IndexError
            o17_topic_id = buf[pos : pos + 16]
            n18: i64 = buf[pos + 16]
            pos += 17
            if n18 > 127:
                n18, pos = long_length(buf, pos - 1)
            if n18 == 0:
                raise IndexError
            left -= n18 - 1
            check_count(n18 - 1, left)
            if n18 < 9:
                o17_partitions = list(unpack_from__l[n18 - 1](buf, pos))
            else:
                o17_partitions = list(unpack_from(f">{n18 - 1}l", buf, pos))
            pos += n18 * 4 - 4
            v16 = o17 = ForgottenTopic(topic_id=o17_topic_id, partitions=o17_partitions)
            if buf[pos]:
                o17.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o17.unknown_tagged_fields)
                check_count(len(o17.unknown_tagged_fields), left)
            else:
                pos += 1
            l14.append(v16)
        n19: i64 = buf[pos]
        pos += 1
        if n19 > 127:
            n19, pos = long_string(buf, pos - 1)
        if n19 == 0:
            raise IndexError
        e20: i64 = pos + n19 - 1
        o1_rack_id = text_at(buf, pos, e20)
        pos = e20
        n21: i64 = buf[pos]
        pos += 1
        message = o1 = FetchRequest(
            replica_id=o1_replica_id,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        if n21:
            if n21 > 127:
                n21, pos = read_uvarint(buf, pos - 1)
                checked_tags(n21)
            left -= n21
            check_count(n21, left)
            u22: list[tuple[int, bytes]] = []
            for _ in range(n21):
                t23, s24, pos = read_tagged_field(buf, pos)
                if t23 == 0:
                    n26: i64 = buf[pos]
                    pos += 1
                    if n26 > 127:
                        n26, pos = long_string(buf, pos - 1)
                    if n26 == 0:
                        o1.cluster_id = None
                    else:
                        e27: i64 = pos + n26 - 1
                        o1.cluster_id = text_at(buf, pos, e27)
                        pos = e27
                else:
                    d25, pos = read_raw_field(buf, pos, s24)
                    u22.append((t23, d25))
            o1.unknown_tagged_fields = tuple(u22)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_15(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_max_wait_ms = int32_at(buf, pos)
        o1_min_bytes = int32_at(buf, pos + 4)
        o1_max_bytes = int32_at(buf, pos + 8)
        o1_isolation_level = int8_at(buf, pos + 12)
        o1_session_id = int32_at(buf, pos + 13)
        o1_session_epoch = int32_at(buf, pos + 17)
        n2: i64 = buf[pos + 21]
        pos += 22
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 18 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            if pos + 17 > end:
                raise IndexError
            o6_topic_id = buf[pos : pos + 16]
            n7: i64 = buf[pos + 16]
            pos += 17
            if n7 > 127:
                n7, pos = long_length(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            n7 -= 1
            if n7 * 33 > end - pos:
                raise IndexError
            left -= n7
            check_count(n7, left)
            l8: list[Any] = []
            o6_partitions = l8
            for _ in range(n7):
                o11_partition = int32_at(buf, pos)
                o11_current_leader_epoch = int32_at(buf, pos + 4)
                o11_fetch_offset = int64_at(buf, pos + 8)
                o11_last_fetched_epoch = int32_at(buf, pos + 16)
                o11_log_start_offset = int64_at(buf, pos + 20)
                o11_partition_max_bytes = int32_at(buf, pos + 28)
                n12: i64 = buf[pos + 32]
                pos += 33
                v10 = o11 = FetchPartition(
                    partition=o11_partition,
                    current_leader_epoch=o11_current_leader_epoch,
                    fetch_offset=o11_fetch_offset,
                    last_fetched_epoch=o11_last_fetched_epoch,
                    log_start_offset=o11_log_start_offset,
                    partition_max_bytes=o11_partition_max_bytes,
                )
                if n12:
                    o11.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                    left -= len(o11.unknown_tagged_fields)
                    check_count(len(o11.unknown_tagged_fields), left)
                l8.append(v10)
            v5 = o6 = FetchTopic(topic_id=o6_topic_id, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        n13: i64 = buf[pos]
        pos += 1
        if n13 > 127:
            n13, pos = long_length(buf, pos - 1)
        if n13 == 0:
            raise IndexError
        n13 -= 1
        if n13 * 18 > end - pos:
            raise IndexError
        left -= n13
        check_count(n13, left)
        l14: list[Any] = []
        o1_forgotten_topics_data = l14
        for _ in range(n13):
            if pos + 17 > end:
                raise IndexError
            o17_topic_id = buf[pos : pos + 16]
            n18: i64 = buf[pos + 16]
            pos += 17
            if n18 > 127:
                n18, pos = long_length(buf, pos - 1)
            if n18 == 0:
                raise IndexError
            left -= n18 - 1
            check_count(n18 - 1, left)
            if n18 < 9:
                o17_partitions = list(unpack_from__l[n18 - 1](buf, pos))
            else:
                o17_partitions = list(unpack_from(f">{n18 - 1}l", buf, pos))
            pos += n18 * 4 - 4
            v16 = o17 = ForgottenTopic(topic_id=o17_topic_id, partitions=o17_partitions)
            if buf[pos]:
                o17.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o17.unknown_tagged_fields)
                check_count(len(o17.unknown_tagged_fields), left)
            else:
                pos += 1
            l14.append(v16)
        n19: i64 = buf[pos]
        pos += 1
        if n19 > 127:
            n19, pos = long_string(buf, pos - 1)
        if n19 == 0:
            raise IndexError
        e20: i64 = pos + n19 - 1
        o1_rack_id = text_at(buf, pos, e20)
        pos = e20
        n21: i64 = buf[pos]
        pos += 1
        message = o1 = FetchRequest(
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        if n21:
            if n21 > 127:
                n21, pos = read_uvarint(buf, pos - 1)
                checked_tags(n21)
            left -= n21
            check_count(n21, left)
            u22: list[tuple[int, bytes]] = []
            for _ in range(n21):
                t23, s24, pos = read_tagged_field(buf, pos)
                if t23 == 0:
                    n26: i64 = buf[pos]
                    pos += 1
                    if n26 > 127:
                        n26, pos = long_string(buf, pos - 1)
                    if n26 == 0:
                        o1.cluster_id = None
                    else:
                        e27: i64 = pos + n26 - 1
                        o1.cluster_id = text_at(buf, pos, e27)
                        pos = e27
                elif t23 == 1:
                    o28_replica_id = int32_at(buf, pos)
                    o28_replica_epoch = int64_at(buf, pos + 4)
                    n29: i64 = buf[pos + 12]
                    pos += 13
                    o1.replica_state = o28 = ReplicaState(replica_id=o28_replica_id, replica_epoch=o28_replica_epoch)
                    if n29:
                        o28.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                        left -= len(o28.unknown_tagged_fields)
                        check_count(len(o28.unknown_tagged_fields), left)
                else:
                    d25, pos = read_raw_field(buf, pos, s24)
                    u22.append((t23, d25))
            o1.unknown_tagged_fields = tuple(u22)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_17(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_max_wait_ms = int32_at(buf, pos)
        o1_min_bytes = int32_at(buf, pos + 4)
        o1_max_bytes = int32_at(buf, pos + 8)
        o1_isolation_level = int8_at(buf, pos + 12)
        o1_session_id = int32_at(buf, pos + 13)
        o1_session_epoch = int32_at(buf, pos + 17)
        n2: i64 = buf[pos + 21]
        pos += 22
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 18 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            if pos + 17 > end:
                raise IndexError
            o6_topic_id = buf[pos : pos + 16]
            n7: i64 = buf[pos + 16]
            pos += 17
            if n7 > 127:
                n7, pos = long_length(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            n7 -= 1
            if n7 * 33 > end - pos:
                raise IndexError
            left -= n7
            check_count(n7, left)
            l8: list[Any] = []
            o6_partitions = l8
            for _ in range(n7):
                o11_partition = int32_at(buf, pos)
                o11_current_leader_epoch = int32_at(buf, pos + 4)
                o11_fetch_offset = int64_at(buf, pos + 8)
                o11_last_fetched_epoch = int32_at(buf, pos + 16)
                o11_log_start_offset = int64_at(buf, pos + 20)
                o11_partition_max_bytes = int32_at(buf, pos + 28)
                n12: i64 = buf[pos + 32]
                pos += 33
                v10 = o11 = FetchPartition(
                    partition=o11_partition,
                    current_leader_epoch=o11_current_leader_epoch,
                    fetch_offset=o11_fetch_offset,
                    last_fetched_epoch=o11_last_fetched_epoch,
                    log_start_offset=o11_log_start_offset,
                    partition_max_bytes=o11_partition_max_bytes,
                )
                if n12:
                    if n12 > 127:
                        n12, pos = read_uvarint(buf, pos - 1)
                        checked_tags(n12)
                    left -= n12
                    check_count(n12, left)
                    u13: list[tuple[int, bytes]] = []
                    for _ in range(n12):
                        t14, s15, pos = read_tagged_field(buf, pos)
                        if t14 == 0:
                            if pos + 16 > end:
                                raise IndexError
                            o11.replica_directory_id = buf[pos : pos + 16]
                            pos += 16
                        else:
                            d16, pos = read_raw_field(buf, pos, s15)
                            u13.append((t14, d16))
                    o11.unknown_tagged_fields = tuple(u13)
                l8.append(v10)
            v5 = o6 = FetchTopic(topic_id=o6_topic_id, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        n17: i64 = buf[pos]
        pos += 1
        if n17 > 127:
            n17, pos = long_length(buf, pos - 1)
        if n17 == 0:
            raise IndexError
        n17 -= 1
        if n17 * 18 > end - pos:
            raise IndexError
        left -= n17
        check_count(n17, left)
        l18: list[Any] = []
        o1_forgotten_topics_data = l18
        for _ in range(n17):
            if pos + 17 > end:
                raise IndexError
            o21_topic_id = buf[pos : pos + 16]
            n22: i64 = buf[pos + 16]
            pos += 17
            if n22 > 127:
                n22, pos = long_length(buf, pos - 1)
            if n22 == 0:
                raise IndexError
            left -= n22 - 1
            check_count(n22 - 1, left)
            if n22 < 9:
                o21_partitions = list(unpack_from__l[n22 - 1](buf, pos))
            else:
                o21_partitions = list(unpack_from(f">{n22 - 1}l", buf, pos))
            pos += n22 * 4 - 4
            v20 = o21 = ForgottenTopic(topic_id=o21_topic_id, partitions=o21_partitions)
            if buf[pos]:
                o21.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o21.unknown_tagged_fields)
                check_count(len(o21.unknown_tagged_fields), left)
            else:
                pos += 1
            l18.append(v20)
        n23: i64 = buf[pos]
        pos += 1
        if n23 > 127:
            n23, pos = long_string(buf, pos - 1)
        if n23 == 0:
            raise IndexError
        e24: i64 = pos + n23 - 1
        o1_rack_id = text_at(buf, pos, e24)
        pos = e24
        n25: i64 = buf[pos]
        pos += 1
        message = o1 = FetchRequest(
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        if n25:
            if n25 > 127:
                n25, pos = read_uvarint(buf, pos - 1)
                checked_tags(n25)
            left -= n25
            check_count(n25, left)
            u26: list[tuple[int, bytes]] = []
            for _ in range(n25):
                t27, s28, pos = read_tagged_field(buf, pos)
                if t27 == 0:
                    n30: i64 = buf[pos]
                    pos += 1
                    if n30 > 127:
                        n30, pos = long_string(buf, pos - 1)
                    if n30 == 0:
                        o1.cluster_id = None
                    else:
                        e31: i64 = pos + n30 - 1
                        o1.cluster_id = text_at(buf, pos, e31)
                        pos = e31
                elif t27 == 1:
                    o32_replica_id = int32_at(buf, pos)
                    o32_replica_epoch = int64_at(buf, pos + 4)
                    n33: i64 = buf[pos + 12]
                    pos += 13
                    o1.replica_state = o32 = ReplicaState(replica_id=o32_replica_id, replica_epoch=o32_replica_epoch)
                    if n33:
                        o32.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                        left -= len(o32.unknown_tagged_fields)
                        check_count(len(o32.unknown_tagged_fields), left)
                else:
                    d29, pos = read_raw_field(buf, pos, s28)
                    u26.append((t27, d29))
            o1.unknown_tagged_fields = tuple(u26)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def decode_fetch_request_18(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[FetchRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_max_wait_ms = int32_at(buf, pos)
        o1_min_bytes = int32_at(buf, pos + 4)
        o1_max_bytes = int32_at(buf, pos + 8)
        o1_isolation_level = int8_at(buf, pos + 12)
        o1_session_id = int32_at(buf, pos + 13)
        o1_session_epoch = int32_at(buf, pos + 17)
        n2: i64 = buf[pos + 21]
        pos += 22
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 18 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topics = l3
        for _ in range(n2):
            if pos + 17 > end:
                raise IndexError
            o6_topic_id = buf[pos : pos + 16]
            n7: i64 = buf[pos + 16]
            pos += 17
            if n7 > 127:
                n7, pos = long_length(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            n7 -= 1
            if n7 * 33 > end - pos:
                raise IndexError
            left -= n7
            check_count(n7, left)
            l8: list[Any] = []
            o6_partitions = l8
            for _ in range(n7):
                o11_partition = int32_at(buf, pos)
                o11_current_leader_epoch = int32_at(buf, pos + 4)
                o11_fetch_offset = int64_at(buf, pos + 8)
                o11_last_fetched_epoch = int32_at(buf, pos + 16)
                o11_log_start_offset = int64_at(buf, pos + 20)
                o11_partition_max_bytes = int32_at(buf, pos + 28)
                n12: i64 = buf[pos + 32]
                pos += 33
                v10 = o11 = FetchPartition(
                    partition=o11_partition,
                    current_leader_epoch=o11_current_leader_epoch,
                    fetch_offset=o11_fetch_offset,
                    last_fetched_epoch=o11_last_fetched_epoch,
                    log_start_offset=o11_log_start_offset,
                    partition_max_bytes=o11_partition_max_bytes,
                )
                if n12:
                    if n12 > 127:
                        n12, pos = read_uvarint(buf, pos - 1)
                        checked_tags(n12)
                    left -= n12
                    check_count(n12, left)
                    u13: list[tuple[int, bytes]] = []
                    for _ in range(n12):
                        t14, s15, pos = read_tagged_field(buf, pos)
                        if t14 == 0:
                            if pos + 16 > end:
                                raise IndexError
                            o11.replica_directory_id = buf[pos : pos + 16]
                            pos += 16
                        elif t14 == 1:
                            o11.high_watermark = int64_at(buf, pos)
                            pos += 8
                        else:
                            d16, pos = read_raw_field(buf, pos, s15)
                            u13.append((t14, d16))
                    o11.unknown_tagged_fields = tuple(u13)
                l8.append(v10)
            v5 = o6 = FetchTopic(topic_id=o6_topic_id, partitions=o6_partitions)
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        n17: i64 = buf[pos]
        pos += 1
        if n17 > 127:
            n17, pos = long_length(buf, pos - 1)
        if n17 == 0:
            raise IndexError
        n17 -= 1
        if n17 * 18 > end - pos:
            raise IndexError
        left -= n17
        check_count(n17, left)
        l18: list[Any] = []
        o1_forgotten_topics_data = l18
        for _ in range(n17):
            if pos + 17 > end:
                raise IndexError
            o21_topic_id = buf[pos : pos + 16]
            n22: i64 = buf[pos + 16]
            pos += 17
            if n22 > 127:
                n22, pos = long_length(buf, pos - 1)
            if n22 == 0:
                raise IndexError
            left -= n22 - 1
            check_count(n22 - 1, left)
            if n22 < 9:
                o21_partitions = list(unpack_from__l[n22 - 1](buf, pos))
            else:
                o21_partitions = list(unpack_from(f">{n22 - 1}l", buf, pos))
            pos += n22 * 4 - 4
            v20 = o21 = ForgottenTopic(topic_id=o21_topic_id, partitions=o21_partitions)
            if buf[pos]:
                o21.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o21.unknown_tagged_fields)
                check_count(len(o21.unknown_tagged_fields), left)
            else:
                pos += 1
            l18.append(v20)
        n23: i64 = buf[pos]
        pos += 1
        if n23 > 127:
            n23, pos = long_string(buf, pos - 1)
        if n23 == 0:
            raise IndexError
        e24: i64 = pos + n23 - 1
        o1_rack_id = text_at(buf, pos, e24)
        pos = e24
        n25: i64 = buf[pos]
        pos += 1
        message = o1 = FetchRequest(
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            isolation_level=o1_isolation_level,
            session_id=o1_session_id,
            session_epoch=o1_session_epoch,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
            rack_id=o1_rack_id,
        )
        if n25:
            if n25 > 127:
                n25, pos = read_uvarint(buf, pos - 1)
                checked_tags(n25)
            left -= n25
            check_count(n25, left)
            u26: list[tuple[int, bytes]] = []
            for _ in range(n25):
                t27, s28, pos = read_tagged_field(buf, pos)
                if t27 == 0:
                    n30: i64 = buf[pos]
                    pos += 1
                    if n30 > 127:
                        n30, pos = long_string(buf, pos - 1)
                    if n30 == 0:
                        o1.cluster_id = None
                    else:
                        e31: i64 = pos + n30 - 1
                        o1.cluster_id = text_at(buf, pos, e31)
                        pos = e31
                elif t27 == 1:
                    o32_replica_id = int32_at(buf, pos)
                    o32_replica_epoch = int64_at(buf, pos + 4)
                    n33: i64 = buf[pos + 12]
                    pos += 13
                    o1.replica_state = o32 = ReplicaState(replica_id=o32_replica_id, replica_epoch=o32_replica_epoch)
                    if n33:
                        o32.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
                        left -= len(o32.unknown_tagged_fields)
                        check_count(len(o32.unknown_tagged_fields), left)
                else:
                    d29, pos = read_raw_field(buf, pos, s28)
                    u26.append((t27, d29))
            o1.unknown_tagged_fields = tuple(u26)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(FetchRequest, version, data, offset, most)


def encode_fetch_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.session_id != 0:
            refuse()
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                if v8.preferred_read_replica != -1:
                    refuse()
                b12: Any = v8.records
                if b12 is None:
                    n13: i64 = -1
                    b12 = b""
                else:
                    if type(b12) is list or type(b12) is tuple:
                        n13 = sum(map(len, b12))
                    else:
                        n13 = len(b12)
                out.append(pack_lhql(v8.partition_index, v8.error_code, v8.high_watermark, n13))
                if n13 > 4096 or type(b12) is list or type(b12) is tuple:
                    put_records(parts, out, b12, n13)
                else:
                    out.append(b12)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.session_id != 0:
            refuse()
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_ll(m.throttle_time_ms, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                if v8.preferred_read_replica != -1:
                    refuse()
                b12: Any = v8.records
                if b12 is None:
                    n13: i64 = -1
                    b12 = b""
                else:
                    if type(b12) is list or type(b12) is tuple:
                        n13 = sum(map(len, b12))
                    else:
                        n13 = len(b12)
                out.append(pack_lhql(v8.partition_index, v8.error_code, v8.high_watermark, n13))
                if n13 > 4096 or type(b12) is list or type(b12) is tuple:
                    put_records(parts, out, b12, n13)
                else:
                    out.append(b12)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.session_id != 0:
            refuse()
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_ll(m.throttle_time_ms, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                if v8.preferred_read_replica != -1:
                    refuse()
                l12 = v8.aborted_transactions
                if l12 is None:
                    n13: i64 = -1
                    l12 = []
                else:
                    n13 = len(l12)
                out.append(pack_lhqql(v8.partition_index, v8.error_code, v8.high_watermark, v8.last_stable_offset, n13))
                for v14 in l12:
                    if v14.unknown_tagged_fields:
                        refuse()
                    out.append(pack_qq(v14.producer_id, v14.first_offset))
                b15: Any = v8.records
                if b15 is None:
                    n16: i64 = -1
                    b15 = b""
                else:
                    if type(b15) is list or type(b15) is tuple:
                        n16 = sum(map(len, b15))
                    else:
                        n16 = len(b15)
                out.append(pack_l(n16))
                if n16 > 4096 or type(b15) is list or type(b15) is tuple:
                    put_records(parts, out, b15, n16)
                else:
                    out.append(b15)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_5(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.session_id != 0:
            refuse()
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_ll(m.throttle_time_ms, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                if v8.preferred_read_replica != -1:
                    refuse()
                l12 = v8.aborted_transactions
                if l12 is None:
                    n13: i64 = -1
                    l12 = []
                else:
                    n13 = len(l12)
                out.append(
                    pack_lhqqql(
                        v8.partition_index,
                        v8.error_code,
                        v8.high_watermark,
                        v8.last_stable_offset,
                        v8.log_start_offset,
                        n13,
                    )
                )
                for v14 in l12:
                    if v14.unknown_tagged_fields:
                        refuse()
                    out.append(pack_qq(v14.producer_id, v14.first_offset))
                b15: Any = v8.records
                if b15 is None:
                    n16: i64 = -1
                    b15 = b""
                else:
                    if type(b15) is list or type(b15) is tuple:
                        n16 = sum(map(len, b15))
                    else:
                        n16 = len(b15)
                out.append(pack_l(n16))
                if n16 > 4096 or type(b15) is list or type(b15) is tuple:
                    put_records(parts, out, b15, n16)
                else:
                    out.append(b15)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_7(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_lhll(m.throttle_time_ms, m.error_code, m.session_id, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                if v8.preferred_read_replica != -1:
                    refuse()
                l12 = v8.aborted_transactions
                if l12 is None:
                    n13: i64 = -1
                    l12 = []
                else:
                    n13 = len(l12)
                out.append(
                    pack_lhqqql(
                        v8.partition_index,
                        v8.error_code,
                        v8.high_watermark,
                        v8.last_stable_offset,
                        v8.log_start_offset,
                        n13,
                    )
                )
                for v14 in l12:
                    if v14.unknown_tagged_fields:
                        refuse()
                    out.append(pack_qq(v14.producer_id, v14.first_offset))
                b15: Any = v8.records
                if b15 is None:
                    n16: i64 = -1
                    b15 = b""
                else:
                    if type(b15) is list or type(b15) is tuple:
                        n16 = sum(map(len, b15))
                    else:
                        n16 = len(b15)
                out.append(pack_l(n16))
                if n16 > 4096 or type(b15) is list or type(b15) is tuple:
                    put_records(parts, out, b15, n16)
                else:
                    out.append(b15)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_11(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_lhll(m.throttle_time_ms, m.error_code, m.session_id, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.diverging_epoch) is None
                    or s9.unknown_tagged_fields
                    or s9.epoch != -1
                    or s9.end_offset != -1
                ):
                    refuse()
                if (
                    (s10 := v8.current_leader) is None
                    or s10.unknown_tagged_fields
                    or s10.leader_id != -1
                    or s10.leader_epoch != -1
                ):
                    refuse()
                if (
                    (s11 := v8.snapshot_id) is None
                    or s11.unknown_tagged_fields
                    or s11.end_offset != -1
                    or s11.epoch != -1
                ):
                    refuse()
                l12 = v8.aborted_transactions
                if l12 is None:
                    n13: i64 = -1
                    l12 = []
                else:
                    n13 = len(l12)
                out.append(
                    pack_lhqqql(
                        v8.partition_index,
                        v8.error_code,
                        v8.high_watermark,
                        v8.last_stable_offset,
                        v8.log_start_offset,
                        n13,
                    )
                )
                for v14 in l12:
                    if v14.unknown_tagged_fields:
                        refuse()
                    out.append(pack_qq(v14.producer_id, v14.first_offset))
                b15: Any = v8.records
                if b15 is None:
                    n16: i64 = -1
                    b15 = b""
                else:
                    if type(b15) is list or type(b15) is tuple:
                        n16 = sum(map(len, b15))
                    else:
                        n16 = len(b15)
                out.append(pack_ll(v8.preferred_read_replica, n16))
                if n16 > 4096 or type(b15) is list or type(b15) is tuple:
                    put_records(parts, out, b15, n16)
                else:
                    out.append(b15)
                if v8.unknown_tagged_fields:
                    refuse()
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_12(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(
            pack_lhlB(m.throttle_time_ms, m.error_code, m.session_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.session_id) + encode_uvarint(n2)
        )
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                l9 = v8.aborted_transactions
                if l9 is None:
                    n10: i64 = 0
                    l9 = []
                else:
                    n10 = len(l9) + 1
                out.append(
                    pack_lhqqqB(
                        v8.partition_index,
                        v8.error_code,
                        v8.high_watermark,
                        v8.last_stable_offset,
                        v8.log_start_offset,
                        n10,
                    )
                    if n10 < 128
                    else pack_lhqqq(
                        v8.partition_index, v8.error_code, v8.high_watermark, v8.last_stable_offset, v8.log_start_offset
                    )
                    + encode_uvarint(n10)
                )
                for v11 in l9:
                    out.append(
                        pack_qqB(v11.producer_id, v11.first_offset, 0)
                        if not v11.unknown_tagged_fields
                        else pack_qq(v11.producer_id, v11.first_offset)
                        + encode_tagged_section((), v11.unknown_tagged_fields)
                    )
                b12: Any = v8.records
                if b12 is None:
                    n13: i64 = 0
                    b12 = b""
                else:
                    if type(b12) is list or type(b12) is tuple:
                        n13 = sum(map(len, b12)) + 1
                    else:
                        n13 = len(b12) + 1
                out.append(
                    pack_lB(v8.preferred_read_replica, n13)
                    if n13 < 128
                    else pack_l(v8.preferred_read_replica) + encode_uvarint(n13)
                )
                if n13 > 4096 or type(b12) is list or type(b12) is tuple:
                    put_records(parts, out, b12, n13)
                else:
                    out.append(b12)
                t14: tuple[tuple[int, bytes], ...] = ()
                if (
                    (s15 := v8.diverging_epoch) is None
                    or s15.unknown_tagged_fields
                    or s15.epoch != -1
                    or s15.end_offset != -1
                ):
                    w16: list[bytes] = []
                    o17 = v8.diverging_epoch
                    w16.append(
                        pack_lqB(o17.epoch, o17.end_offset, 0)
                        if not o17.unknown_tagged_fields
                        else pack_lq(o17.epoch, o17.end_offset) + encode_tagged_section((), o17.unknown_tagged_fields)
                    )
                    t14 += ((0, b"".join(w16)),)
                if (
                    (s18 := v8.current_leader) is None
                    or s18.unknown_tagged_fields
                    or s18.leader_id != -1
                    or s18.leader_epoch != -1
                ):
                    w19: list[bytes] = []
                    o20 = v8.current_leader
                    w19.append(
                        pack_llB(o20.leader_id, o20.leader_epoch, 0)
                        if not o20.unknown_tagged_fields
                        else pack_ll(o20.leader_id, o20.leader_epoch)
                        + encode_tagged_section((), o20.unknown_tagged_fields)
                    )
                    t14 += ((1, b"".join(w19)),)
                if (
                    (s21 := v8.snapshot_id) is None
                    or s21.unknown_tagged_fields
                    or s21.end_offset != -1
                    or s21.epoch != -1
                ):
                    w22: list[bytes] = []
                    o23 = v8.snapshot_id
                    w22.append(
                        pack_qlB(o23.end_offset, o23.epoch, 0)
                        if not o23.unknown_tagged_fields
                        else pack_ql(o23.end_offset, o23.epoch) + encode_tagged_section((), o23.unknown_tagged_fields)
                    )
                    t14 += ((2, b"".join(w22)),)
                out.append(
                    BYTE[0]
                    if not (t14 or v8.unknown_tagged_fields)
                    else encode_tagged_section(t14, v8.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_13(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(
            pack_lhlB(m.throttle_time_ms, m.error_code, m.session_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.session_id) + encode_uvarint(n2)
        )
        for v3 in l1:
            u4 = v3.topic_id
            l5 = v3.partitions
            n6: i64 = len(l5) + 1
            out.append(
                pack_16sB(u4 if len(u4) == 16 else refuse(), n6)
                if n6 < 128
                else pack_16s(u4 if len(u4) == 16 else refuse()) + encode_uvarint(n6)
            )
            for v7 in l5:
                l8 = v7.aborted_transactions
                if l8 is None:
                    n9: i64 = 0
                    l8 = []
                else:
                    n9 = len(l8) + 1
                out.append(
                    pack_lhqqqB(
                        v7.partition_index,
                        v7.error_code,
                        v7.high_watermark,
                        v7.last_stable_offset,
                        v7.log_start_offset,
                        n9,
                    )
                    if n9 < 128
                    else pack_lhqqq(
                        v7.partition_index, v7.error_code, v7.high_watermark, v7.last_stable_offset, v7.log_start_offset
                    )
                    + encode_uvarint(n9)
                )
                for v10 in l8:
                    out.append(
                        pack_qqB(v10.producer_id, v10.first_offset, 0)
                        if not v10.unknown_tagged_fields
                        else pack_qq(v10.producer_id, v10.first_offset)
                        + encode_tagged_section((), v10.unknown_tagged_fields)
                    )
                b11: Any = v7.records
                if b11 is None:
                    n12: i64 = 0
                    b11 = b""
                else:
                    if type(b11) is list or type(b11) is tuple:
                        n12 = sum(map(len, b11)) + 1
                    else:
                        n12 = len(b11) + 1
                out.append(
                    pack_lB(v7.preferred_read_replica, n12)
                    if n12 < 128
                    else pack_l(v7.preferred_read_replica) + encode_uvarint(n12)
                )
                if n12 > 4096 or type(b11) is list or type(b11) is tuple:
                    put_records(parts, out, b11, n12)
                else:
                    out.append(b11)
                t13: tuple[tuple[int, bytes], ...] = ()
                if (
                    (s14 := v7.diverging_epoch) is None
                    or s14.unknown_tagged_fields
                    or s14.epoch != -1
                    or s14.end_offset != -1
                ):
                    w15: list[bytes] = []
                    o16 = v7.diverging_epoch
                    w15.append(
                        pack_lqB(o16.epoch, o16.end_offset, 0)
                        if not o16.unknown_tagged_fields
                        else pack_lq(o16.epoch, o16.end_offset) + encode_tagged_section((), o16.unknown_tagged_fields)
                    )
                    t13 += ((0, b"".join(w15)),)
                if (
                    (s17 := v7.current_leader) is None
                    or s17.unknown_tagged_fields
                    or s17.leader_id != -1
                    or s17.leader_epoch != -1
                ):
                    w18: list[bytes] = []
                    o19 = v7.current_leader
                    w18.append(
                        pack_llB(o19.leader_id, o19.leader_epoch, 0)
                        if not o19.unknown_tagged_fields
                        else pack_ll(o19.leader_id, o19.leader_epoch)
                        + encode_tagged_section((), o19.unknown_tagged_fields)
                    )
                    t13 += ((1, b"".join(w18)),)
                if (
                    (s20 := v7.snapshot_id) is None
                    or s20.unknown_tagged_fields
                    or s20.end_offset != -1
                    or s20.epoch != -1
                ):
                    w21: list[bytes] = []
                    o22 = v7.snapshot_id
                    w21.append(
                        pack_qlB(o22.end_offset, o22.epoch, 0)
                        if not o22.unknown_tagged_fields
                        else pack_ql(o22.end_offset, o22.epoch) + encode_tagged_section((), o22.unknown_tagged_fields)
                    )
                    t13 += ((2, b"".join(w21)),)
                out.append(
                    BYTE[0]
                    if not (t13 or v7.unknown_tagged_fields)
                    else encode_tagged_section(t13, v7.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


def encode_fetch_response_16(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: FetchResponse = message
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(
            pack_lhlB(m.throttle_time_ms, m.error_code, m.session_id, n2)
            if n2 < 128
            else pack_lhl(m.throttle_time_ms, m.error_code, m.session_id) + encode_uvarint(n2)
        )
        for v3 in l1:
            u4 = v3.topic_id
            l5 = v3.partitions
            n6: i64 = len(l5) + 1
            out.append(
                pack_16sB(u4 if len(u4) == 16 else refuse(), n6)
                if n6 < 128
                else pack_16s(u4 if len(u4) == 16 else refuse()) + encode_uvarint(n6)
            )
            for v7 in l5:
                l8 = v7.aborted_transactions
                if l8 is None:
                    n9: i64 = 0
                    l8 = []
                else:
                    n9 = len(l8) + 1
                out.append(
                    pack_lhqqqB(
                        v7.partition_index,
                        v7.error_code,
                        v7.high_watermark,
                        v7.last_stable_offset,
                        v7.log_start_offset,
                        n9,
                    )
                    if n9 < 128
                    else pack_lhqqq(
                        v7.partition_index, v7.error_code, v7.high_watermark, v7.last_stable_offset, v7.log_start_offset
                    )
                    + encode_uvarint(n9)
                )
                for v10 in l8:
                    out.append(
                        pack_qqB(v10.producer_id, v10.first_offset, 0)
                        if not v10.unknown_tagged_fields
                        else pack_qq(v10.producer_id, v10.first_offset)
                        + encode_tagged_section((), v10.unknown_tagged_fields)
                    )
                b11: Any = v7.records
                if b11 is None:
                    n12: i64 = 0
                    b11 = b""
                else:
                    if type(b11) is list or type(b11) is tuple:
                        n12 = sum(map(len, b11)) + 1
                    else:
                        n12 = len(b11) + 1
                out.append(
                    pack_lB(v7.preferred_read_replica, n12)
                    if n12 < 128
                    else pack_l(v7.preferred_read_replica) + encode_uvarint(n12)
                )
                if n12 > 4096 or type(b11) is list or type(b11) is tuple:
                    put_records(parts, out, b11, n12)
                else:
                    out.append(b11)
                t13: tuple[tuple[int, bytes], ...] = ()
                if (
                    (s14 := v7.diverging_epoch) is None
                    or s14.unknown_tagged_fields
                    or s14.epoch != -1
                    or s14.end_offset != -1
                ):
                    w15: list[bytes] = []
                    o16 = v7.diverging_epoch
                    w15.append(
                        pack_lqB(o16.epoch, o16.end_offset, 0)
                        if not o16.unknown_tagged_fields
                        else pack_lq(o16.epoch, o16.end_offset) + encode_tagged_section((), o16.unknown_tagged_fields)
                    )
                    t13 += ((0, b"".join(w15)),)
                if (
                    (s17 := v7.current_leader) is None
                    or s17.unknown_tagged_fields
                    or s17.leader_id != -1
                    or s17.leader_epoch != -1
                ):
                    w18: list[bytes] = []
                    o19 = v7.current_leader
                    w18.append(
                        pack_llB(o19.leader_id, o19.leader_epoch, 0)
                        if not o19.unknown_tagged_fields
                        else pack_ll(o19.leader_id, o19.leader_epoch)
                        + encode_tagged_section((), o19.unknown_tagged_fields)
                    )
                    t13 += ((1, b"".join(w18)),)
                if (
                    (s20 := v7.snapshot_id) is None
                    or s20.unknown_tagged_fields
                    or s20.end_offset != -1
                    or s20.epoch != -1
                ):
                    w21: list[bytes] = []
                    o22 = v7.snapshot_id
                    w21.append(
                        pack_qlB(o22.end_offset, o22.epoch, 0)
                        if not o22.unknown_tagged_fields
                        else pack_ql(o22.end_offset, o22.epoch) + encode_tagged_section((), o22.unknown_tagged_fields)
                    )
                    t13 += ((2, b"".join(w21)),)
                out.append(
                    BYTE[0]
                    if not (t13 or v7.unknown_tagged_fields)
                    else encode_tagged_section(t13, v7.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        t23: tuple[tuple[int, bytes], ...] = ()
        if m.node_endpoints is None or len(m.node_endpoints):
            w24: list[bytes] = []
            l25 = m.node_endpoints
            n26: i64 = len(l25) + 1
            w24.append(BYTE[n26] if n26 < 128 else encode_uvarint(n26))
            for v27 in l25:
                b28 = v27.host.encode()
                n29: i64 = len(b28) + 1
                if n29 > 32768:
                    refuse()
                s32 = v27.rack
                if s32 is None:
                    n31: i64 = 0
                    b30 = b""
                else:
                    b30 = s32.encode()
                    n31 = len(b30) + 1
                    if n31 > 32768:
                        refuse()
                w24 += (
                    pack_lB(v27.node_id, n29) if n29 < 128 else pack_l(v27.node_id) + encode_uvarint(n29),
                    b28,
                    pack_lB(v27.port, n31) if n31 < 128 else pack_l(v27.port) + encode_uvarint(n31),
                    b30,
                    BYTE[0] if not v27.unknown_tagged_fields else encode_tagged_section((), v27.unknown_tagged_fields),
                )
            t23 += ((0, b"".join(w24)),)
        out.append(
            BYTE[0] if not (t23 or m.unknown_tagged_fields) else encode_tagged_section(t23, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(FetchResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "FetchRequest": {
        0: decode_fetch_request_0,
        3: decode_fetch_request_3,
        4: decode_fetch_request_4,
        5: decode_fetch_request_5,
        7: decode_fetch_request_7,
        9: decode_fetch_request_9,
        11: decode_fetch_request_11,
        12: decode_fetch_request_12,
        13: decode_fetch_request_13,
        15: decode_fetch_request_15,
        17: decode_fetch_request_17,
        18: decode_fetch_request_18,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "FetchResponse": {
        0: encode_fetch_response_0,
        1: encode_fetch_response_1,
        4: encode_fetch_response_4,
        5: encode_fetch_response_5,
        7: encode_fetch_response_7,
        11: encode_fetch_response_11,
        12: encode_fetch_response_12,
        13: encode_fetch_response_13,
        16: encode_fetch_response_16,
    },
}
