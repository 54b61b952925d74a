"""Codecs of `stored.consumer_group_member_metadata`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.consumer_group_member_metadata import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack


def _read_consumer_group_member_metadata_key_0(r: Reader) -> ConsumerGroupMemberMetadataKey:
    return ConsumerGroupMemberMetadataKey(group_id=r.string(), member_id=r.string())


def decode_consumer_group_member_metadata_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupMemberMetadataKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_member_metadata_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupMemberMetadataKey, version, buf, offset, most)


def _read_classic_protocol_0(r: Reader) -> ClassicProtocol:
    return ClassicProtocol(
        name=r.compact_string(), metadata=r.compact_byte_string(), unknown_tagged_fields=r.unknown_tags()
    )


def _read_classic_member_metadata_0(r: Reader) -> ClassicMemberMetadata:
    return ClassicMemberMetadata(
        session_timeout_ms=r.int32(),
        supported_protocols=[_read_classic_protocol_0(r) for _ in range(r.compact_count(3))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_nullable_classic_member_metadata_0(r: Reader) -> ClassicMemberMetadata | None:
    return None if r.uvarint() == 0 else _read_classic_member_metadata_0(r)


def _read_consumer_group_member_metadata_value_0(r: Reader) -> ConsumerGroupMemberMetadataValue:
    message = ConsumerGroupMemberMetadataValue(
        instance_id=r.compact_string_or_null(),
        rack_id=r.compact_string_or_null(),
        client_id=r.compact_string(),
        client_host=r.compact_string(),
        subscribed_topic_names=[r.compact_string() for _ in range(r.compact_count(1))],
        subscribed_topic_regex=r.compact_string_or_null(),
        rebalance_timeout_ms=r.int32(),
        server_assignor=r.compact_string_or_null(),
    )
    count = r.tags()
    if count == 0:
        return message
    unknown: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, size = r.uvarint(), r.uvarint()
        if tag == 0:
            message.classic_member_metadata = _read_nullable_classic_member_metadata_0(r)
        else:
            unknown.append((tag, r.raw(size)))
    message.unknown_tagged_fields = tuple(unknown)
    return message


def decode_consumer_group_member_metadata_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[ConsumerGroupMemberMetadataValue, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_consumer_group_member_metadata_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(ConsumerGroupMemberMetadataValue, version, buf, offset, most)


def _write_consumer_group_member_metadata_key_0(w: Writer, m: ConsumerGroupMemberMetadataKey) -> None:
    w.string(m.group_id)
    w.string(m.member_id)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_consumer_group_member_metadata_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_member_metadata_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupMemberMetadataKey, version, message)


def encode_consumer_group_member_metadata_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_member_metadata_key_parts(version, message))


def _write_classic_protocol_0(w: Writer, m: ClassicProtocol) -> None:
    w.compact_string(m.name)
    w.compact_byte_string(m.metadata)
    w.tags((), m.unknown_tagged_fields)


def _write_classic_member_metadata_0(w: Writer, m: ClassicMemberMetadata) -> None:
    w.fixed(_pack_l(m.session_timeout_ms))
    w.compact(len(m.supported_protocols))
    for each in m.supported_protocols:
        _write_classic_protocol_0(w, each)
    w.tags((), m.unknown_tagged_fields)


def _classic_member_metadata_of_consumer_group_member_metadata_value_0(m: ConsumerGroupMemberMetadataValue) -> bytes:
    w = Writer()
    if m.classic_member_metadata is None:
        w.fixed(b"\0")
    else:
        w.fixed(b"\1")
        _write_classic_member_metadata_0(w, m.classic_member_metadata)
    return w.whole()


def _write_consumer_group_member_metadata_value_0(w: Writer, m: ConsumerGroupMemberMetadataValue) -> None:
    w.compact_string_or_null(m.instance_id)
    w.compact_string_or_null(m.rack_id)
    w.compact_string(m.client_id)
    w.compact_string(m.client_host)
    w.compact(len(m.subscribed_topic_names))
    for each in m.subscribed_topic_names:
        w.compact_string(each)
    w.compact_string_or_null(m.subscribed_topic_regex)
    w.fixed(_pack_l(m.rebalance_timeout_ms))
    w.compact_string_or_null(m.server_assignor)
    known: tuple[tuple[int, bytes], ...] = ()
    if (
        m.classic_member_metadata is None
        or m.classic_member_metadata.unknown_tagged_fields
        or m.classic_member_metadata.session_timeout_ms != 0
        or m.classic_member_metadata.supported_protocols is None
        or len(m.classic_member_metadata.supported_protocols) > 0
    ):
        known = (*known, (0, _classic_member_metadata_of_consumer_group_member_metadata_value_0(m)))
    w.tags(known, m.unknown_tagged_fields)


def encode_consumer_group_member_metadata_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_consumer_group_member_metadata_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(ConsumerGroupMemberMetadataValue, version, message)


def encode_consumer_group_member_metadata_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_consumer_group_member_metadata_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "ConsumerGroupMemberMetadataKey": decode_consumer_group_member_metadata_key,
    "ConsumerGroupMemberMetadataValue": decode_consumer_group_member_metadata_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "ConsumerGroupMemberMetadataKey": encode_consumer_group_member_metadata_key,
    "ConsumerGroupMemberMetadataValue": encode_consumer_group_member_metadata_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "ConsumerGroupMemberMetadataKey": encode_consumer_group_member_metadata_key_parts,
    "ConsumerGroupMemberMetadataValue": encode_consumer_group_member_metadata_value_parts,
}
