# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.transaction_log`. Generated from the constructs: do not edit.

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
    int8_at,
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
from odradek.protocol.generated.stored.transaction_log import PartitionsSchema, TransactionLogKey, TransactionLogValue
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

pack_B_l: Final = [Struct(f">B{count}l").pack for count in range(9)]
pack_h: Final = Struct(">h").pack
pack_l_l: Final = [Struct(f">l{count}l").pack for count in range(9)]
pack_q: Final = Struct(">q").pack
pack_qhlb: Final = Struct(">qhlb").pack
pack_qhlbB: Final = Struct(">qhlbB").pack
pack_qhlbl: Final = Struct(">qhlbl").pack
pack_qq: Final = Struct(">qq").pack
pack_qqB: Final = Struct(">qqB").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_transaction_log_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TransactionLogKey, int]:
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
        message = TransactionLogKey(transactional_id=o1_transactional_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TransactionLogKey, version, data, offset, most)


def decode_transaction_log_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TransactionLogValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        o1_transaction_timeout_ms = int32_at(buf, pos + 10)
        o1_transaction_status = int8_at(buf, pos + 14)
        n2 = int32_at(buf, pos + 15)
        pos += 19
        if n2 < 0:
            o1_transaction_partitions = None
        else:
            if n2 * 6 > end - pos:
                raise IndexError
            left -= n2
            check_count(n2, left)
            l3: list[Any] = []
            o1_transaction_partitions = l3
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
                left -= n9
                check_count(n9, left)
                if n9 < 9:
                    o6_partition_ids = list(unpack_from__l[n9](buf, pos))
                else:
                    o6_partition_ids = list(unpack_from(f">{n9}l", buf, pos))
                pos += n9 * 4
                v5 = PartitionsSchema(topic=o6_topic, partition_ids=o6_partition_ids)
                l3.append(v5)
        o1_transaction_last_update_timestamp_ms = int64_at(buf, pos)
        o1_transaction_start_timestamp_ms = int64_at(buf, pos + 8)
        pos += 16
        message = TransactionLogValue(
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            transaction_timeout_ms=o1_transaction_timeout_ms,
            transaction_status=o1_transaction_status,
            transaction_partitions=o1_transaction_partitions,
            transaction_last_update_timestamp_ms=o1_transaction_last_update_timestamp_ms,
            transaction_start_timestamp_ms=o1_transaction_start_timestamp_ms,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TransactionLogValue, version, data, offset, most)


def decode_transaction_log_value_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[TransactionLogValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_producer_id = int64_at(buf, pos)
        o1_producer_epoch = int16_at(buf, pos + 8)
        o1_transaction_timeout_ms = int32_at(buf, pos + 10)
        o1_transaction_status = int8_at(buf, pos + 14)
        n2: i64 = buf[pos + 15]
        pos += 16
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            o1_transaction_partitions = None
        else:
            n2 -= 1
            if n2 * 3 > end - pos:
                raise IndexError
            left -= n2
            check_count(n2, left)
            l3: list[Any] = []
            o1_transaction_partitions = l3
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
                left -= n9 - 1
                check_count(n9 - 1, left)
                if n9 < 9:
                    o6_partition_ids = list(unpack_from__l[n9 - 1](buf, pos))
                else:
                    o6_partition_ids = list(unpack_from(f">{n9 - 1}l", buf, pos))
                pos += n9 * 4 - 4
                v5 = o6 = PartitionsSchema(topic=o6_topic, partition_ids=o6_partition_ids)
                if buf[pos]:
                    o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o6.unknown_tagged_fields)
                    check_count(len(o6.unknown_tagged_fields), left)
                else:
                    pos += 1
                l3.append(v5)
        o1_transaction_last_update_timestamp_ms = int64_at(buf, pos)
        o1_transaction_start_timestamp_ms = int64_at(buf, pos + 8)
        n10: i64 = buf[pos + 16]
        pos += 17
        message = o1 = TransactionLogValue(
            producer_id=o1_producer_id,
            producer_epoch=o1_producer_epoch,
            transaction_timeout_ms=o1_transaction_timeout_ms,
            transaction_status=o1_transaction_status,
            transaction_partitions=o1_transaction_partitions,
            transaction_last_update_timestamp_ms=o1_transaction_last_update_timestamp_ms,
            transaction_start_timestamp_ms=o1_transaction_start_timestamp_ms,
        )
        if n10:
            if n10 > 127:
                n10, pos = read_uvarint(buf, pos - 1)
                checked_tags(n10)
            left -= n10
            check_count(n10, left)
            u11: list[tuple[int, bytes]] = []
            for _ in range(n10):
                t12, s13, pos = read_tagged_field(buf, pos)
                if t12 == 0:
                    o1.previous_producer_id = int64_at(buf, pos)
                    pos += 8
                elif t12 == 1:
                    o1.next_producer_id = int64_at(buf, pos)
                    pos += 8
                elif t12 == 2:
                    o1.client_transaction_version = int16_at(buf, pos)
                    pos += 2
                elif t12 == 3:
                    o1.next_producer_epoch = int16_at(buf, pos)
                    pos += 2
                else:
                    d14, pos = read_raw_field(buf, pos, s13)
                    u11.append((t12, d14))
            o1.unknown_tagged_fields = tuple(u11)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(TransactionLogValue, version, data, offset, most)


def encode_transaction_log_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TransactionLogKey = message
        b1 = m.transactional_id.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_h(n2), b1)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TransactionLogKey, version, message, error) from None


def encode_transaction_log_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TransactionLogValue = message
        if m.previous_producer_id != -1:
            refuse()
        if m.next_producer_id != -1:
            refuse()
        if m.next_producer_epoch != -1:
            refuse()
        if m.client_transaction_version != 0:
            refuse()
        l1 = m.transaction_partitions
        if l1 is None:
            n2: i64 = -1
            l1 = []
        else:
            n2 = len(l1)
        out.append(pack_qhlbl(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status, n2))
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.partition_ids
            n7: i64 = len(l6)
            if v3.unknown_tagged_fields:
                refuse()
            out += (pack_h(n5), b4, pack_l_l[len(l6)](n7, *l6) if len(l6) < 9 else pack(f">l{len(l6)}l", n7, *l6))
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TransactionLogValue, version, message, error) from None


def encode_transaction_log_value_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: TransactionLogValue = message
        l1 = m.transaction_partitions
        if l1 is None:
            n2: i64 = 0
            l1 = []
        else:
            n2 = len(l1) + 1
        out.append(
            pack_qhlbB(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status, n2)
            if n2 < 128
            else pack_qhlb(m.producer_id, m.producer_epoch, m.transaction_timeout_ms, m.transaction_status)
            + encode_uvarint(n2)
        )
        for v3 in l1:
            b4 = v3.topic.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.partition_ids
            n7: i64 = len(l6) + 1
            out += (
                BYTE[n5] if n5 < 128 else encode_uvarint(n5),
                b4,
                pack_B_l[len(l6)](n7, *l6) if len(l6) < 9 else encode_uvarint(n7) + pack(f">{len(l6)}l", *l6),
                BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields),
            )
        t8: tuple[tuple[int, bytes], ...] = ()
        if m.previous_producer_id != -1:
            w9: list[bytes] = []
            w9.append(pack_q(m.previous_producer_id))
            t8 += ((0, b"".join(w9)),)
        if m.next_producer_id != -1:
            w10: list[bytes] = []
            w10.append(pack_q(m.next_producer_id))
            t8 += ((1, b"".join(w10)),)
        if m.client_transaction_version != 0:
            w11: list[bytes] = []
            w11.append(pack_h(m.client_transaction_version))
            t8 += ((2, b"".join(w11)),)
        if m.next_producer_epoch != -1:
            w12: list[bytes] = []
            w12.append(pack_h(m.next_producer_epoch))
            t8 += ((3, b"".join(w12)),)
        out.append(
            pack_qqB(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms, 0)
            if not (t8 or m.unknown_tagged_fields)
            else pack_qq(m.transaction_last_update_timestamp_ms, m.transaction_start_timestamp_ms)
            + encode_tagged_section(t8, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(TransactionLogValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "TransactionLogKey": {0: decode_transaction_log_key_0},
    "TransactionLogValue": {0: decode_transaction_log_value_0, 1: decode_transaction_log_value_1},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "TransactionLogKey": {0: encode_transaction_log_key_0},
    "TransactionLogValue": {0: encode_transaction_log_value_0, 1: encode_transaction_log_value_1},
}
