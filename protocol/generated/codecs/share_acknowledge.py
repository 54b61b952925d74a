# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.share_acknowledge`. Generated from the constructs: do not edit.

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
    int32_at,
    int64_at,
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_16s: Final = Struct(">16s").pack
pack_16sB: Final = Struct(">16sB").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_ll: Final = Struct(">ll").pack
pack_llB: Final = Struct(">llB").pack
unpack_from__b: Final = [Struct(f">{count}b").unpack_from for count in range(9)]


def decode_share_acknowledge_request_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareAcknowledgeRequest, int]:
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
        n6: i64 = buf[pos + 4]
        pos += 5
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
                v14 = o15 = AcknowledgePartition(
                    partition_index=o15_partition_index, acknowledgement_batches=o15_acknowledgement_batches
                )
                if buf[pos]:
                    o15.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o15.unknown_tagged_fields)
                    check_count(len(o15.unknown_tagged_fields), left)
                else:
                    pos += 1
                l12.append(v14)
            v9 = o10 = AcknowledgeTopic(topic_id=o10_topic_id, partitions=o10_partitions)
            if buf[pos]:
                o10.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o10.unknown_tagged_fields)
                check_count(len(o10.unknown_tagged_fields), left)
            else:
                pos += 1
            l7.append(v9)
        message = o1 = ShareAcknowledgeRequest(
            group_id=o1_group_id, member_id=o1_member_id, share_session_epoch=o1_share_session_epoch, topics=o1_topics
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
    return decoded_again(ShareAcknowledgeRequest, version, data, offset, most)


def decode_share_acknowledge_request_2(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ShareAcknowledgeRequest, int]:
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
        o1_is_renew_ack = buf[pos + 4] != 0
        n6: i64 = buf[pos + 5]
        pos += 6
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
                v14 = o15 = AcknowledgePartition(
                    partition_index=o15_partition_index, acknowledgement_batches=o15_acknowledgement_batches
                )
                if buf[pos]:
                    o15.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o15.unknown_tagged_fields)
                    check_count(len(o15.unknown_tagged_fields), left)
                else:
                    pos += 1
                l12.append(v14)
            v9 = o10 = AcknowledgeTopic(topic_id=o10_topic_id, partitions=o10_partitions)
            if buf[pos]:
                o10.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o10.unknown_tagged_fields)
                check_count(len(o10.unknown_tagged_fields), left)
            else:
                pos += 1
            l7.append(v9)
        message = o1 = ShareAcknowledgeRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            share_session_epoch=o1_share_session_epoch,
            is_renew_ack=o1_is_renew_ack,
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
    return decoded_again(ShareAcknowledgeRequest, version, data, offset, most)


def encode_share_acknowledge_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ShareAcknowledgeResponse = message
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
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
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
                o14 = v10.current_leader
                out += (
                    pack_lhB(v10.partition_index, v10.error_code, n12)
                    if n12 < 128
                    else pack_lh(v10.partition_index, v10.error_code) + encode_uvarint(n12),
                    b11,
                    pack_llB(o14.leader_id, o14.leader_epoch, 0)
                    if not o14.unknown_tagged_fields
                    else pack_ll(o14.leader_id, o14.leader_epoch)
                    + encode_tagged_section((), o14.unknown_tagged_fields),
                    BYTE[0] if not v10.unknown_tagged_fields else encode_tagged_section((), v10.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not v6.unknown_tagged_fields else encode_tagged_section((), v6.unknown_tagged_fields))
        l15 = m.node_endpoints
        n16: i64 = len(l15) + 1
        out.append(BYTE[n16] if n16 < 128 else encode_uvarint(n16))
        for v17 in l15:
            b18 = v17.host.encode()
            n19: i64 = len(b18) + 1
            if n19 > 32768:
                refuse()
            s22 = v17.rack
            if s22 is None:
                n21: i64 = 0
                b20 = b""
            else:
                b20 = s22.encode()
                n21 = len(b20) + 1
                if n21 > 32768:
                    refuse()
            out += (
                pack_lB(v17.node_id, n19) if n19 < 128 else pack_l(v17.node_id) + encode_uvarint(n19),
                b18,
                pack_lB(v17.port, n21) if n21 < 128 else pack_l(v17.port) + encode_uvarint(n21),
                b20,
                BYTE[0] if not v17.unknown_tagged_fields else encode_tagged_section((), v17.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ShareAcknowledgeResponse, version, message, error) from None


def encode_share_acknowledge_response_2(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ShareAcknowledgeResponse = message
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
                o14 = v10.current_leader
                out += (
                    pack_lhB(v10.partition_index, v10.error_code, n12)
                    if n12 < 128
                    else pack_lh(v10.partition_index, v10.error_code) + encode_uvarint(n12),
                    b11,
                    pack_llB(o14.leader_id, o14.leader_epoch, 0)
                    if not o14.unknown_tagged_fields
                    else pack_ll(o14.leader_id, o14.leader_epoch)
                    + encode_tagged_section((), o14.unknown_tagged_fields),
                    BYTE[0] if not v10.unknown_tagged_fields else encode_tagged_section((), v10.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not v6.unknown_tagged_fields else encode_tagged_section((), v6.unknown_tagged_fields))
        l15 = m.node_endpoints
        n16: i64 = len(l15) + 1
        out.append(BYTE[n16] if n16 < 128 else encode_uvarint(n16))
        for v17 in l15:
            b18 = v17.host.encode()
            n19: i64 = len(b18) + 1
            if n19 > 32768:
                refuse()
            s22 = v17.rack
            if s22 is None:
                n21: i64 = 0
                b20 = b""
            else:
                b20 = s22.encode()
                n21 = len(b20) + 1
                if n21 > 32768:
                    refuse()
            out += (
                pack_lB(v17.node_id, n19) if n19 < 128 else pack_l(v17.node_id) + encode_uvarint(n19),
                b18,
                pack_lB(v17.port, n21) if n21 < 128 else pack_l(v17.port) + encode_uvarint(n21),
                b20,
                BYTE[0] if not v17.unknown_tagged_fields else encode_tagged_section((), v17.unknown_tagged_fields),
            )
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ShareAcknowledgeResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ShareAcknowledgeRequest": {1: decode_share_acknowledge_request_1, 2: decode_share_acknowledge_request_2},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ShareAcknowledgeResponse": {1: encode_share_acknowledge_response_1, 2: encode_share_acknowledge_response_2},
}
