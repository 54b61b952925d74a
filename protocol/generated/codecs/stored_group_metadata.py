"""Codecs of `stored.group_metadata`. Generated from the constructs: do not edit."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from odradek.protocol.errors import ENCODING_ERRORS, ProtocolError
from odradek.protocol.file_slice import Part
from odradek.protocol.generated.stored.group_metadata import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from odradek.protocol.message import Buffer
from odradek.protocol.reader import Reader, decoded_again
from odradek.protocol.varint import ANY_NUMBER
from odradek.protocol.writer import Writer, encoded_again, in_one_piece

_pack_l: Final = Struct(">l").pack
_pack_ll: Final = Struct(">ll").pack
_pack_q: Final = Struct(">q").pack


def _read_group_metadata_key_0(r: Reader) -> GroupMetadataKey:
    return GroupMetadataKey(group=r.string())


def decode_group_metadata_key(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataKey, int]:
    reader = Reader(buf, offset, most)
    try:
        message = _read_group_metadata_key_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataKey, version, buf, offset, most)


def _read_member_metadata_0(r: Reader) -> MemberMetadata:
    return MemberMetadata(
        member_id=r.string(),
        client_id=r.string(),
        client_host=r.string(),
        session_timeout=r.int32(),
        subscription=r.byte_string(),
        assignment=r.byte_string(),
    )


def _read_group_metadata_value_0(r: Reader) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=r.string(),
        generation=r.int32(),
        protocol=r.string_or_null(),
        leader=r.string_or_null(),
        members=[_read_member_metadata_0(r) for _ in range(r.count(18))],
    )


def _read_member_metadata_1(r: Reader) -> MemberMetadata:
    return MemberMetadata(
        member_id=r.string(),
        client_id=r.string(),
        client_host=r.string(),
        rebalance_timeout=r.int32(),
        session_timeout=r.int32(),
        subscription=r.byte_string(),
        assignment=r.byte_string(),
    )


def _read_group_metadata_value_1(r: Reader) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=r.string(),
        generation=r.int32(),
        protocol=r.string_or_null(),
        leader=r.string_or_null(),
        members=[_read_member_metadata_1(r) for _ in range(r.count(22))],
    )


def _read_group_metadata_value_2(r: Reader) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=r.string(),
        generation=r.int32(),
        protocol=r.string_or_null(),
        leader=r.string_or_null(),
        current_state_timestamp=r.int64(),
        members=[_read_member_metadata_1(r) for _ in range(r.count(22))],
    )


def _read_member_metadata_3(r: Reader) -> MemberMetadata:
    return MemberMetadata(
        member_id=r.string(),
        group_instance_id=r.string_or_null(),
        client_id=r.string(),
        client_host=r.string(),
        rebalance_timeout=r.int32(),
        session_timeout=r.int32(),
        subscription=r.byte_string(),
        assignment=r.byte_string(),
    )


def _read_group_metadata_value_3(r: Reader) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=r.string(),
        generation=r.int32(),
        protocol=r.string_or_null(),
        leader=r.string_or_null(),
        current_state_timestamp=r.int64(),
        members=[_read_member_metadata_3(r) for _ in range(r.count(24))],
    )


def _read_member_metadata_4(r: Reader) -> MemberMetadata:
    return MemberMetadata(
        member_id=r.compact_string(),
        group_instance_id=r.compact_string_or_null(),
        client_id=r.compact_string(),
        client_host=r.compact_string(),
        rebalance_timeout=r.int32(),
        session_timeout=r.int32(),
        subscription=r.compact_byte_string(),
        assignment=r.compact_byte_string(),
        unknown_tagged_fields=r.unknown_tags(),
    )


def _read_group_metadata_value_4(r: Reader) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=r.compact_string(),
        generation=r.int32(),
        protocol=r.compact_string_or_null(),
        leader=r.compact_string_or_null(),
        current_state_timestamp=r.int64(),
        members=[_read_member_metadata_4(r) for _ in range(r.compact_count(15))],
        unknown_tagged_fields=r.unknown_tags(),
    )


def decode_group_metadata_value(
    version: int, buf: Buffer, offset: int = 0, most: int = ANY_NUMBER
) -> tuple[GroupMetadataValue, int]:
    reader = Reader(buf, offset, most)
    try:
        if version >= 4:
            message = _read_group_metadata_value_4(reader)
        elif version >= 3:
            message = _read_group_metadata_value_3(reader)
        elif version >= 2:
            message = _read_group_metadata_value_2(reader)
        elif version >= 1:
            message = _read_group_metadata_value_1(reader)
        else:
            message = _read_group_metadata_value_0(reader)
        return message, reader.offset
    except (IndexError, ProtocolError):
        pass
    return decoded_again(GroupMetadataValue, version, buf, offset, most)


def _write_group_metadata_key_0(w: Writer, m: GroupMetadataKey) -> None:
    w.string(m.group)
    if m.unknown_tagged_fields:
        w.refuse()


def encode_group_metadata_key_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        _write_group_metadata_key_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(GroupMetadataKey, version, message)


def encode_group_metadata_key(version: int, message: Any) -> bytes:
    return in_one_piece(encode_group_metadata_key_parts(version, message))


def _write_member_metadata_0(w: Writer, m: MemberMetadata) -> None:
    w.string(m.member_id)
    w.string(m.client_id)
    w.string(m.client_host)
    w.fixed(_pack_l(m.session_timeout))
    w.byte_string(m.subscription)
    w.byte_string(m.assignment)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_group_metadata_value_0(w: Writer, m: GroupMetadataValue) -> None:
    w.string(m.protocol_type)
    w.fixed(_pack_l(m.generation))
    w.string_or_null(m.protocol)
    w.string_or_null(m.leader)
    w.count(len(m.members))
    for each in m.members:
        _write_member_metadata_0(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_member_metadata_1(w: Writer, m: MemberMetadata) -> None:
    w.string(m.member_id)
    w.string(m.client_id)
    w.string(m.client_host)
    w.fixed(_pack_ll(m.rebalance_timeout, m.session_timeout))
    w.byte_string(m.subscription)
    w.byte_string(m.assignment)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_group_metadata_value_1(w: Writer, m: GroupMetadataValue) -> None:
    w.string(m.protocol_type)
    w.fixed(_pack_l(m.generation))
    w.string_or_null(m.protocol)
    w.string_or_null(m.leader)
    w.count(len(m.members))
    for each in m.members:
        _write_member_metadata_1(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_group_metadata_value_2(w: Writer, m: GroupMetadataValue) -> None:
    w.string(m.protocol_type)
    w.fixed(_pack_l(m.generation))
    w.string_or_null(m.protocol)
    w.string_or_null(m.leader)
    w.fixed(_pack_q(m.current_state_timestamp))
    w.count(len(m.members))
    for each in m.members:
        _write_member_metadata_1(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_member_metadata_3(w: Writer, m: MemberMetadata) -> None:
    w.string(m.member_id)
    w.string_or_null(m.group_instance_id)
    w.string(m.client_id)
    w.string(m.client_host)
    w.fixed(_pack_ll(m.rebalance_timeout, m.session_timeout))
    w.byte_string(m.subscription)
    w.byte_string(m.assignment)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_group_metadata_value_3(w: Writer, m: GroupMetadataValue) -> None:
    w.string(m.protocol_type)
    w.fixed(_pack_l(m.generation))
    w.string_or_null(m.protocol)
    w.string_or_null(m.leader)
    w.fixed(_pack_q(m.current_state_timestamp))
    w.count(len(m.members))
    for each in m.members:
        _write_member_metadata_3(w, each)
    if m.unknown_tagged_fields:
        w.refuse()


def _write_member_metadata_4(w: Writer, m: MemberMetadata) -> None:
    w.compact_string(m.member_id)
    w.compact_string_or_null(m.group_instance_id)
    w.compact_string(m.client_id)
    w.compact_string(m.client_host)
    w.fixed(_pack_ll(m.rebalance_timeout, m.session_timeout))
    w.compact_byte_string(m.subscription)
    w.compact_byte_string(m.assignment)
    w.tags((), m.unknown_tagged_fields)


def _write_group_metadata_value_4(w: Writer, m: GroupMetadataValue) -> None:
    w.compact_string(m.protocol_type)
    w.fixed(_pack_l(m.generation))
    w.compact_string_or_null(m.protocol)
    w.compact_string_or_null(m.leader)
    w.fixed(_pack_q(m.current_state_timestamp))
    w.compact(len(m.members))
    for each in m.members:
        _write_member_metadata_4(w, each)
    w.tags((), m.unknown_tagged_fields)


def encode_group_metadata_value_parts(version: int, message: Any) -> list[Part]:
    writer = Writer()
    try:
        if version >= 4:
            _write_group_metadata_value_4(writer, message)
        elif version >= 3:
            _write_group_metadata_value_3(writer, message)
        elif version >= 2:
            _write_group_metadata_value_2(writer, message)
        elif version >= 1:
            _write_group_metadata_value_1(writer, message)
        else:
            _write_group_metadata_value_0(writer, message)
        return writer.parts()
    except ENCODING_ERRORS:
        pass
    return encoded_again(GroupMetadataValue, version, message)


def encode_group_metadata_value(version: int, message: Any) -> bytes:
    return in_one_piece(encode_group_metadata_value_parts(version, message))


DECODERS: dict[str, Callable[..., tuple[Any, int]]] = {
    "GroupMetadataKey": decode_group_metadata_key,
    "GroupMetadataValue": decode_group_metadata_value,
}

ENCODERS: dict[str, Callable[..., bytes]] = {
    "GroupMetadataKey": encode_group_metadata_key,
    "GroupMetadataValue": encode_group_metadata_value,
}

PART_ENCODERS: dict[str, Callable[..., list[Part]]] = {
    "GroupMetadataKey": encode_group_metadata_key_parts,
    "GroupMetadataValue": encode_group_metadata_value_parts,
}
