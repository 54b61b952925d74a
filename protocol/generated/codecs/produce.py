# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.produce`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    BYTE,
    SMALL,
    WINDOW,
    check_count,
    explained,
    int16_at,
    int32_at,
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
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
pack_lhq: Final = Struct(">lhq").pack
pack_lhqq: Final = Struct(">lhqq").pack
pack_lhqqq: Final = Struct(">lhqqq").pack
pack_lhqqqB: Final = Struct(">lhqqqB").pack
pack_lhqqql: Final = Struct(">lhqqql").pack
pack_ll: Final = Struct(">ll").pack
pack_llB: Final = Struct(">llB").pack


def decode_produce_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ProduceRequest, int]:
    try:
        base: i64 = 0
        pos: i64 = offset
        last: i64 = len(data)
        if isinstance(data, bytes):
            buf = data
        elif last <= WINDOW:
            buf = bytes(data)
        else:
            base += pos
            last -= pos
            pos = 0
            buf = bytes(memoryview(data)[base : base + WINDOW])
        end: i64 = len(buf)
        left: i64 = most
        o1_acks = int16_at(buf, pos)
        o1_timeout_ms = int32_at(buf, pos + 2)
        n2 = int32_at(buf, pos + 6)
        pos += 10
        if n2 < 0:
            raise IndexError
        if n2 * 6 > last - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_topic_data = l3
        for _ in range(n2):
            n7 = int16_at(buf, pos)
            pos += 2
            if n7 < 0:
                raise IndexError
            e8: i64 = pos + n7
            o6_name = text_at(buf, pos, e8)
            pos = e8
            n9 = int32_at(buf, pos)
            pos += 4
            if n9 < 0:
                raise IndexError
            if n9 * 8 > last - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_partition_data = l10
            for _ in range(n9):
                o13_index = int32_at(buf, pos)
                n14 = int32_at(buf, pos + 4)
                pos += 8
                if n14 < 0:
                    o13_records = None
                else:
                    e15: i64 = pos + n14
                    if e15 > last:
                        raise IndexError
                    o13_records = (
                        buf[pos:e15] if e15 <= end and e15 - pos <= SMALL else memoryview(data)[base + pos : base + e15]
                    )
                    pos = e15
                if last > end and end - pos < WINDOW // 8:
                    base += pos
                    last -= pos
                    pos = 0
                    buf = bytes(memoryview(data)[base : base + WINDOW])
                    end = len(buf)
                v12 = PartitionProduceData(index=o13_index, records=o13_records)
                l10.append(v12)
            v5 = TopicProduceData(name=o6_name, partition_data=o6_partition_data)
            l3.append(v5)
        message = ProduceRequest(acks=o1_acks, timeout_ms=o1_timeout_ms, topic_data=o1_topic_data)
        return message, base + pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ProduceRequest, version, data, offset, most)


def decode_produce_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ProduceRequest, int]:
    try:
        base: i64 = 0
        pos: i64 = offset
        last: i64 = len(data)
        if isinstance(data, bytes):
            buf = data
        elif last <= WINDOW:
            buf = bytes(data)
        else:
            base += pos
            last -= pos
            pos = 0
            buf = bytes(memoryview(data)[base : base + WINDOW])
        end: i64 = len(buf)
        left: i64 = most
        n2 = int16_at(buf, pos)
        pos += 2
        if n2 < 0:
            o1_transactional_id = None
        else:
            e3: i64 = pos + n2
            o1_transactional_id = text_at(buf, pos, e3)
            pos = e3
        o1_acks = int16_at(buf, pos)
        o1_timeout_ms = int32_at(buf, pos + 2)
        n4 = int32_at(buf, pos + 6)
        pos += 10
        if n4 < 0:
            raise IndexError
        if n4 * 6 > last - pos:
            raise IndexError
        left -= n4
        check_count(n4, left)
        l5: list[Any] = []
        o1_topic_data = l5
        for _ in range(n4):
            n9 = int16_at(buf, pos)
            pos += 2
            if n9 < 0:
                raise IndexError
            e10: i64 = pos + n9
            o8_name = text_at(buf, pos, e10)
            pos = e10
            n11 = int32_at(buf, pos)
            pos += 4
            if n11 < 0:
                raise IndexError
            if n11 * 8 > last - pos:
                raise IndexError
            left -= n11
            check_count(n11, left)
            l12: list[Any] = []
            o8_partition_data = l12
            for _ in range(n11):
                o15_index = int32_at(buf, pos)
                n16 = int32_at(buf, pos + 4)
                pos += 8
                if n16 < 0:
                    o15_records = None
                else:
                    e17: i64 = pos + n16
                    if e17 > last:
                        raise IndexError
                    o15_records = (
                        buf[pos:e17] if e17 <= end and e17 - pos <= SMALL else memoryview(data)[base + pos : base + e17]
                    )
                    pos = e17
                if last > end and end - pos < WINDOW // 8:
                    base += pos
                    last -= pos
                    pos = 0
                    buf = bytes(memoryview(data)[base : base + WINDOW])
                    end = len(buf)
                v14 = PartitionProduceData(index=o15_index, records=o15_records)
                l12.append(v14)
            v7 = TopicProduceData(name=o8_name, partition_data=o8_partition_data)
            l5.append(v7)
        message = ProduceRequest(
            transactional_id=o1_transactional_id, acks=o1_acks, timeout_ms=o1_timeout_ms, topic_data=o1_topic_data
        )
        return message, base + pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ProduceRequest, version, data, offset, most)


def decode_produce_request_9(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ProduceRequest, int]:
    try:
        base: i64 = 0
        pos: i64 = offset
        last: i64 = len(data)
        if isinstance(data, bytes):
            buf = data
        elif last <= WINDOW:
            buf = bytes(data)
        else:
            base += pos
            last -= pos
            pos = 0
            buf = bytes(memoryview(data)[base : base + WINDOW])
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            o1_transactional_id = None
        else:
            e3: i64 = pos + n2 - 1
            o1_transactional_id = text_at(buf, pos, e3)
            pos = e3
        o1_acks = int16_at(buf, pos)
        o1_timeout_ms = int32_at(buf, pos + 2)
        n4: i64 = buf[pos + 6]
        pos += 7
        if n4 > 127:
            n4, pos = long_length(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        n4 -= 1
        if n4 * 3 > last - pos:
            raise IndexError
        left -= n4
        check_count(n4, left)
        l5: list[Any] = []
        o1_topic_data = l5
        for _ in range(n4):
            n9: i64 = buf[pos]
            pos += 1
            if n9 > 127:
                n9, pos = long_string(buf, pos - 1)
            if n9 == 0:
                raise IndexError
            e10: i64 = pos + n9 - 1
            o8_name = text_at(buf, pos, e10)
            pos = e10
            n11: i64 = buf[pos]
            pos += 1
            if n11 > 127:
                n11, pos = long_length(buf, pos - 1)
            if n11 == 0:
                raise IndexError
            n11 -= 1
            if n11 * 6 > last - pos:
                raise IndexError
            left -= n11
            check_count(n11, left)
            l12: list[Any] = []
            o8_partition_data = l12
            for _ in range(n11):
                o15_index = int32_at(buf, pos)
                n16: i64 = buf[pos + 4]
                pos += 5
                if n16 > 127:
                    n16, pos = long_length(buf, pos - 1)
                if n16 == 0:
                    o15_records = None
                else:
                    e17: i64 = pos + n16 - 1
                    if e17 > last:
                        raise IndexError
                    o15_records = (
                        buf[pos:e17] if e17 <= end and e17 - pos <= SMALL else memoryview(data)[base + pos : base + e17]
                    )
                    pos = e17
                if last > end and end - pos < WINDOW // 8:
                    base += pos
                    last -= pos
                    pos = 0
                    buf = bytes(memoryview(data)[base : base + WINDOW])
                    end = len(buf)
                v14 = o15 = PartitionProduceData(index=o15_index, records=o15_records)
                if buf[pos]:
                    o15.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o15.unknown_tagged_fields)
                    check_count(len(o15.unknown_tagged_fields), left)
                else:
                    pos += 1
                l12.append(v14)
            v7 = o8 = TopicProduceData(name=o8_name, partition_data=o8_partition_data)
            if buf[pos]:
                o8.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o8.unknown_tagged_fields)
                check_count(len(o8.unknown_tagged_fields), left)
            else:
                pos += 1
            l5.append(v7)
        message = o1 = ProduceRequest(
            transactional_id=o1_transactional_id, acks=o1_acks, timeout_ms=o1_timeout_ms, topic_data=o1_topic_data
        )
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, base + pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ProduceRequest, version, data, offset, most)


def decode_produce_request_13(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ProduceRequest, int]:
    try:
        base: i64 = 0
        pos: i64 = offset
        last: i64 = len(data)
        if isinstance(data, bytes):
            buf = data
        elif last <= WINDOW:
            buf = bytes(data)
        else:
            base += pos
            last -= pos
            pos = 0
            buf = bytes(memoryview(data)[base : base + WINDOW])
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            o1_transactional_id = None
        else:
            e3: i64 = pos + n2 - 1
            o1_transactional_id = text_at(buf, pos, e3)
            pos = e3
        o1_acks = int16_at(buf, pos)
        o1_timeout_ms = int32_at(buf, pos + 2)
        n4: i64 = buf[pos + 6]
        pos += 7
        if n4 > 127:
            n4, pos = long_length(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        n4 -= 1
        if n4 * 18 > last - pos:
            raise IndexError
        left -= n4
        check_count(n4, left)
        l5: list[Any] = []
        o1_topic_data = l5
        for _ in range(n4):
            if pos + 17 > end:
                raise IndexError
            o8_topic_id = buf[pos : pos + 16]
            n9: i64 = buf[pos + 16]
            pos += 17
            if n9 > 127:
                n9, pos = long_length(buf, pos - 1)
            if n9 == 0:
                raise IndexError
            n9 -= 1
            if n9 * 6 > last - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o8_partition_data = l10
            for _ in range(n9):
                o13_index = int32_at(buf, pos)
                n14: i64 = buf[pos + 4]
                pos += 5
                if n14 > 127:
                    n14, pos = long_length(buf, pos - 1)
                if n14 == 0:
                    o13_records = None
                else:
                    e15: i64 = pos + n14 - 1
                    if e15 > last:
                        raise IndexError
                    o13_records = (
                        buf[pos:e15] if e15 <= end and e15 - pos <= SMALL else memoryview(data)[base + pos : base + e15]
                    )
                    pos = e15
                if last > end and end - pos < WINDOW // 8:
                    base += pos
                    last -= pos
                    pos = 0
                    buf = bytes(memoryview(data)[base : base + WINDOW])
                    end = len(buf)
                v12 = o13 = PartitionProduceData(index=o13_index, records=o13_records)
                if buf[pos]:
                    o13.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o13.unknown_tagged_fields)
                    check_count(len(o13.unknown_tagged_fields), left)
                else:
                    pos += 1
                l10.append(v12)
            v7 = o8 = TopicProduceData(topic_id=o8_topic_id, partition_data=o8_partition_data)
            if buf[pos]:
                o8.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o8.unknown_tagged_fields)
                check_count(len(o8.unknown_tagged_fields), left)
            else:
                pos += 1
            l5.append(v7)
        message = o1 = ProduceRequest(
            transactional_id=o1_transactional_id, acks=o1_acks, timeout_ms=o1_timeout_ms, topic_data=o1_topic_data
        )
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, base + pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ProduceRequest, version, data, offset, most)


def encode_produce_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(pack_lhq(v8.index, v8.error_code, v8.base_offset))
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(pack_lhq(v8.index, v8.error_code, v8.base_offset))
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_l(m.throttle_time_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_2(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(pack_lhqq(v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms))
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_l(m.throttle_time_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_5(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(
                    pack_lhqqq(v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset)
                )
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_l(m.throttle_time_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_8(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1)
        out.append(pack_l(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                l10 = v8.record_errors
                n11: i64 = len(l10)
                out.append(
                    pack_lhqqql(
                        v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset, n11
                    )
                )
                for v12 in l10:
                    s15 = v12.batch_index_error_message
                    if s15 is None:
                        n14: i64 = -1
                        b13 = b""
                    else:
                        b13 = s15.encode()
                        n14 = len(b13)
                        if n14 > 32767:
                            refuse()
                    if v12.unknown_tagged_fields:
                        refuse()
                    out += (pack_lh(v12.batch_index, n14), b13)
                s18 = v8.error_message
                if s18 is None:
                    n17: i64 = -1
                    b16 = b""
                else:
                    b16 = s18.encode()
                    n17 = len(b16)
                    if n17 > 32767:
                        refuse()
                if v8.unknown_tagged_fields:
                    refuse()
                out += (pack_h(n17), b16)
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_l(m.throttle_time_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_9(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        if m.node_endpoints is None or len(m.node_endpoints):
            refuse()
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(BYTE[n2] if n2 < 128 else encode_uvarint(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                if (
                    (s9 := v8.current_leader) is None
                    or s9.unknown_tagged_fields
                    or s9.leader_id != -1
                    or s9.leader_epoch != -1
                ):
                    refuse()
                l10 = v8.record_errors
                n11: i64 = len(l10) + 1
                out.append(
                    pack_lhqqqB(
                        v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset, n11
                    )
                    if n11 < 128
                    else pack_lhqqq(v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset)
                    + encode_uvarint(n11)
                )
                for v12 in l10:
                    s15 = v12.batch_index_error_message
                    if s15 is None:
                        n14: i64 = 0
                        b13 = b""
                    else:
                        b13 = s15.encode()
                        n14 = len(b13) + 1
                        if n14 > 32768:
                            refuse()
                    out += (
                        pack_lB(v12.batch_index, n14) if n14 < 128 else pack_l(v12.batch_index) + encode_uvarint(n14),
                        b13,
                        BYTE[0]
                        if not v12.unknown_tagged_fields
                        else encode_tagged_section((), v12.unknown_tagged_fields),
                    )
                s18 = v8.error_message
                if s18 is None:
                    n17: i64 = 0
                    b16 = b""
                else:
                    b16 = s18.encode()
                    n17 = len(b16) + 1
                    if n17 > 32768:
                        refuse()
                out += (
                    BYTE[n17] if n17 < 128 else encode_uvarint(n17),
                    b16,
                    BYTE[0] if not v8.unknown_tagged_fields else encode_tagged_section((), v8.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(
            pack_lB(m.throttle_time_ms, 0)
            if not m.unknown_tagged_fields
            else pack_l(m.throttle_time_ms) + encode_tagged_section((), m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_10(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(BYTE[n2] if n2 < 128 else encode_uvarint(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.partition_responses
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                l9 = v8.record_errors
                n10: i64 = len(l9) + 1
                out.append(
                    pack_lhqqqB(
                        v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset, n10
                    )
                    if n10 < 128
                    else pack_lhqqq(v8.index, v8.error_code, v8.base_offset, v8.log_append_time_ms, v8.log_start_offset)
                    + encode_uvarint(n10)
                )
                for v11 in l9:
                    s14 = v11.batch_index_error_message
                    if s14 is None:
                        n13: i64 = 0
                        b12 = b""
                    else:
                        b12 = s14.encode()
                        n13 = len(b12) + 1
                        if n13 > 32768:
                            refuse()
                    out += (
                        pack_lB(v11.batch_index, n13) if n13 < 128 else pack_l(v11.batch_index) + encode_uvarint(n13),
                        b12,
                        BYTE[0]
                        if not v11.unknown_tagged_fields
                        else encode_tagged_section((), v11.unknown_tagged_fields),
                    )
                s17 = v8.error_message
                if s17 is None:
                    n16: i64 = 0
                    b15 = b""
                else:
                    b15 = s17.encode()
                    n16 = len(b15) + 1
                    if n16 > 32768:
                        refuse()
                t18: tuple[tuple[int, bytes], ...] = ()
                if (
                    (s19 := v8.current_leader) is None
                    or s19.unknown_tagged_fields
                    or s19.leader_id != -1
                    or s19.leader_epoch != -1
                ):
                    w20: list[bytes] = []
                    o21 = v8.current_leader
                    w20.append(
                        pack_llB(o21.leader_id, o21.leader_epoch, 0)
                        if not o21.unknown_tagged_fields
                        else pack_ll(o21.leader_id, o21.leader_epoch)
                        + encode_tagged_section((), o21.unknown_tagged_fields)
                    )
                    t18 += ((0, b"".join(w20)),)
                out += (
                    BYTE[n16] if n16 < 128 else encode_uvarint(n16),
                    b15,
                    BYTE[0]
                    if not (t18 or v8.unknown_tagged_fields)
                    else encode_tagged_section(t18, v8.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        t22: tuple[tuple[int, bytes], ...] = ()
        if m.node_endpoints is None or len(m.node_endpoints):
            w23: list[bytes] = []
            l24 = m.node_endpoints
            n25: i64 = len(l24) + 1
            w23.append(BYTE[n25] if n25 < 128 else encode_uvarint(n25))
            for v26 in l24:
                b27 = v26.host.encode()
                n28: i64 = len(b27) + 1
                if n28 > 32768:
                    refuse()
                s31 = v26.rack
                if s31 is None:
                    n30: i64 = 0
                    b29 = b""
                else:
                    b29 = s31.encode()
                    n30 = len(b29) + 1
                    if n30 > 32768:
                        refuse()
                w23 += (
                    pack_lB(v26.node_id, n28) if n28 < 128 else pack_l(v26.node_id) + encode_uvarint(n28),
                    b27,
                    pack_lB(v26.port, n30) if n30 < 128 else pack_l(v26.port) + encode_uvarint(n30),
                    b29,
                    BYTE[0] if not v26.unknown_tagged_fields else encode_tagged_section((), v26.unknown_tagged_fields),
                )
            t22 += ((0, b"".join(w23)),)
        out.append(
            pack_lB(m.throttle_time_ms, 0)
            if not (t22 or m.unknown_tagged_fields)
            else pack_l(m.throttle_time_ms) + encode_tagged_section(t22, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


def encode_produce_response_13(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ProduceResponse = message
        l1 = m.responses
        n2: i64 = len(l1) + 1
        out.append(BYTE[n2] if n2 < 128 else encode_uvarint(n2))
        for v3 in l1:
            u4 = v3.topic_id
            l5 = v3.partition_responses
            n6: i64 = len(l5) + 1
            out.append(
                pack_16sB(u4 if len(u4) == 16 else refuse(), n6)
                if n6 < 128
                else pack_16s(u4 if len(u4) == 16 else refuse()) + encode_uvarint(n6)
            )
            for v7 in l5:
                l8 = v7.record_errors
                n9: i64 = len(l8) + 1
                out.append(
                    pack_lhqqqB(v7.index, v7.error_code, v7.base_offset, v7.log_append_time_ms, v7.log_start_offset, n9)
                    if n9 < 128
                    else pack_lhqqq(v7.index, v7.error_code, v7.base_offset, v7.log_append_time_ms, v7.log_start_offset)
                    + encode_uvarint(n9)
                )
                for v10 in l8:
                    s13 = v10.batch_index_error_message
                    if s13 is None:
                        n12: i64 = 0
                        b11 = b""
                    else:
                        b11 = s13.encode()
                        n12 = len(b11) + 1
                        if n12 > 32768:
                            refuse()
                    out += (
                        pack_lB(v10.batch_index, n12) if n12 < 128 else pack_l(v10.batch_index) + encode_uvarint(n12),
                        b11,
                        BYTE[0]
                        if not v10.unknown_tagged_fields
                        else encode_tagged_section((), v10.unknown_tagged_fields),
                    )
                s16 = v7.error_message
                if s16 is None:
                    n15: i64 = 0
                    b14 = b""
                else:
                    b14 = s16.encode()
                    n15 = len(b14) + 1
                    if n15 > 32768:
                        refuse()
                t17: tuple[tuple[int, bytes], ...] = ()
                if (
                    (s18 := v7.current_leader) is None
                    or s18.unknown_tagged_fields
                    or s18.leader_id != -1
                    or s18.leader_epoch != -1
                ):
                    w19: list[bytes] = []
                    o20 = v7.current_leader
                    w19.append(
                        pack_llB(o20.leader_id, o20.leader_epoch, 0)
                        if not o20.unknown_tagged_fields
                        else pack_ll(o20.leader_id, o20.leader_epoch)
                        + encode_tagged_section((), o20.unknown_tagged_fields)
                    )
                    t17 += ((0, b"".join(w19)),)
                out += (
                    BYTE[n15] if n15 < 128 else encode_uvarint(n15),
                    b14,
                    BYTE[0]
                    if not (t17 or v7.unknown_tagged_fields)
                    else encode_tagged_section(t17, v7.unknown_tagged_fields),
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        t21: tuple[tuple[int, bytes], ...] = ()
        if m.node_endpoints is None or len(m.node_endpoints):
            w22: list[bytes] = []
            l23 = m.node_endpoints
            n24: i64 = len(l23) + 1
            w22.append(BYTE[n24] if n24 < 128 else encode_uvarint(n24))
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
                w22 += (
                    pack_lB(v25.node_id, n27) if n27 < 128 else pack_l(v25.node_id) + encode_uvarint(n27),
                    b26,
                    pack_lB(v25.port, n29) if n29 < 128 else pack_l(v25.port) + encode_uvarint(n29),
                    b28,
                    BYTE[0] if not v25.unknown_tagged_fields else encode_tagged_section((), v25.unknown_tagged_fields),
                )
            t21 += ((0, b"".join(w22)),)
        out.append(
            pack_lB(m.throttle_time_ms, 0)
            if not (t21 or m.unknown_tagged_fields)
            else pack_l(m.throttle_time_ms) + encode_tagged_section(t21, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ProduceResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ProduceRequest": {
        0: decode_produce_request_0,
        3: decode_produce_request_3,
        9: decode_produce_request_9,
        13: decode_produce_request_13,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ProduceResponse": {
        0: encode_produce_response_0,
        1: encode_produce_response_1,
        2: encode_produce_response_2,
        5: encode_produce_response_5,
        8: encode_produce_response_8,
        9: encode_produce_response_9,
        10: encode_produce_response_10,
        13: encode_produce_response_13,
    },
}
