# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `stored.consumer_group_member_metadata`. Generated from the constructs: do not edit.

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
    long_length,
    long_string,
    refuse,
    text_at,
)
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
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

pack_bl: Final = Struct(">bl").pack
pack_blB: Final = Struct(">blB").pack
pack_h: Final = Struct(">h").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack


def decode_consumer_group_member_metadata_key_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupMemberMetadataKey, int]:
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
        o1_group_id = text_at(buf, pos, e3)
        pos = e3
        n4 = int16_at(buf, pos)
        pos += 2
        if n4 < 0:
            raise IndexError
        e5: i64 = pos + n4
        o1_member_id = text_at(buf, pos, e5)
        pos = e5
        message = ConsumerGroupMemberMetadataKey(group_id=o1_group_id, member_id=o1_member_id)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupMemberMetadataKey, version, data, offset, most)


def decode_consumer_group_member_metadata_value_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupMemberMetadataValue, int]:
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
            o1_instance_id = None
        else:
            e3: i64 = pos + n2 - 1
            o1_instance_id = text_at(buf, pos, e3)
            pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            o1_rack_id = None
        else:
            e5: i64 = pos + n4 - 1
            o1_rack_id = text_at(buf, pos, e5)
            pos = e5
        n6: i64 = buf[pos]
        pos += 1
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            raise IndexError
        e7: i64 = pos + n6 - 1
        o1_client_id = text_at(buf, pos, e7)
        pos = e7
        n8: i64 = buf[pos]
        pos += 1
        if n8 > 127:
            n8, pos = long_string(buf, pos - 1)
        if n8 == 0:
            raise IndexError
        e9: i64 = pos + n8 - 1
        o1_client_host = text_at(buf, pos, e9)
        pos = e9
        n10: i64 = buf[pos]
        pos += 1
        if n10 > 127:
            n10, pos = long_length(buf, pos - 1)
        if n10 == 0:
            raise IndexError
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
        o1_rebalance_timeout_ms = int32_at(buf, pos)
        n18: i64 = buf[pos + 4]
        pos += 5
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
        message = o1 = ConsumerGroupMemberMetadataValue(
            instance_id=o1_instance_id,
            rack_id=o1_rack_id,
            client_id=o1_client_id,
            client_host=o1_client_host,
            subscribed_topic_names=o1_subscribed_topic_names,
            subscribed_topic_regex=o1_subscribed_topic_regex,
            rebalance_timeout_ms=o1_rebalance_timeout_ms,
            server_assignor=o1_server_assignor,
        )
        if n20:
            if n20 > 127:
                n20, pos = read_uvarint(buf, pos - 1)
                checked_tags(n20)
            left -= n20
            check_count(n20, left)
            u21: list[tuple[int, bytes]] = []
            for _ in range(n20):
                t22, s23, pos = read_tagged_field(buf, pos)
                if t22 == 0:
                    n25: i64 = buf[pos]
                    pos += 1
                    if n25 > 127:
                        n25, pos = long_length(buf, pos - 1)
                    if n25 == 0:
                        o1.classic_member_metadata = None
                    else:
                        o26_session_timeout_ms = int32_at(buf, pos)
                        n27: i64 = buf[pos + 4]
                        pos += 5
                        if n27 > 127:
                            n27, pos = long_length(buf, pos - 1)
                        if n27 == 0:
                            raise IndexError
                        n27 -= 1
                        if n27 * 3 > end - pos:
                            raise IndexError
                        left -= n27
                        check_count(n27, left)
                        l28: list[Any] = []
                        o26_supported_protocols = l28
                        for _ in range(n27):
                            n32: i64 = buf[pos]
                            pos += 1
                            if n32 > 127:
                                n32, pos = long_string(buf, pos - 1)
                            if n32 == 0:
                                raise IndexError
                            e33: i64 = pos + n32 - 1
                            o31_name = text_at(buf, pos, e33)
                            pos = e33
                            n34: i64 = buf[pos]
                            pos += 1
                            if n34 > 127:
                                n34, pos = long_length(buf, pos - 1)
                            if n34 == 0:
                                raise IndexError
                            e35: i64 = pos + n34 - 1
                            if e35 > end:
                                raise IndexError
                            o31_metadata = bytes(buf[pos:e35])
                            pos = e35
                            v30 = o31 = ClassicProtocol(name=o31_name, metadata=o31_metadata)
                            if buf[pos]:
                                o31.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                                left -= len(o31.unknown_tagged_fields)
                                check_count(len(o31.unknown_tagged_fields), left)
                            else:
                                pos += 1
                            l28.append(v30)
                        o1.classic_member_metadata = o26 = ClassicMemberMetadata(
                            session_timeout_ms=o26_session_timeout_ms, supported_protocols=o26_supported_protocols
                        )
                        if buf[pos]:
                            o26.unknown_tagged_fields, pos = read_unknown_fields(buf, pos)
                            left -= len(o26.unknown_tagged_fields)
                            check_count(len(o26.unknown_tagged_fields), left)
                        else:
                            pos += 1
                else:
                    d24, pos = read_raw_field(buf, pos, s23)
                    u21.append((t22, d24))
            o1.unknown_tagged_fields = tuple(u21)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupMemberMetadataValue, version, data, offset, most)


def encode_consumer_group_member_metadata_key_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupMemberMetadataKey = message
        b1 = m.group_id.encode()
        n2: i64 = len(b1)
        if n2 > 32767:
            refuse()
        b3 = m.member_id.encode()
        n4: i64 = len(b3)
        if n4 > 32767:
            refuse()
        if m.unknown_tagged_fields:
            refuse()
        out += (pack_h(n2), b1, pack_h(n4), b3)
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupMemberMetadataKey, version, message, error) from None


def encode_consumer_group_member_metadata_value_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ConsumerGroupMemberMetadataValue = message
        s3 = m.instance_id
        if s3 is None:
            n2: i64 = 0
            b1 = b""
        else:
            b1 = s3.encode()
            n2 = len(b1) + 1
            if n2 > 32768:
                refuse()
        s6 = m.rack_id
        if s6 is None:
            n5: i64 = 0
            b4 = b""
        else:
            b4 = s6.encode()
            n5 = len(b4) + 1
            if n5 > 32768:
                refuse()
        b7 = m.client_id.encode()
        n8: i64 = len(b7) + 1
        if n8 > 32768:
            refuse()
        b9 = m.client_host.encode()
        n10: i64 = len(b9) + 1
        if n10 > 32768:
            refuse()
        l11 = m.subscribed_topic_names
        n12: i64 = len(l11) + 1
        out += (
            BYTE[n2] if n2 < 128 else encode_uvarint(n2),
            b1,
            BYTE[n5] if n5 < 128 else encode_uvarint(n5),
            b4,
            BYTE[n8] if n8 < 128 else encode_uvarint(n8),
            b7,
            BYTE[n10] if n10 < 128 else encode_uvarint(n10),
            b9,
            BYTE[n12] if n12 < 128 else encode_uvarint(n12),
        )
        for v13 in l11:
            b14 = v13.encode()
            n15: i64 = len(b14) + 1
            if n15 > 32768:
                refuse()
            out += (BYTE[n15] if n15 < 128 else encode_uvarint(n15), b14)
        s18 = m.subscribed_topic_regex
        if s18 is None:
            n17: i64 = 0
            b16 = b""
        else:
            b16 = s18.encode()
            n17 = len(b16) + 1
            if n17 > 32768:
                refuse()
        s21 = m.server_assignor
        if s21 is None:
            n20: i64 = 0
            b19 = b""
        else:
            b19 = s21.encode()
            n20 = len(b19) + 1
            if n20 > 32768:
                refuse()
        t22: tuple[tuple[int, bytes], ...] = ()
        if (
            (s23 := m.classic_member_metadata) is None
            or s23.unknown_tagged_fields
            or s23.session_timeout_ms != 0
            or s23.supported_protocols is None
            or len(s23.supported_protocols)
        ):
            w24: list[bytes] = []
            s25 = m.classic_member_metadata
            if s25 is None:
                w24.append(b"\x00")
            else:
                l26 = s25.supported_protocols
                n27: i64 = len(l26) + 1
                w24.append(
                    pack_blB(1, s25.session_timeout_ms, n27)
                    if n27 < 128
                    else pack_bl(1, s25.session_timeout_ms) + encode_uvarint(n27)
                )
                for v28 in l26:
                    b29 = v28.name.encode()
                    n30: i64 = len(b29) + 1
                    if n30 > 32768:
                        refuse()
                    b31 = v28.metadata
                    n32: i64 = len(b31) + 1
                    w24 += (
                        BYTE[n30] if n30 < 128 else encode_uvarint(n30),
                        b29,
                        BYTE[n32] if n32 < 128 else encode_uvarint(n32),
                        b31,
                        BYTE[0]
                        if not v28.unknown_tagged_fields
                        else encode_tagged_section((), v28.unknown_tagged_fields),
                    )
                w24.append(
                    BYTE[0] if not s25.unknown_tagged_fields else encode_tagged_section((), s25.unknown_tagged_fields)
                )
            t22 += ((0, b"".join(w24)),)
        out += (
            BYTE[n17] if n17 < 128 else encode_uvarint(n17),
            b16,
            pack_lB(m.rebalance_timeout_ms, n20) if n20 < 128 else pack_l(m.rebalance_timeout_ms) + encode_uvarint(n20),
            b19,
            BYTE[0] if not (t22 or m.unknown_tagged_fields) else encode_tagged_section(t22, m.unknown_tagged_fields),
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ConsumerGroupMemberMetadataValue, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ConsumerGroupMemberMetadataKey": {0: decode_consumer_group_member_metadata_key_0},
    "ConsumerGroupMemberMetadataValue": {0: decode_consumer_group_member_metadata_value_0},
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ConsumerGroupMemberMetadataKey": {0: encode_consumer_group_member_metadata_key_0},
    "ConsumerGroupMemberMetadataValue": {0: encode_consumer_group_member_metadata_value_0},
}
