# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.txn_offset_commit`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int16_at,
    int32_at,
    int64_at,
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_16s: Final = Struct(">16s").pack
pack_16sB: Final = Struct(">16sB").pack
pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_ll: Final = Struct(">ll").pack


def decode_txn_offset_commit_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TxnOffsetCommitRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2 = int16_at(buf, pos)
        pos += 2
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        n4 = int16_at(buf, pos)
        pos += 2
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        n6 = int32_at(buf, pos + 10)
        pos += 14
        if n6 < 0:
            raise IndexError
        if n6 * 6 > end - pos:
            raise IndexError
        left -= n6
        check_count(n6, left)
        l7: list[Any] = []
        o1_topics = l7
        for _ in range(n6):
            n11 = int16_at(buf, pos)
            pos += 2
            if n11 < 0:
                raise IndexError
            e12: i64 = pos + n11
            o10_name = text_at(buf, pos, e12)
            pos = e12
            n13 = int32_at(buf, pos)
            pos += 4
            if n13 < 0:
                raise IndexError
            if n13 * 14 > end - pos:
                raise IndexError
            left -= n13
            check_count(n13, left)
            l14: list[Any] = []
            o10_partitions = l14
            for _ in range(n13):
                o17_partition_index = int32_at(buf, pos)
                o17_committed_offset = int64_at(buf, pos + 4)
                n18 = int16_at(buf, pos + 12)
                pos += 14
                if n18 < 0:
                    o17_committed_metadata = None
                else:
                    e19: i64 = pos + n18
                    o17_committed_metadata = text_at(buf, pos, e19)
                    pos = e19
                v16 = TxnOffsetCommitRequestPartition(
                    partition_index=o17_partition_index,
                    committed_offset=o17_committed_offset,
                    committed_metadata=o17_committed_metadata,
                )
                l14.append(v16)
            v9 = TxnOffsetCommitRequestTopic(name=o10_name, partitions=o10_partitions)
            l7.append(v9)
        message = TxnOffsetCommitRequest(
            transactional_id=o1_transactional_id,
            group_id=o1_group_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            topics=o1_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TxnOffsetCommitRequest, version, data, offset, most)


def decode_txn_offset_commit_request_2(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TxnOffsetCommitRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2 = int16_at(buf, pos)
        pos += 2
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        n4 = int16_at(buf, pos)
        pos += 2
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        n6 = int32_at(buf, pos + 10)
        pos += 14
        if n6 < 0:
            raise IndexError
        if n6 * 6 > end - pos:
            raise IndexError
        left -= n6
        check_count(n6, left)
        l7: list[Any] = []
        o1_topics = l7
        for _ in range(n6):
            n11 = int16_at(buf, pos)
            pos += 2
            if n11 < 0:
                raise IndexError
            e12: i64 = pos + n11
            o10_name = text_at(buf, pos, e12)
            pos = e12
            n13 = int32_at(buf, pos)
            pos += 4
            if n13 < 0:
                raise IndexError
            if n13 * 18 > end - pos:
                raise IndexError
            left -= n13
            check_count(n13, left)
            l14: list[Any] = []
            o10_partitions = l14
            for _ in range(n13):
                o17_partition_index = int32_at(buf, pos)
                o17_committed_offset = int64_at(buf, pos + 4)
                o17_committed_leader_epoch = int32_at(buf, pos + 12)
                n18 = int16_at(buf, pos + 16)
                pos += 18
                if n18 < 0:
                    o17_committed_metadata = None
                else:
                    e19: i64 = pos + n18
                    o17_committed_metadata = text_at(buf, pos, e19)
                    pos = e19
                v16 = TxnOffsetCommitRequestPartition(
                    partition_index=o17_partition_index,
                    committed_offset=o17_committed_offset,
                    committed_leader_epoch=o17_committed_leader_epoch,
                    committed_metadata=o17_committed_metadata,
                )
                l14.append(v16)
            v9 = TxnOffsetCommitRequestTopic(name=o10_name, partitions=o10_partitions)
            l7.append(v9)
        message = TxnOffsetCommitRequest(
            transactional_id=o1_transactional_id,
            group_id=o1_group_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            topics=o1_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TxnOffsetCommitRequest, version, data, offset, most)


def decode_txn_offset_commit_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TxnOffsetCommitRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        e3: i64 = pos + n2 - 1
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        o1_generation_id_or_member_epoch = int32_at(buf, pos + 10)
        n6: i64 = buf[pos + 14]
        pos += 15
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            raise IndexError
        e7: i64 = pos + n6 - 1
        o1_member_id = text_at(buf, pos, e7)
        pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            o1_group_instance_id = None
        else:
            e9: i64 = pos + n8 - 1
            o1_group_instance_id = text_at(buf, pos, e9)
            pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            raise IndexError
        n10 -= 1
        if n10 * 3 > end - pos:
            raise IndexError
        left -= n10
        check_count(n10, left)
        l11: list[Any] = []
        o1_topics = l11
        for _ in range(n10):
            n15: i64 = buf[pos]
            pos += 1
            if n15 > 127:
                n15, pos = long_string(buf, pos - 1)
            if n15 == 0:
                raise IndexError
            e16: i64 = pos + n15 - 1
            o14_name = text_at(buf, pos, e16)
            pos = e16
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
            o14_partitions = l18
            for _ in range(n17):
                o21_partition_index = int32_at(buf, pos)
                o21_committed_offset = int64_at(buf, pos + 4)
                o21_committed_leader_epoch = int32_at(buf, pos + 12)
                n22: i64 = buf[pos + 16]
                pos += 17
                if n22 > 127:
                    n22, pos = long_string(buf, pos - 1)
                if n22 == 0:
                    o21_committed_metadata = None
                else:
                    e23: i64 = pos + n22 - 1
                    o21_committed_metadata = text_at(buf, pos, e23)
                    pos = e23
                v20 = o21 = TxnOffsetCommitRequestPartition(
                    partition_index=o21_partition_index,
                    committed_offset=o21_committed_offset,
                    committed_leader_epoch=o21_committed_leader_epoch,
                    committed_metadata=o21_committed_metadata,
                )
                if buf[pos]:
                    o21.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o21.unknown_tagged_fields)
                    check_count(len(o21.unknown_tagged_fields), left)
                else:
                    pos += 1
                l18.append(v20)
            v13 = o14 = TxnOffsetCommitRequestTopic(name=o14_name, partitions=o14_partitions)
            if buf[pos]:
                o14.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o14.unknown_tagged_fields)
                check_count(len(o14.unknown_tagged_fields), left)
            else:
                pos += 1
            l11.append(v13)
        message = o1 = TxnOffsetCommitRequest(
            transactional_id=o1_transactional_id,
            group_id=o1_group_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            generation_id_or_member_epoch=o1_generation_id_or_member_epoch,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            topics=o1_topics,
        )
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TxnOffsetCommitRequest, version, data, offset, most)


def decode_txn_offset_commit_request_6(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TxnOffsetCommitRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        e3: i64 = pos + n2 - 1
        o1_transactional_id = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_group_id = text_at(buf, pos, e5)
        pos = e5
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        o1_generation_id_or_member_epoch = int32_at(buf, pos + 10)
        n6: i64 = buf[pos + 14]
        pos += 15
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            raise IndexError
        e7: i64 = pos + n6 - 1
        o1_member_id = text_at(buf, pos, e7)
        pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            o1_group_instance_id = None
        else:
            e9: i64 = pos + n8 - 1
            o1_group_instance_id = text_at(buf, pos, e9)
            pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            raise IndexError
        n10 -= 1
        if n10 * 18 > end - pos:
            raise IndexError
        left -= n10
        check_count(n10, left)
        l11: list[Any] = []
        o1_topics = l11
        for _ in range(n10):
            if pos + 17 > end:
                raise IndexError
            o14_topic_id = buf[pos : pos + 16]
            n15: i64 = buf[pos + 16]
            pos += 17
            if n15 > 127:
                n15, pos = long_length(buf, pos - 1)
            if n15 == 0:
                raise IndexError
            n15 -= 1
            if n15 * 18 > end - pos:
                raise IndexError
            left -= n15
            check_count(n15, left)
            l16: list[Any] = []
            o14_partitions = l16
            for _ in range(n15):
                o19_partition_index = int32_at(buf, pos)
                o19_committed_offset = int64_at(buf, pos + 4)
                o19_committed_leader_epoch = int32_at(buf, pos + 12)
                n20: i64 = buf[pos + 16]
                pos += 17
                if n20 > 127:
                    n20, pos = long_string(buf, pos - 1)
                if n20 == 0:
                    o19_committed_metadata = None
                else:
                    e21: i64 = pos + n20 - 1
                    o19_committed_metadata = text_at(buf, pos, e21)
                    pos = e21
                v18 = o19 = TxnOffsetCommitRequestPartition(
                    partition_index=o19_partition_index,
                    committed_offset=o19_committed_offset,
                    committed_leader_epoch=o19_committed_leader_epoch,
                    committed_metadata=o19_committed_metadata,
                )
                if buf[pos]:
                    o19.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o19.unknown_tagged_fields)
                    check_count(len(o19.unknown_tagged_fields), left)
                else:
                    pos += 1
                l16.append(v18)
            v13 = o14 = TxnOffsetCommitRequestTopic(topic_id=o14_topic_id, partitions=o14_partitions)
            if buf[pos]:
                o14.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o14.unknown_tagged_fields)
                check_count(len(o14.unknown_tagged_fields), left)
            else:
                pos += 1
            l11.append(v13)
        message = o1 = TxnOffsetCommitRequest(
            transactional_id=o1_transactional_id,
            group_id=o1_group_id,
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            generation_id_or_member_epoch=o1_generation_id_or_member_epoch,
            member_id=o1_member_id,
            group_instance_id=o1_group_instance_id,
            topics=o1_topics,
        )
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TxnOffsetCommitRequest, version, data, offset, most)


def encode_txn_offset_commit_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TxnOffsetCommitResponse = message
        l1 = m.topics
        n2: i64 = len(l1)
        out.append(pack_ll(m.throttle_time_ms, n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(pack_lh(v8.partition_index, v8.error_code))
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TxnOffsetCommitResponse, version, message, error) from None


def encode_txn_offset_commit_response_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TxnOffsetCommitResponse = message
        l1 = m.topics
        n2: i64 = len(l1) + 1
        out.append(pack_lB(m.throttle_time_ms, n2) if n2 < 128 else pack_l(m.throttle_time_ms) + encode_uvarint(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.partitions
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                out.append(
                    pack_lhB(v8.partition_index, v8.error_code, 0)
                    if not v8.unknown_tagged_fields
                    else pack_lh(v8.partition_index, v8.error_code)
                    + encode_tagged_section((), v8.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TxnOffsetCommitResponse, version, message, error) from None


def encode_txn_offset_commit_response_6(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TxnOffsetCommitResponse = message
        l1 = m.topics
        n2: i64 = len(l1) + 1
        out.append(pack_lB(m.throttle_time_ms, n2) if n2 < 128 else pack_l(m.throttle_time_ms) + encode_uvarint(n2))
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
                out.append(
                    pack_lhB(v7.partition_index, v7.error_code, 0)
                    if not v7.unknown_tagged_fields
                    else pack_lh(v7.partition_index, v7.error_code)
                    + encode_tagged_section((), v7.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TxnOffsetCommitResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "TxnOffsetCommitRequest": {
        0: decode_txn_offset_commit_request_0,
        2: decode_txn_offset_commit_request_2,
        3: decode_txn_offset_commit_request_3,
        6: decode_txn_offset_commit_request_6,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "TxnOffsetCommitResponse": {
        0: encode_txn_offset_commit_response_0,
        3: encode_txn_offset_commit_response_3,
        6: encode_txn_offset_commit_response_6,
    },
}
