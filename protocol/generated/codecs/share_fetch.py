# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.share_fetch`. Generated from the constructs: do not edit.

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
from odradek.protocol.generated.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_16s: Final = Struct(">16s").pack
pack_16sB: Final = Struct(">16sB").pack
pack_h: Final = Struct(">h").pack
pack_hB: Final = Struct(">hB").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_ll: Final = Struct(">ll").pack
pack_llB: Final = Struct(">llB").pack
pack_qqh: Final = Struct(">qqh").pack
pack_qqhB: Final = Struct(">qqhB").pack
unpack_from__b: Final = [Struct(f">{count}b").unpack_from for count in range(9)]
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_share_fetch_request_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareFetchRequest, int]:
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
            o1_group_id = None
        else:
            e3: i64 = pos + n2 - 1
            o1_group_id = text_at(buf, pos, e3)
            pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            o1_member_id = None
        else:
            e5: i64 = pos + n4 - 1
            o1_member_id = text_at(buf, pos, e5)
            pos = e5
        o1_share_session_epoch = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_max_records = int32_at(buf, pos + 16)
        o1_batch_size = int32_at(buf, pos + 20)
        n6: i64 = buf[pos + 24]
        pos += 25
        if n6 > 127:
            n6, pos = long_length(buf, pos - 1)
        if n6 == 0:
            raise IndexError
        n6 -= 1
        if n6 * 18 > end - pos:
            raise IndexError
        left -= n6
        check_count(n6, left)
        l7: list[Any] = []
        o1_topics = l7
        for _ in range(n6):
            if pos + 17 > end:
                raise IndexError
            o10_topic_id = buf[pos : pos + 16]
            n11: i64 = buf[pos + 16]
            pos += 17
            if n11 > 127:
                n11, pos = long_length(buf, pos - 1)
            if n11 == 0:
                raise IndexError
            n11 -= 1
            if n11 * 6 > end - pos:
                raise IndexError
            left -= n11
            check_count(n11, left)
            l12: list[Any] = []
            o10_partitions = l12
            for _ in range(n11):
                o15_partition_index = int32_at(buf, pos)
                n16: i64 = buf[pos + 4]
                pos += 5
                if n16 > 127:
                    n16, pos = long_length(buf, pos - 1)
                if n16 == 0:
                    raise IndexError
                n16 -= 1
                if n16 * 18 > end - pos:
                    raise IndexError
                left -= n16
                check_count(n16, left)
                l17: list[Any] = []
                o15_acknowledgement_batches = l17
                for _ in range(n16):
                    o20_first_offset = int64_at(buf, pos)
                    o20_last_offset = int64_at(buf, pos + 8)
                    n21: i64 = buf[pos + 16]
                    pos += 17
                    if n21 > 127:
                        n21, pos = long_length(buf, pos - 1)
                    if n21 == 0:
                        raise IndexError
                    left -= n21 - 1
                    check_count(n21 - 1, left)
                    if n21 < 9:
                        o20_acknowledge_types = list(unpack_from__b[n21 - 1](buf, pos))
                    else:
                        o20_acknowledge_types = list(unpack_from(f">{n21 - 1}b", buf, pos))
                    pos += n21 * 1 - 1
                    v19 = o20 = AcknowledgementBatch(
                        first_offset=o20_first_offset,
                        last_offset=o20_last_offset,
                        acknowledge_types=o20_acknowledge_types,
                    )
                    if buf[pos]:
                        o20.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                        left -= len(o20.unknown_tagged_fields)
                        check_count(len(o20.unknown_tagged_fields), left)
                    else:
                        pos += 1
                    l17.append(v19)
                v14 = o15 = FetchPartition(
                    partition_index=o15_partition_index, acknowledgement_batches=o15_acknowledgement_batches
                )
                if buf[pos]:
                    o15.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o15.unknown_tagged_fields)
                    check_count(len(o15.unknown_tagged_fields), left)
                else:
                    pos += 1
                l12.append(v14)
            v9 = o10 = FetchTopic(topic_id=o10_topic_id, partitions=o10_partitions)
            if buf[pos]:
                o10.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o10.unknown_tagged_fields)
                check_count(len(o10.unknown_tagged_fields), left)
            else:
                pos += 1
            l7.append(v9)
        n22: i64 = buf[pos]
        pos += 1
        if n22 > 127:
            n22, pos = long_length(buf, pos - 1)
        if n22 == 0:
            raise IndexError
        n22 -= 1
        if n22 * 18 > end - pos:
            raise IndexError
        left -= n22
        check_count(n22, left)
        l23: list[Any] = []
        o1_forgotten_topics_data = l23
        for _ in range(n22):
            if pos + 17 > end:
                raise IndexError
            o26_topic_id = buf[pos : pos + 16]
            n27: i64 = buf[pos + 16]
            pos += 17
            if n27 > 127:
                n27, pos = long_length(buf, pos - 1)
            if n27 == 0:
                raise IndexError
            left -= n27 - 1
            check_count(n27 - 1, left)
            if n27 < 9:
                o26_partitions = list(unpack_from__l[n27 - 1](buf, pos))
            else:
                o26_partitions = list(unpack_from(f">{n27 - 1}l", buf, pos))
            pos += n27 * 4 - 4
            v25 = o26 = ForgottenTopic(topic_id=o26_topic_id, partitions=o26_partitions)
            if buf[pos]:
                o26.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o26.unknown_tagged_fields)
                check_count(len(o26.unknown_tagged_fields), left)
            else:
                pos += 1
            l23.append(v25)
        message = o1 = ShareFetchRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            share_session_epoch=o1_share_session_epoch,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            max_records=o1_max_records,
            batch_size=o1_batch_size,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
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
    return decoded_again(ShareFetchRequest, version, data, offset, most)


def decode_share_fetch_request_2(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareFetchRequest, int]:
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
            o1_group_id = None
        else:
            e3: i64 = pos + n2 - 1
            o1_group_id = text_at(buf, pos, e3)
            pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            o1_member_id = None
        else:
            e5: i64 = pos + n4 - 1
            o1_member_id = text_at(buf, pos, e5)
            pos = e5
        o1_share_session_epoch = int32_at(buf, pos)
        o1_max_wait_ms = int32_at(buf, pos + 4)
        o1_min_bytes = int32_at(buf, pos + 8)
        o1_max_bytes = int32_at(buf, pos + 12)
        o1_max_records = int32_at(buf, pos + 16)
        o1_batch_size = int32_at(buf, pos + 20)
        o1_share_acquire_mode = int8_at(buf, pos + 24)
        o1_is_renew_ack = buf[pos + 25] != 0
        n6: i64 = buf[pos + 26]
        pos += 27
        if n6 > 127:
            n6, pos = long_length(buf, pos - 1)
        if n6 == 0:
            raise IndexError
        n6 -= 1
        if n6 * 18 > end - pos:
            raise IndexError
        left -= n6
        check_count(n6, left)
        l7: list[Any] = []
        o1_topics = l7
        for _ in range(n6):
            if pos + 17 > end:
                raise IndexError
            o10_topic_id = buf[pos : pos + 16]
            n11: i64 = buf[pos + 16]
            pos += 17
            if n11 > 127:
                n11, pos = long_length(buf, pos - 1)
            if n11 == 0:
                raise IndexError
            n11 -= 1
            if n11 * 6 > end - pos:
                raise IndexError
            left -= n11
            check_count(n11, left)
            l12: list[Any] = []
            o10_partitions = l12
            for _ in range(n11):
                o15_partition_index = int32_at(buf, pos)
                n16: i64 = buf[pos + 4]
                pos += 5
                if n16 > 127:
                    n16, pos = long_length(buf, pos - 1)
                if n16 == 0:
                    raise IndexError
                n16 -= 1
                if n16 * 18 > end - pos:
                    raise IndexError
                left -= n16
                check_count(n16, left)
                l17: list[Any] = []
                o15_acknowledgement_batches = l17
                for _ in range(n16):
                    o20_first_offset = int64_at(buf, pos)
                    o20_last_offset = int64_at(buf, pos + 8)
                    n21: i64 = buf[pos + 16]
                    pos += 17
                    if n21 > 127:
                        n21, pos = long_length(buf, pos - 1)
                    if n21 == 0:
                        raise IndexError
                    left -= n21 - 1
                    check_count(n21 - 1, left)
                    if n21 < 9:
                        o20_acknowledge_types = list(unpack_from__b[n21 - 1](buf, pos))
                    else:
                        o20_acknowledge_types = list(unpack_from(f">{n21 - 1}b", buf, pos))
                    pos += n21 * 1 - 1
                    v19 = o20 = AcknowledgementBatch(
                        first_offset=o20_first_offset,
                        last_offset=o20_last_offset,
                        acknowledge_types=o20_acknowledge_types,
                    )
                    if buf[pos]:
                        o20.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                        left -= len(o20.unknown_tagged_fields)
                        check_count(len(o20.unknown_tagged_fields), left)
                    else:
                        pos += 1
                    l17.append(v19)
                v14 = o15 = FetchPartition(
                    partition_index=o15_partition_index, acknowledgement_batches=o15_acknowledgement_batches
                )
                if buf[pos]:
                    o15.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o15.unknown_tagged_fields)
                    check_count(len(o15.unknown_tagged_fields), left)
                else:
                    pos += 1
                l12.append(v14)
            v9 = o10 = FetchTopic(topic_id=o10_topic_id, partitions=o10_partitions)
            if buf[pos]:
                o10.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o10.unknown_tagged_fields)
                check_count(len(o10.unknown_tagged_fields), left)
            else:
                pos += 1
            l7.append(v9)
        n22: i64 = buf[pos]
        pos += 1
        if n22 > 127:
            n22, pos = long_length(buf, pos - 1)
        if n22 == 0:
            raise IndexError
        n22 -= 1
        if n22 * 18 > end - pos:
            raise IndexError
        left -= n22
        check_count(n22, left)
        l23: list[Any] = []
        o1_forgotten_topics_data = l23
        for _ in range(n22):
            if pos + 17 > end:
                raise IndexError
            o26_topic_id = buf[pos : pos + 16]
            n27: i64 = buf[pos + 16]
            pos += 17
            if n27 > 127:
                n27, pos = long_length(buf, pos - 1)
            if n27 == 0:
                raise IndexError
            left -= n27 - 1
            check_count(n27 - 1, left)
            if n27 < 9:
                o26_partitions = list(unpack_from__l[n27 - 1](buf, pos))
            else:
                o26_partitions = list(unpack_from(f">{n27 - 1}l", buf, pos))
            pos += n27 * 4 - 4
            v25 = o26 = ForgottenTopic(topic_id=o26_topic_id, partitions=o26_partitions)
            if buf[pos]:
                o26.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o26.unknown_tagged_fields)
                check_count(len(o26.unknown_tagged_fields), left)
            else:
                pos += 1
            l23.append(v25)
        message = o1 = ShareFetchRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            share_session_epoch=o1_share_session_epoch,
            max_wait_ms=o1_max_wait_ms,
            min_bytes=o1_min_bytes,
            max_bytes=o1_max_bytes,
            max_records=o1_max_records,
            batch_size=o1_batch_size,
            share_acquire_mode=o1_share_acquire_mode,
            is_renew_ack=o1_is_renew_ack,
            topics=o1_topics,
            forgotten_topics_data=o1_forgotten_topics_data,
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
    return decoded_again(ShareFetchRequest, version, data, offset, most)


def encode_share_fetch_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ShareFetchResponse = message
        s3 = m.error_message
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        l4 = m.responses
        n5: i64 = len(l4) + 1
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            pack_lB(m.acquisition_lock_timeout_ms, n5)
            if n5 < 128
            else pack_l(m.acquisition_lock_timeout_ms) + encode_uvarint(n5),
        )
        for v6 in l4:
            u7 = v6.topic_id
            l8 = v6.partitions
            n9: i64 = len(l8) + 1
            out.append(
                pack_16sB(u7 if len(u7) == 16 else refuse(), n9)
                if n9 < 128
                else pack_16s(u7 if len(u7) == 16 else refuse()) + encode_uvarint(n9)
            )
            for v10 in l8:
                s13 = v10.error_message
                if s13 is None:
                    n12: i64 = 0
                    b11 = b""
                else:
                    b11 = s13.encode()
                    n12 = len(b11) + 1
                    if n12 > 32768:
                        refuse()
                s16 = v10.acknowledge_error_message
                if s16 is None:
                    n15: i64 = 0
                    b14 = b""
                else:
                    b14 = s16.encode()
                    n15 = len(b14) + 1
                    if n15 > 32768:
                        refuse()
                o17 = v10.current_leader
                b18: Any = v10.records
                if type(b18) is list or type(b18) is tuple:
                    n19: i64 = sum(map(len, b18)) + 1
                else:
                    n19 = len(b18) + 1
                out += (
                    pack_lhB(v10.partition_index, v10.error_code, n12)
                    if n12 < 128
                    else pack_lh(v10.partition_index, v10.error_code) + encode_uvarint(n12),
                    b11,
                    pack_hB(v10.acknowledge_error_code, n15)
                    if n15 < 128
                    else pack_h(v10.acknowledge_error_code) + encode_uvarint(n15),
                    b14,
                    pack_llB(o17.leader_id, o17.leader_epoch, 0)
                    if not o17.unknown_tagged_fields
                    else pack_ll(o17.leader_id, o17.leader_epoch)
                    + encode_tagged_section((), o17.unknown_tagged_fields),
                    BYTE[n19] if n19 < 128 else encode_uvarint(n19),
                )
                if n19 > 4096 or type(b18) is list or type(b18) is tuple:
                    put_records(parts, out, b18, n19)
                else:
                    out.append(b18)
                l20 = v10.acquired_records
                n21: i64 = len(l20) + 1
                out.append(BYTE[n21] if n21 < 128 else encode_uvarint(n21))
                for v22 in l20:
                    out.append(
                        pack_qqhB(v22.first_offset, v22.last_offset, v22.delivery_count, 0)
                        if not v22.unknown_tagged_fields
                        else pack_qqh(v22.first_offset, v22.last_offset, v22.delivery_count)
                        + encode_tagged_section((), v22.unknown_tagged_fields)
                    )
                out.append(
                    BYTE[0] if not v10.unknown_tagged_fields else encode_tagged_section((), v10.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v6.unknown_tagged_fields else encode_tagged_section((), v6.unknown_tagged_fields))
        l23 = m.node_endpoints
        n24: i64 = len(l23) + 1
        out.append(BYTE[n24] if n24 < 128 else encode_uvarint(n24))
        for v25 in l23:
            b26 = v25.host.encode()
            n27: i64 = len(b26) + 1
            if n27 > 32768:
                refuse()
            s30 = v25.rack
            if s30 is None:
                n29: i64 = 0
                b28 = b""
            else:
                b28 = s30.encode()
                n29 = len(b28) + 1
                if n29 > 32768:
                    refuse()
            out += (
                pack_lB(v25.node_id, n27) if n27 < 128 else pack_l(v25.node_id) + encode_uvarint(n27),
                b26,
                pack_lB(v25.port, n29) if n29 < 128 else pack_l(v25.port) + encode_uvarint(n29),
                b28,
                BYTE[0] if not v25.unknown_tagged_fields else encode_tagged_section((), v25.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ShareFetchResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ShareFetchRequest": {1: decode_share_fetch_request_1, 2: decode_share_fetch_request_2},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ShareFetchResponse": {1: encode_share_fetch_response_1},
}
