# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.consumer_group_heartbeat`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct, pack, unpack_from
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    check_count,
    explained,
    int32_at,
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_16s: Final = Struct(">16s").pack
pack_B_l: Final = [Struct(f">B{count}l").pack for count in range(9)]
pack_b: Final = Struct(">b").pack
pack_bB: Final = Struct(">bB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_ll: Final = Struct(">ll").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_consumer_group_heartbeat_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupHeartbeatRequest, int]:
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
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        o1_member_epoch = int32_at(buf, pos)
        n6: i64 = buf[pos + 4]
        pos += 5
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_instance_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            o1_rack_id = None
        else:
            e9: i64 = pos + n8 - 1
            o1_rack_id = text_at(buf, pos, e9)
            pos = e9
        o1_rebalance_timeout_ms = int32_at(buf, pos)
        n10: i64 = buf[pos + 4]
        pos += 5
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            o1_subscribed_topic_names = None
        else:
            n10 -= 1
            if n10 * 1 > end - pos:
                raise IndexError
            left -= n10
            check_count(n10, left)
            l11: list[Any] = []
            o1_subscribed_topic_names = l11
            for _ in range(n10):
                n14: i64 = buf[pos]
                pos += 1
                if n14 > 127:
                    n14, pos = long_string(buf, pos - 1)
                if n14 == 0:
                    raise IndexError
                e15: i64 = pos + n14 - 1
                v13 = text_at(buf, pos, e15)
                pos = e15
                l11.append(v13)
        n16: i64 = buf[pos]
        pos += 1
        if n16 > 127:
            n16, pos = long_string(buf, pos - 1)
        if n16 == 0:
            o1_server_assignor = None
        else:
            e17: i64 = pos + n16 - 1
            o1_server_assignor = text_at(buf, pos, e17)
            pos = e17
        n18: i64 = buf[pos]
        pos += 1
        if n18 > 127:
            n18, pos = long_length(buf, pos - 1)
        if n18 == 0:
            o1_topic_partitions = None
        else:
            n18 -= 1
            if n18 * 18 > end - pos:
                raise IndexError
            left -= n18
            check_count(n18, left)
            l19: list[Any] = []
            o1_topic_partitions = l19
            for _ in range(n18):
                if pos + 17 > end:
                    raise IndexError
                o22_topic_id = buf[pos : pos + 16]
                n23: i64 = buf[pos + 16]
                pos += 17
                if n23 > 127:
                    n23, pos = long_length(buf, pos - 1)
                if n23 == 0:
                    raise IndexError
                left -= n23 - 1
                check_count(n23 - 1, left)
                if n23 < 9:
                    o22_partitions = list(unpack_from__l[n23 - 1](buf, pos))
                else:
                    o22_partitions = list(unpack_from(f">{n23 - 1}l", buf, pos))
                pos += n23 * 4 - 4
                v21 = o22 = TopicPartitions(topic_id=o22_topic_id, partitions=o22_partitions)
                if buf[pos]:
                    o22.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o22.unknown_tagged_fields)
                    check_count(len(o22.unknown_tagged_fields), left)
                else:
                    pos += 1
                l19.append(v21)
        message = o1 = ConsumerGroupHeartbeatRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            member_epoch=o1_member_epoch,
            instance_id=o1_instance_id,
            rack_id=o1_rack_id,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            subscribed_topic_names=o1_subscribed_topic_names,
            server_assignor=o1_server_assignor,
            topic_partitions=o1_topic_partitions,
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
    return decoded_again(ConsumerGroupHeartbeatRequest, version, data, offset, most)


def decode_consumer_group_heartbeat_request_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupHeartbeatRequest, int]:
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
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        o1_member_epoch = int32_at(buf, pos)
        n6: i64 = buf[pos + 4]
        pos += 5
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_instance_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_instance_id = text_at(buf, pos, e7)
            pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            o1_rack_id = None
        else:
            e9: i64 = pos + n8 - 1
            o1_rack_id = text_at(buf, pos, e9)
            pos = e9
        o1_rebalance_timeout_ms = int32_at(buf, pos)
        n10: i64 = buf[pos + 4]
        pos += 5
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            o1_subscribed_topic_names = None
        else:
            n10 -= 1
            if n10 * 1 > end - pos:
                raise IndexError
            left -= n10
            check_count(n10, left)
            l11: list[Any] = []
            o1_subscribed_topic_names = l11
            for _ in range(n10):
                n14: i64 = buf[pos]
                pos += 1
                if n14 > 127:
                    n14, pos = long_string(buf, pos - 1)
                if n14 == 0:
                    raise IndexError
                e15: i64 = pos + n14 - 1
                v13 = text_at(buf, pos, e15)
                pos = e15
                l11.append(v13)
        n16: i64 = buf[pos]
        pos += 1
        if n16 > 127:
            n16, pos = long_string(buf, pos - 1)
        if n16 == 0:
            o1_subscribed_topic_regex = None
        else:
            e17: i64 = pos + n16 - 1
            o1_subscribed_topic_regex = text_at(buf, pos, e17)
            pos = e17
        n18: i64 = buf[pos]
        pos += 1
        if n18 > 127:
            n18, pos = long_string(buf, pos - 1)
        if n18 == 0:
            o1_server_assignor = None
        else:
            e19: i64 = pos + n18 - 1
            o1_server_assignor = text_at(buf, pos, e19)
            pos = e19
        n20: i64 = buf[pos]
        pos += 1
        if n20 > 127:
            n20, pos = long_length(buf, pos - 1)
        if n20 == 0:
            o1_topic_partitions = None
        else:
            n20 -= 1
            if n20 * 18 > end - pos:
                raise IndexError
            left -= n20
            check_count(n20, left)
            l21: list[Any] = []
            o1_topic_partitions = l21
            for _ in range(n20):
                if pos + 17 > end:
                    raise IndexError
                o24_topic_id = buf[pos : pos + 16]
                n25: i64 = buf[pos + 16]
                pos += 17
                if n25 > 127:
                    n25, pos = long_length(buf, pos - 1)
                if n25 == 0:
                    raise IndexError
                left -= n25 - 1
                check_count(n25 - 1, left)
                if n25 < 9:
                    o24_partitions = list(unpack_from__l[n25 - 1](buf, pos))
                else:
                    o24_partitions = list(unpack_from(f">{n25 - 1}l", buf, pos))
                pos += n25 * 4 - 4
                v23 = o24 = TopicPartitions(topic_id=o24_topic_id, partitions=o24_partitions)
                if buf[pos]:
                    o24.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o24.unknown_tagged_fields)
                    check_count(len(o24.unknown_tagged_fields), left)
                else:
                    pos += 1
                l21.append(v23)
        message = o1 = ConsumerGroupHeartbeatRequest(
            group_id=o1_group_id,
            member_id=o1_member_id,
            member_epoch=o1_member_epoch,
            instance_id=o1_instance_id,
            rack_id=o1_rack_id,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            subscribed_topic_names=o1_subscribed_topic_names,
            subscribed_topic_regex=o1_subscribed_topic_regex,
            server_assignor=o1_server_assignor,
            topic_partitions=o1_topic_partitions,
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
    return decoded_again(ConsumerGroupHeartbeatRequest, version, data, offset, most)


def encode_consumer_group_heartbeat_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupHeartbeatResponse = message
        s3 = m.error_message
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        s6 = m.member_id
        if s6 is None:
            n5: i64 = 0
            b4 = b""
        else:
            b4 = s6.encode()
            n5 = len(b4) + 1
            if n5 > 32768:
                refuse()
        out += (
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            pack_ll(m.member_epoch, m.heartbeat_interval_ms),
        )
        s7 = m.assignment
        if s7 is None:
            out.append(b"\xff")
        else:
            l8 = s7.topic_partitions
            n9: i64 = len(l8) + 1
            out.append(pack_bB(1, n9) if n9 < 128 else pack_b(1) + encode_uvarint(n9))
            for v10 in l8:
                u11 = v10.topic_id
                l12 = v10.partitions
                n13: i64 = len(l12) + 1
                out += (
                    pack_16s(u11 if len(u11) == 16 else refuse()),
                    pack_B_l[len(l12)](n13, *l12)
                    if len(l12) < 9
                    else encode_uvarint(n13) + pack(f">{len(l12)}l", *l12),
                    BYTE[0] if not v10.unknown_tagged_fields else encode_tagged_section((), v10.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not s7.unknown_tagged_fields else encode_tagged_section((), s7.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupHeartbeatResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ConsumerGroupHeartbeatRequest": {
        0: decode_consumer_group_heartbeat_request_0,
        1: decode_consumer_group_heartbeat_request_1,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ConsumerGroupHeartbeatResponse": {0: encode_consumer_group_heartbeat_response_0},
}
