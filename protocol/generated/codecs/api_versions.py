# mypy: disable-error-code="union-attr,arg-type"
"""Codecs of `messages.api_versions`. Generated from the constructs: do not edit.

A value that is null where the version has no null fails by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from struct import error as struct_error
from typing import Any, Final

from odradek.protocol.codec_parts import BYTE, check_count, explained, int32_at, long_string, refuse, text_at
from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.message import Buffer
from odradek.protocol.message_codec import decoded_again
from odradek.protocol.native import i64
from odradek.protocol.varint import ANY_NUMBER, encode_tagged_section, encode_uvarint, read_unknown_fields

pack_h: Final = Struct(">h").pack
pack_hB: Final = Struct(">hB").pack
pack_hh: Final = Struct(">hh").pack
pack_hhB: Final = Struct(">hhB").pack
pack_hhh: Final = Struct(">hhh").pack
pack_hhhB: Final = Struct(">hhhB").pack
pack_hl: Final = Struct(">hl").pack
pack_l: Final = Struct(">l").pack
pack_lB: Final = Struct(">lB").pack
pack_o: Final = Struct(">?").pack
pack_q: Final = Struct(">q").pack


def decode_api_versions_request_0(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ApiVersionsRequest, int]:
    try:
        buf = data if isinstance(data, bytes) else bytes(data)
        pos: i64 = offset
        end: i64 = len(buf)
        left: i64 = most
        message = ApiVersionsRequest()
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ApiVersionsRequest, version, data, offset, most)


def decode_api_versions_request_3(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ApiVersionsRequest, int]:
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
        o1_client_software_name = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_client_software_version = text_at(buf, pos, e5)
        pos = e5
        message = o1 = ApiVersionsRequest(
            client_software_name=o1_client_software_name, client_software_version=o1_client_software_version
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
    return decoded_again(ApiVersionsRequest, version, data, offset, most)


def decode_api_versions_request_5(
    version: int, data: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ApiVersionsRequest, int]:
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
        o1_client_software_name = text_at(buf, pos, e3)
        pos = e3
        n4: i64 = buf[pos]
        pos += 1
        if n4 > 127:
            n4, pos = long_string(buf, pos - 1)
        if n4 == 0:
            raise IndexError
        e5: i64 = pos + n4 - 1
        o1_client_software_version = text_at(buf, pos, e5)
        pos = e5
        n6: i64 = buf[pos]
        pos += 1
        if n6 > 127:
            n6, pos = long_string(buf, pos - 1)
        if n6 == 0:
            o1_cluster_id = None
        else:
            e7: i64 = pos + n6 - 1
            o1_cluster_id = text_at(buf, pos, e7)
            pos = e7
        o1_node_id = int32_at(buf, pos)
        n8: i64 = buf[pos + 4]
        pos += 5
        message = o1 = ApiVersionsRequest(
            client_software_name=o1_client_software_name,
            client_software_version=o1_client_software_version,
            cluster_id=o1_cluster_id,
            node_id=o1_node_id,
        )
        if n8:
            o1.unknown_tagged_fields, pos = read_unknown_fields(buf, pos - 1)
            left -= len(o1.unknown_tagged_fields)
            check_count(len(o1.unknown_tagged_fields), left)
        return message, pos
    except (struct_error, IndexError, ProtocolError):
        pass
    return decoded_again(ApiVersionsRequest, version, data, offset, most)


def encode_api_versions_response_0(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ApiVersionsResponse = message
        l1 = m.api_keys
        n2: i64 = len(l1)
        out.append(pack_hl(m.error_code, n2))
        for v3 in l1:
            if v3.unknown_tagged_fields:
                refuse()
            out.append(pack_hhh(v3.api_key, v3.min_version, v3.max_version))
        if m.unknown_tagged_fields:
            refuse()
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ApiVersionsResponse, version, message, error) from None


def encode_api_versions_response_1(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ApiVersionsResponse = message
        l1 = m.api_keys
        n2: i64 = len(l1)
        out.append(pack_hl(m.error_code, n2))
        for v3 in l1:
            if v3.unknown_tagged_fields:
                refuse()
            out.append(pack_hhh(v3.api_key, v3.min_version, v3.max_version))
        if m.unknown_tagged_fields:
            refuse()
        out.append(pack_l(m.throttle_time_ms))
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ApiVersionsResponse, version, message, error) from None


def encode_api_versions_response_3(version: int, message: Any) -> list[Part]:
    parts: list[Part] = []
    out: list[bytes] = []
    try:
        m: ApiVersionsResponse = message
        l1 = m.api_keys
        n2: i64 = len(l1) + 1
        out.append(pack_hB(m.error_code, n2) if n2 < 128 else pack_h(m.error_code) + encode_uvarint(n2))
        for v3 in l1:
            out.append(
                pack_hhhB(v3.api_key, v3.min_version, v3.max_version, 0)
                if not v3.unknown_tagged_fields
                else pack_hhh(v3.api_key, v3.min_version, v3.max_version)
                + encode_tagged_section((), v3.unknown_tagged_fields)
            )
        t4: tuple[tuple[int, bytes], ...] = ()
        if m.supported_features is None or len(m.supported_features):
            w5: list[bytes] = []
            l6 = m.supported_features
            n7: i64 = len(l6) + 1
            w5.append(BYTE[n7] if n7 < 128 else encode_uvarint(n7))
            for v8 in l6:
                b9 = v8.name.encode()
                n10: i64 = len(b9) + 1
                if n10 > 32768:
                    refuse()
                w5 += (
                    BYTE[n10] if n10 < 128 else encode_uvarint(n10),
                    b9,
                    pack_hhB(v8.min_version, v8.max_version, 0)
                    if not v8.unknown_tagged_fields
                    else pack_hh(v8.min_version, v8.max_version) + encode_tagged_section((), v8.unknown_tagged_fields),
                )
            t4 += ((0, b"".join(w5)),)
        if m.finalized_features_epoch != -1:
            w11: list[bytes] = []
            w11.append(pack_q(m.finalized_features_epoch))
            t4 += ((1, b"".join(w11)),)
        if m.finalized_features is None or len(m.finalized_features):
            w12: list[bytes] = []
            l13 = m.finalized_features
            n14: i64 = len(l13) + 1
            w12.append(BYTE[n14] if n14 < 128 else encode_uvarint(n14))
            for v15 in l13:
                b16 = v15.name.encode()
                n17: i64 = len(b16) + 1
                if n17 > 32768:
                    refuse()
                w12 += (
                    BYTE[n17] if n17 < 128 else encode_uvarint(n17),
                    b16,
                    pack_hhB(v15.max_version_level, v15.min_version_level, 0)
                    if not v15.unknown_tagged_fields
                    else pack_hh(v15.max_version_level, v15.min_version_level)
                    + encode_tagged_section((), v15.unknown_tagged_fields),
                )
            t4 += ((2, b"".join(w12)),)
        if m.zk_migration_ready != False:
            w18: list[bytes] = []
            w18.append(pack_o(m.zk_migration_ready))
            t4 += ((3, b"".join(w18)),)
        out.append(
            pack_lB(m.throttle_time_ms, 0)
            if not (t4 or m.unknown_tagged_fields)
            else pack_l(m.throttle_time_ms) + encode_tagged_section(t4, m.unknown_tagged_fields)
        )
        if out:
            parts.append(b"".join(out))
        return parts
    except ENCODING_ERRORS as error:
        raise explained(ApiVersionsResponse, version, message, error) from None


DECODERS: dict[str, dict[int, Callable[..., tuple[Any, int]]]] = {
    "ApiVersionsRequest": {
        0: decode_api_versions_request_0,
        3: decode_api_versions_request_3,
        5: decode_api_versions_request_5,
    },
}

ENCODERS: dict[str, dict[int, Callable[..., list[Part]]]] = {
    "ApiVersionsResponse": {
        0: encode_api_versions_response_0,
        1: encode_api_versions_response_1,
        3: encode_api_versions_response_3,
    },
}
