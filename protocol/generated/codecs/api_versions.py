"""Codecs of `messages.api_versions`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_o: Final = Struct(">?").pack
_pack_h: Final = Struct(">h").pack
_pack_hh: Final = Struct(">hh").pack
_pack_hhh: Final = Struct(">hhh").pack
_pack_l: Final = Struct(">l").pack
_pack_q: Final = Struct(">q").pack


def _read_api_versions_request_0(r: Reader) -> ApiVersionsRequest:
    return ApiVersionsRequest()


def _read_api_versions_request_3(r: Reader) -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name=r.compact_string(),
        client_software_version=r.compact_string(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_api_versions_request_5(r: Reader) -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name=r.compact_string(),
        client_software_version=r.compact_string(),
        cluster_id=r.compact_string_or_null(),
        node_id=r.int32(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_api_versions_request(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ApiVersionsRequest, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 5:
            message = _read_api_versions_request_5(reader)
        elif version >= 3:
            message = _read_api_versions_request_3(reader)
        else:
            message = _read_api_versions_request_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ApiVersionsRequest, version, buf, offset, most)


def _write_api_version_0(w: Writer, m: ApiVersion) -> None:
    w.fixed(_pack_hhh(m.api_key, m.min_version, m.max_version))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_api_versions_response_0(w: Writer, m: ApiVersionsResponse) -> None:
    w.fixed(_pack_h(m.error_code))
    w.count(len(m.api_keys))
    for each in m.api_keys:
        _write_api_version_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_api_versions_response_1(w: Writer, m: ApiVersionsResponse) -> None:
    w.fixed(_pack_h(m.error_code))
    w.count(len(m.api_keys))
    for each in m.api_keys:
        _write_api_version_0(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    if m.unknown_tagged_fields:
        w.refuse()


def _write_api_version_3(w: Writer, m: ApiVersion) -> None:
    w.fixed(_pack_hhh(m.api_key, m.min_version, m.max_version))
    w.tags((), m.unknown_tagged_fields)


def _write_supported_feature_key_3(w: Writer, m: SupportedFeatureKey) -> None:
    w.compact_string(m.name)
    w.fixed(_pack_hh(m.min_version, m.max_version))
    w.tags((), m.unknown_tagged_fields)


def _supported_features_of_api_versions_response_3(m: ApiVersionsResponse) -> bytes:
    w = Writer()
    w.compact(len(m.supported_features))
    for each in m.supported_features:
        _write_supported_feature_key_3(w, each)
    return w.whole()


def _finalized_features_epoch_of_api_versions_response_3(m: ApiVersionsResponse) -> bytes:
    w = Writer()
    w.fixed(_pack_q(m.finalized_features_epoch))
    return w.whole()


def _write_finalized_feature_key_3(w: Writer, m: FinalizedFeatureKey) -> None:
    w.compact_string(m.name)
    w.fixed(_pack_hh(m.max_version_level, m.min_version_level))
    w.tags((), m.unknown_tagged_fields)


def _finalized_features_of_api_versions_response_3(m: ApiVersionsResponse) -> bytes:
    w = Writer()
    w.compact(len(m.finalized_features))
    for each in m.finalized_features:
        _write_finalized_feature_key_3(w, each)
    return w.whole()


def _zk_migration_ready_of_api_versions_response_3(m: ApiVersionsResponse) -> bytes:
    w = Writer()
    w.fixed(_pack_o(m.zk_migration_ready))
    return w.whole()


def _write_api_versions_response_3(w: Writer, m: ApiVersionsResponse) -> None:
    w.fixed(_pack_h(m.error_code))
    w.compact(len(m.api_keys))
    for each in m.api_keys:
        _write_api_version_3(w, each)
    w.fixed(_pack_l(m.throttle_time_ms))
    known: tuple[tuple[int, bytes], ...] = ()
    if m.supported_features is None or len(m.supported_features) > 0:
        known = (*known, (0, _supported_features_of_api_versions_response_3(m)))
    if m.finalized_features_epoch != -1:
        known = (*known, (1, _finalized_features_epoch_of_api_versions_response_3(m)))
    if m.finalized_features is None or len(m.finalized_features) > 0:
        known = (*known, (2, _finalized_features_of_api_versions_response_3(m)))
    if m.zk_migration_ready != False:
        known = (*known, (3, _zk_migration_ready_of_api_versions_response_3(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_api_versions_response_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 3:
            _write_api_versions_response_3(writer, message)
        elif version >= 1:
            _write_api_versions_response_1(writer, message)
        else:
            _write_api_versions_response_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ApiVersionsResponse, version, message)


def encode_api_versions_response(version: int, message: Any) -> bytes:
    return in_one_piece(encode_api_versions_response_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ApiVersionsRequest": decode_api_versions_request,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ApiVersionsResponse": encode_api_versions_response,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ApiVersionsResponse": encode_api_versions_response_parts,
}
