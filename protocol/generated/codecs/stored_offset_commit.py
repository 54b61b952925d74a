# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.offset_commit`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import (
    check_count,
    explained,
    int16_at,
    int32_at,
    int64_at,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.offset_commit import OffsetCommitKey, OffsetCommitValue
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
    read_uvarint,
)

pack_16s: Final = Struct(">16s").pack
pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_q: Final = Struct(">q").pack
pack_qB: Final = Struct(">qB").pack
pack_qh: Final = Struct(">qh").pack
pack_ql: Final = Struct(">ql").pack
pack_qlB: Final = Struct(">qlB").pack
pack_qlh: Final = Struct(">qlh").pack
pack_qq: Final = Struct(">qq").pack


def decode_offset_commit_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitKey, int]:
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
        o1_group = text_at(buf, pos, e3)
        pos = e3
        n4 = int16_at(buf, pos)
        pos += 2
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_topic = text_at(buf, pos, e5)
        pos = e5
        o1_partition = int32_at(buf, pos)
        pos += 4
        message = OffsetCommitKey(group=o1_group, topic=o1_topic, partition=o1_partition)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitKey, version, data, offset, most)


def decode_offset_commit_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_offset = int64_at(buf, pos)
        n2 = int16_at(buf, pos + 8)
        pos += 10
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_metadata = text_at(buf, pos, e3)
        pos = e3
        o1_commit_timestamp = int64_at(buf, pos)
        pos += 8
        message = OffsetCommitValue(offset=o1_offset, metadata=o1_metadata, commit_timestamp=o1_commit_timestamp)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, data, offset, most)


def decode_offset_commit_value_1(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_offset = int64_at(buf, pos)
        n2 = int16_at(buf, pos + 8)
        pos += 10
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_metadata = text_at(buf, pos, e3)
        pos = e3
        o1_commit_timestamp = int64_at(buf, pos)
        o1_expire_timestamp = int64_at(buf, pos + 8)
        pos += 16
        message = OffsetCommitValue(
            offset=o1_offset,
            metadata=o1_metadata,
            commit_timestamp=o1_commit_timestamp,
            expire_timestamp=o1_expire_timestamp,
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, data, offset, most)


def decode_offset_commit_value_2(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_offset = int64_at(buf, pos)
        n2 = int16_at(buf, pos + 8)
        pos += 10
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_metadata = text_at(buf, pos, e3)
        pos = e3
        o1_commit_timestamp = int64_at(buf, pos)
        pos += 8
        message = OffsetCommitValue(offset=o1_offset, metadata=o1_metadata, commit_timestamp=o1_commit_timestamp)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, data, offset, most)


def decode_offset_commit_value_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_offset = int64_at(buf, pos)
        o1_leader_epoch = int32_at(buf, pos + 8)
        n2 = int16_at(buf, pos + 12)
        pos += 14
        if n2 < 0:
            raise IndexError
        e3: i64 = pos + n2
        o1_metadata = text_at(buf, pos, e3)
        pos = e3
        o1_commit_timestamp = int64_at(buf, pos)
        pos += 8
        message = OffsetCommitValue(
            offset=o1_offset, leader_epoch=o1_leader_epoch, metadata=o1_metadata, commit_timestamp=o1_commit_timestamp
        )
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, data, offset, most)


def decode_offset_commit_value_4(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[OffsetCommitValue, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        o1_offset = int64_at(buf, pos)
        o1_leader_epoch = int32_at(buf, pos + 8)
        n2: i64 = buf[pos + 12]
        pos += 13
        if n2 > 127:
            n2, pos = long_string(buf, pos - 1)
        if n2 == 0:
            raise IndexError
        e3: i64 = pos + n2 - 1
        o1_metadata = text_at(buf, pos, e3)
        pos = e3
        o1_commit_timestamp = int64_at(buf, pos)
        n4: i64 = buf[pos + 8]
        pos += 9
        message = o1 = OffsetCommitValue(
            offset=o1_offset, leader_epoch=o1_leader_epoch, metadata=o1_metadata, commit_timestamp=o1_commit_timestamp
        )
        if n4:
            if n4 > 127:
                n4, pos = read_uvarint(buf, pos - 1)
                checked_tags(n4)
            left -= n4
            check_count(n4, left)
            u5: list[tuple[int, bytes]] = []
            for _ in range(n4):
                t6, s7, pos = read_tagged_field(buf, pos)
                if t6 == 0:
                    if pos + 16 > end:
                        raise IndexError
                    o1.topic_id = buf[pos : pos + 16]
                    pos += 16
                else:
                    d8, pos = read_raw_field(buf, pos, s7)
                    u5.append((t6, d8))
            o1.unknown_tagged_fields = tuple(u5)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(OffsetCommitValue, version, data, offset, most)


def encode_offset_commit_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitKey = message
        b1 = m.group.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.topic.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_h(n2), b1, pack_h(n4), b3, pack_l(m.partition))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitKey, version, message, error) from None


def encode_offset_commit_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitValue = message
        b1 = m.metadata.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_qh(m.offset, n2), b1, pack_q(m.commit_timestamp))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitValue, version, message, error) from None


def encode_offset_commit_value_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitValue = message
        b1 = m.metadata.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_qh(m.offset, n2), b1, pack_qq(m.commit_timestamp, m.expire_timestamp))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitValue, version, message, error) from None


def encode_offset_commit_value_2(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitValue = message
        b1 = m.metadata.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_qh(m.offset, n2), b1, pack_q(m.commit_timestamp))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitValue, version, message, error) from None


def encode_offset_commit_value_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitValue = message
        b1 = m.metadata.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_qlh(m.offset, m.leader_epoch, n2), b1, pack_q(m.commit_timestamp))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitValue, version, message, error) from None


def encode_offset_commit_value_4(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: OffsetCommitValue = message
        b1 = m.metadata.encode()
        n2: i64 = len(b1) + 1
        if n2 > 32768:
            refuse()
        t3: tuple[tuple[int, bytes], ...] = ()
        if m.topic_id != b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00":
            w4: list[bytes] = []
            u5 = m.topic_id
            w4.append(pack_16s(u5 if len(u5) == 16 else refuse()))
            t3 += ((0, b"".join(w4)),)
        out += (
            pack_qlB(m.offset, m.leader_epoch, n2)
            if n2 < 128
            else pack_ql(m.offset, m.leader_epoch) + encode_uvarint(n2),
            b1,
            pack_qB(m.commit_timestamp, 0)
            if not (t3 or m.unknown_tagged_fields)
            else pack_q(m.commit_timestamp) + encode_tagged_section(t3, m.unknown_tagged_fields),
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(OffsetCommitValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "OffsetCommitKey": {0: decode_offset_commit_key_0},
    "OffsetCommitValue": {
        0: decode_offset_commit_value_0,
        1: decode_offset_commit_value_1,
        2: decode_offset_commit_value_2,
        3: decode_offset_commit_value_3,
        4: decode_offset_commit_value_4,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "OffsetCommitKey": {0: encode_offset_commit_key_0},
    "OffsetCommitValue": {
        0: encode_offset_commit_value_0,
        1: encode_offset_commit_value_1,
        2: encode_offset_commit_value_2,
        3: encode_offset_commit_value_3,
        4: encode_offset_commit_value_4,
    },
}
