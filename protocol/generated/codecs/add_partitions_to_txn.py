# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.add_partitions_to_txn`. Generated from the constructs: do not edit.

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
from odradek.protocol.generated.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_lh: Final = Struct(">lh").pack
pack_lhB: Final = Struct(">lhB").pack
pack_ll: Final = Struct(">ll").pack
unpack_from__l: Final = [Struct(f">{count}l").unpack_from for count in range(9)]


def decode_add_partitions_to_txn_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddPartitionsToTxnRequest, int]:
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
        o1_v3_and_below_transactional_id = text_at(buf, pos, e3)
        pos = e3
        o1_v3_and_below_producer_id = int64_at(buf, pos)
        o1_v3_and_below_producer_epoch = int16_at(buf, pos + 8)
        n4 = int32_at(buf, pos + 10)
        pos += 14
        if n4 < 0:
            raise IndexError
        if n4 * 6 > end - pos:
            raise IndexError
        left -= n4
        check_count(n4, left)
        l5: list[Any] = []
        o1_v3_and_below_topics = l5
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
            left -= n11
            check_count(n11, left)
            if n11 < 9:
                o8_partitions = list(unpack_from__l[n11](buf, pos))
            else:
                o8_partitions = list(unpack_from(f">{n11}l", buf, pos))
            pos += n11 * 4
            v7 = AddPartitionsToTxnTopic(name=o8_name, partitions=o8_partitions)
            l5.append(v7)
        message = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=o1_v3_and_below_transactional_id,
            v3_and_below_producer_id=o1_v3_and_below_producer_id,
            v3_and_below_producer_epoch=o1_v3_and_below_producer_epoch,
            v3_and_below_topics=o1_v3_and_below_topics,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(AddPartitionsToTxnRequest, version, data, offset, most)


def decode_add_partitions_to_txn_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddPartitionsToTxnRequest, int]:
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
        o1_v3_and_below_transactional_id = text_at(buf, pos, e3)
        pos = e3
        o1_v3_and_below_producer_id = int64_at(buf, pos)
        o1_v3_and_below_producer_epoch = int16_at(buf, pos + 8)
        n4: i64 = buf[pos + 10]
        pos += 11
        if n4 > 127:
            n4, pos = long_length(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        n4 -= 1
        if n4 * 3 > end - pos:
            raise IndexError
        left -= n4
        check_count(n4, left)
        l5: list[Any] = []
        o1_v3_and_below_topics = l5
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
            left -= n11 - 1
            check_count(n11 - 1, left)
            if n11 < 9:
                o8_partitions = list(unpack_from__l[n11 - 1](buf, pos))
            else:
                o8_partitions = list(unpack_from(f">{n11 - 1}l", buf, pos))
            pos += n11 * 4 - 4
            v7 = o8 = AddPartitionsToTxnTopic(name=o8_name, partitions=o8_partitions)
            if buf[pos]:
                o8.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o8.unknown_tagged_fields)
                check_count(len(o8.unknown_tagged_fields), left)
            else:
                pos += 1
            l5.append(v7)
        message = o1 = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=o1_v3_and_below_transactional_id,
            v3_and_below_producer_id=o1_v3_and_below_producer_id,
            v3_and_below_producer_epoch=o1_v3_and_below_producer_epoch,
            v3_and_below_topics=o1_v3_and_below_topics,
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
    return decoded_again(AddPartitionsToTxnRequest, version, data, offset, most)


def decode_add_partitions_to_txn_request_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[AddPartitionsToTxnRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        n2: i64 = buf[pos]
        pos += 1
        if n2 > 127:
            n2, pos = long_length(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        n2 -= 1
        if n2 * 14 > end - pos:
            raise IndexError
        left -= n2
        check_count(n2, left)
        l3: list[Any] = []
        o1_transactions = l3
        for _ in range(n2):
            n7: i64 = buf[pos]
            pos += 1
            if n7 > 127:
                n7, pos = long_string(buf, pos - 1)
            if n7 == 0:
                raise IndexError
            e8: i64 = pos + n7 - 1
            o6_transactional_id = text_at(buf, pos, e8)
            pos = e8
            o6_producer_id = int64_at(buf, pos)
            o6_producer_epoch = int16_at(buf, pos + 8)
            o6_verify_only = buf[pos + 10] != 0
            n9: i64 = buf[pos + 11]
            pos += 12
            if n9 > 127:
                n9, pos = long_length(buf, pos - 1)
            if n9 == 0:
                raise IndexError
            n9 -= 1
            if n9 * 3 > end - pos:
                raise IndexError
            left -= n9
            check_count(n9, left)
            l10: list[Any] = []
            o6_topics = l10
            for _ in range(n9):
                n14: i64 = buf[pos]
                pos += 1
                if n14 > 127:
                    n14, pos = long_string(buf, pos - 1)
                if n14 == 0:
                    raise IndexError
                e15: i64 = pos + n14 - 1
                o13_name = text_at(buf, pos, e15)
                pos = e15
                n16: i64 = buf[pos]
                pos += 1
                if n16 > 127:
                    n16, pos = long_length(buf, pos - 1)
                if n16 == 0:
                    raise IndexError
                left -= n16 - 1
                check_count(n16 - 1, left)
                if n16 < 9:
                    o13_partitions = list(unpack_from__l[n16 - 1](buf, pos))
                else:
                    o13_partitions = list(unpack_from(f">{n16 - 1}l", buf, pos))
                pos += n16 * 4 - 4
                v12 = o13 = AddPartitionsToTxnTopic(name=o13_name, partitions=o13_partitions)
                if buf[pos]:
                    o13.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                    left -= len(o13.unknown_tagged_fields)
                    check_count(len(o13.unknown_tagged_fields), left)
                else:
                    pos += 1
                l10.append(v12)
            v5 = o6 = AddPartitionsToTxnTransaction(
                transactional_id=o6_transactional_id,
                producer_id=o6_producer_id,
                producer_epoch=o6_producer_epoch,
                verify_only=o6_verify_only,
                topics=o6_topics,
            )
            if buf[pos]:
                o6.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                left -= len(o6.unknown_tagged_fields)
                check_count(len(o6.unknown_tagged_fields), left)
            else:
                pos += 1
            l3.append(v5)
        message = o1 = AddPartitionsToTxnRequest(transactions=o1_transactions)
        if buf[pos]:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        else:
            pos += 1
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(AddPartitionsToTxnRequest, version, data, offset, most)


def encode_add_partitions_to_txn_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: AddPartitionsToTxnResponse = message
        if m.results_by_transaction is None or len(m.results_by_transaction):
            refuse()
        l1 = m.results_by_topic_v3_and_below
        n2: i64 = len(l1)
        out.append(pack_ll(m.throttle_time_ms, n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4)
            if n5 > 32767:
                refuse()
            l6 = v3.results_by_partition
            n7: i64 = len(l6)
            out += (pack_h(n5), b4, pack_l(n7))
            for v8 in l6:
                if v8.unknown_tagged_fields:
                    refuse()
                out.append(pack_lh(v8.partition_index, v8.partition_error_code))
            if v3.unknown_tagged_fields:
                refuse()
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(AddPartitionsToTxnResponse, version, message, error) from None


def encode_add_partitions_to_txn_response_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: AddPartitionsToTxnResponse = message
        if m.results_by_transaction is None or len(m.results_by_transaction):
            refuse()
        l1 = m.results_by_topic_v3_and_below
        n2: i64 = len(l1) + 1
        out.append(pack_lB(m.throttle_time_ms, n2) if n2 < 128 else pack_l(m.throttle_time_ms) + encode_uvarint(n2))
        for v3 in l1:
            b4 = v3.name.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.results_by_partition
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                out.append(
                    pack_lhB(v8.partition_index, v8.partition_error_code, 0)
                    if not v8.unknown_tagged_fields
                    else pack_lh(v8.partition_index, v8.partition_error_code)
                    + encode_tagged_section((), v8.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(AddPartitionsToTxnResponse, version, message, error) from None


def encode_add_partitions_to_txn_response_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: AddPartitionsToTxnResponse = message
        if m.results_by_topic_v3_and_below is None or len(m.results_by_topic_v3_and_below):
            refuse()
        l1 = m.results_by_transaction
        n2: i64 = len(l1) + 1
        out.append(
            pack_lhB(m.throttle_time_ms, m.error_code, n2)
            if n2 < 128
            else pack_lh(m.throttle_time_ms, m.error_code) + encode_uvarint(n2)
        )
        for v3 in l1:
            b4 = v3.transactional_id.encode()
            n5: i64 = len(b4) + 1
            if n5 > 32768:
                refuse()
            l6 = v3.topic_results
            n7: i64 = len(l6) + 1
            out += (BYTE[n5] if n5 < 128 else encode_uvarint(n5), b4, BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                b9 = v8.name.encode()
                n10: i64 = len(b9) + 1
                if n10 > 32768:
                    refuse()
                l11 = v8.results_by_partition
                n12: i64 = len(l11) + 1
                out += (
                    BYTE[n10] if n10 < 128 else encode_uvarint(n10),
                    b9,
                    BYTE[n12] if n12 < 128 else encode_uvarint(n12),
                )
                for v13 in l11:
                    out.append(
                        pack_lhB(v13.partition_index, v13.partition_error_code, 0)
                        if not v13.unknown_tagged_fields
                        else pack_lh(v13.partition_index, v13.partition_error_code)
                        + encode_tagged_section((), v13.unknown_tagged_fields)
                    )
                out.append(
                    BYTE[0] if not v8.unknown_tagged_fields else encode_tagged_section((), v8.unknown_tagged_fields)
                )
            out.append(BYTE[0] if not v3.unknown_tagged_fields else encode_tagged_section((), v3.unknown_tagged_fields))
        out.append(BYTE[0] if not m.unknown_tagged_fields else encode_tagged_section((), m.unknown_tagged_fields))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(AddPartitionsToTxnResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "AddPartitionsToTxnRequest": {
        0: decode_add_partitions_to_txn_request_0,
        3: decode_add_partitions_to_txn_request_3,
        4: decode_add_partitions_to_txn_request_4,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "AddPartitionsToTxnResponse": {
        0: encode_add_partitions_to_txn_response_0,
        3: encode_add_partitions_to_txn_response_3,
        4: encode_add_partitions_to_txn_response_4,
    },
}
